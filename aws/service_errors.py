"""The errors that boto3 raises if an AWS service refuses a request or does not answer."""

from __future__ import annotations

from botocore.exceptions import BotoCoreError, ClientError

SERVICE_ERRORS = (BotoCoreError, ClientError)
