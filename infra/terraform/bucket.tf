# Everything that evaluations make and need. Turn audio was paid for: the bucket can't
# be destroyed by mistake.
resource "aws_s3_bucket" "store" {
  bucket = var.bucket
  tags   = var.tags

  lifecycle {
    prevent_destroy = true
  }
}

# No versions: objects lie under the hash of all that made them and are never changed,
# and the few that are (claims, reports, shards) can be made again. Versions would keep
# every claim's generations, two small objects a call, for nothing.
resource "aws_s3_bucket_versioning" "store" {
  bucket = aws_s3_bucket.store.id

  versioning_configuration {
    status = "Disabled"
  }
}

resource "aws_s3_bucket_server_side_encryption_configuration" "store" {
  bucket = aws_s3_bucket.store.id

  rule {
    bucket_key_enabled = var.kms_key_arn != null # one call to KMS for many objects

    apply_server_side_encryption_by_default {
      sse_algorithm     = var.kms_key_arn == null ? "AES256" : "aws:kms"
      kms_master_key_id = var.kms_key_arn
    }
  }
}

resource "aws_s3_bucket_public_access_block" "store" {
  bucket                  = aws_s3_bucket.store.id
  block_public_acls       = true
  block_public_policy     = true
  ignore_public_acls      = true
  restrict_public_buckets = true
}

resource "aws_s3_bucket_ownership_controls" "store" {
  bucket = aws_s3_bucket.store.id

  rule {
    object_ownership = "BucketOwnerEnforced"
  }
}

# The ids and ages are those of `starter setup`, which then leaves them alone.
resource "aws_s3_bucket_lifecycle_configuration" "store" {
  bucket = aws_s3_bucket.store.id

  # What other tools began to upload in parts and broke off; SpeechManip itself uploads
  # in one request.
  rule {
    id     = "speechmanip-abort-uploads"
    status = "Enabled"

    filter {
      prefix = ""
    }

    abort_incomplete_multipart_upload {
      days_after_initiation = 1
    }
  }

  # One small object a paid call stays behind; far above the longest claim.
  rule {
    id     = "speechmanip-expire-claims"
    status = "Enabled"

    filter {
      prefix = "claims/"
    }

    expiration {
      days = 7
    }
  }
}

data "aws_iam_policy_document" "tls" {
  statement {
    sid       = "TLSOnly"
    effect    = "Deny"
    actions   = ["s3:*"]
    resources = [aws_s3_bucket.store.arn, "${aws_s3_bucket.store.arn}/*"]

    principals {
      type        = "*"
      identifiers = ["*"]
    }

    condition {
      test     = "Bool"
      variable = "aws:SecureTransport"
      values   = ["false"]
    }
  }
}

resource "aws_s3_bucket_policy" "store" {
  bucket     = aws_s3_bucket.store.id
  policy     = data.aws_iam_policy_document.tls.json
  depends_on = [aws_s3_bucket_public_access_block.store]
}
