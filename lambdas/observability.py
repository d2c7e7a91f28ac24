"""The Powertools logger that every handler shares."""

from aws_lambda_powertools import Logger

logger = Logger(service="tidemark")
