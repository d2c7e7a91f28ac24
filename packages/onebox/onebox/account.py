"""The account and the region of the one-machine cloud."""

REGION = "us-east-1"
ACCOUNT = "123456789012"  # moto's account
