"""The Powertools logger that every handler shares, and the namespace of our metrics."""

from aws_lambda_powertools import Logger

NAMESPACE = "Tidemark"
logger = Logger(service="tidemark")
