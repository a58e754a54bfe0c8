# What each role does with the store, as patterns of keys (internal/evaluation/keys.go).
# A test runs an evaluation and compares: infra/check.
locals {
  access = {
    # The operator's tool: makes evaluations, reads everything, writes no results.
    starter = {
      read   = ["*"]
      write  = ["datasets/*", "models/*", "chunks/*", "evaluations/*/manifest.json", "clips/source-*", "sensitivity/*", "diagnosis/*", "schedules/*/schedule.json"]
      delete = ["diagnosis/*", "schedules/*/schedule.json"]
    }
    # The job that makes what is missing, once.
    setup = {
      read   = ["deployment/*"]
      write  = ["deployment/*"]
      delete = ["deployment/*"]
    }
    # For whoever runs "starter gc": reads everything, deletes what may be garbage, and
    # nothing of an evaluation's own (internal/archive/gc.go).
    gc = {
      read   = ["*"]
      write  = []
      delete = ["turns/*", "clips/*", "transcripts/*", "quality/*", "prepared/*", "passes/*", "chunks/*", "datasets/*", "models/*", "diagnosis/*", "claims/*"]
    }
    # Plans, and gathers everything about a dialogue into its record and the report.
    workflows = {
      read   = ["evaluations/*", "datasets/*", "chunks/*", "clips/*", "transcripts/*", "quality/*", "passes/*", "diagnosis/*", "schedules/*"]
      write  = ["evaluations/*", "diagnosis/*", "chunks/*", "schedules/*/firings/*", "schedules/*/looks/*"]
      delete = ["diagnosis/*"]
    }
    speech = {
      read   = ["evaluations/*", "datasets/*", "turns/*", "claims/turns/*", "diagnosis/*"]
      write  = ["turns/*", "claims/turns/*", "diagnosis/*"]
      delete = ["claims/turns/*", "diagnosis/*"]
    }
    audio = {
      read   = ["evaluations/*", "datasets/*", "turns/*", "clips/*", "transcripts/*", "quality/*", "claims/transcripts/*", "diagnosis/*"]
      write  = ["clips/*", "transcripts/*", "quality/*", "claims/transcripts/*", "diagnosis/*"]
      delete = ["claims/transcripts/*", "diagnosis/*"]
    }
    detect = {
      read = ["evaluations/*", "datasets/*", "models/*", "clips/*", "transcripts/*", "prepared/*", "passes/*", "sensitivity/*",
      "claims/prepared/*", "claims/passes/*", "diagnosis/*"]
      write  = ["evaluations/*/server.json", "evaluations/*/seen.json", "prepared/*", "passes/*", "claims/prepared/*", "claims/passes/*", "diagnosis/*"]
      delete = ["claims/prepared/*", "claims/passes/*", "diagnosis/*"]
    }
  }
}

data "aws_iam_policy_document" "role" {
  for_each = local.access

  # Without this the store answers a look for what isn't there with 403, not 404, and
  # looking for what isn't there is how each result is made once. No condition on the
  # prefix: such a look has none.
  statement {
    sid       = "Look"
    actions   = ["s3:ListBucket"]
    resources = [aws_s3_bucket.store.arn]
  }

  dynamic "statement" {
    for_each = { for action, patterns in { Get = each.value.read, Put = each.value.write, Delete = each.value.delete } : action => patterns if length(patterns) > 0 }

    content {
      sid       = statement.key
      actions   = ["s3:${statement.key}Object"]
      resources = [for pattern in statement.value : "${aws_s3_bucket.store.arn}/${pattern}"]
    }
  }

  # Sees that the bucket's rules are there (bucket.tf), and leaves them alone.
  dynamic "statement" {
    for_each = each.key == "setup" ? [1] : []

    content {
      sid       = "Rules"
      actions   = ["s3:GetLifecycleConfiguration"]
      resources = [aws_s3_bucket.store.arn]
    }
  }

  # Uploads that other tools broke off, under whatever key.
  dynamic "statement" {
    for_each = each.key == "gc" ? [1] : []

    content {
      sid       = "Uploads"
      actions   = ["s3:ListBucketMultipartUploads", "s3:AbortMultipartUpload"]
      resources = [aws_s3_bucket.store.arn, "${aws_s3_bucket.store.arn}/*"]
    }
  }

  dynamic "statement" {
    for_each = var.kms_key_arn == null ? [] : [var.kms_key_arn]

    content {
      sid       = "Key"
      actions   = ["kms:Decrypt", "kms:GenerateDataKey"]
      resources = [statement.value]
    }
  }
}
