output "bucket" {
  description = "For SPEECHMANIP_S3_BUCKET; SPEECHMANIP_S3_ENDPOINT is aws."
  value       = aws_s3_bucket.store.bucket
}

output "policies" {
  description = "The policy of each role, to attach where no EKS cluster is named."
  value       = { for name, policy in aws_iam_policy.role : name => policy.arn }
}
