"""The adapters of the core's ports over botocore."""

from botocore.exceptions import BotoCoreError, ClientError

CLIENT_ERRORS = (BotoCoreError, ClientError)
"""The errors of a client if a service refuses a request or does not answer."""
