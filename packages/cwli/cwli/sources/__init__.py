"""Queries in sources of infrastructure: CloudFormation, the CDK and Terraform."""
