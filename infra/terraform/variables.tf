variable "bucket" {
  description = "The bucket's name; SPEECHMANIP_S3_BUCKET of starter and workers."
  type        = string
}

variable "kms_key_arn" {
  description = "A KMS key for the objects. Null: keys of S3's own (SSE-S3)."
  type        = string
  default     = null
}

variable "eks_cluster" {
  description = "The EKS cluster whose service accounts get the roles, by EKS Pod Identity. Null: policies only, attach them yourself."
  type        = string
  default     = null
}

variable "namespace" {
  description = "The workers' namespace in that cluster."
  type        = string
  default     = "speechmanip"
}

variable "tags" {
  description = "Tags of everything made here."
  type        = map(string)
  default     = {}
}
