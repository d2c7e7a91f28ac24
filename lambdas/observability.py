"""The Powertools logger that every handler shares."""

from aws_lambda_powertools import Logger

from tidemark.model.telemetry import LOGGER

logger = Logger(service=LOGGER)
