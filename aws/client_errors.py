"""The errors that a client raises if an AWS service refuses a request or does not answer."""

from __future__ import annotations

from botocore.exceptions import BotoCoreError, ClientError

CLIENT_ERRORS = (BotoCoreError, ClientError)
