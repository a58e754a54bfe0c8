terraform {
  required_version = ">= 1.6" # OpenTofu or Terraform

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = "~> 5.80"
    }
  }
}
