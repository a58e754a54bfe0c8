resource "aws_iam_policy" "role" {
  for_each = local.access

  name        = "${var.bucket}-${each.key}"
  description = "What SpeechManip's ${each.key} does with the bucket ${var.bucket}."
  policy      = data.aws_iam_policy_document.role[each.key].json
  tags        = var.tags
}

# Roles for the service accounts of infra/k8s/base/accounts.yaml. Operators run starter
# under identities of their own and get its policy, and gc's, by hand.
locals {
  accounts = var.eks_cluster == null ? toset([]) : setsubtract(keys(local.access), ["starter", "gc"])
}

data "aws_iam_policy_document" "pods" {
  statement {
    actions = ["sts:AssumeRole", "sts:TagSession"]

    principals {
      type        = "Service"
      identifiers = ["pods.eks.amazonaws.com"]
    }
  }
}

resource "aws_iam_role" "account" {
  for_each = local.accounts

  name               = "${var.bucket}-${each.key}"
  assume_role_policy = data.aws_iam_policy_document.pods.json
  tags               = var.tags
}

resource "aws_iam_role_policy_attachment" "account" {
  for_each = local.accounts

  role       = aws_iam_role.account[each.key].name
  policy_arn = aws_iam_policy.role[each.key].arn
}

resource "aws_eks_pod_identity_association" "account" {
  for_each = local.accounts

  cluster_name    = var.eks_cluster
  namespace       = var.namespace
  service_account = each.key
  role_arn        = aws_iam_role.account[each.key].arn
}
