"""The adapters of a client outside the cloud, and the failures of its account."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    NoCredentialsError,
    NoRegionError,
)


class AccountFailed(RuntimeError):
    """An account that cannot be used; the message names the option and gives the reason."""


@contextmanager
def in_one_sentence(option: str) -> Iterator[None]:
    """Raise AccountFailed for a failure of the account, which an option of a command names."""
    try:
        yield
    except NoRegionError:
        raise AccountFailed(
            f"{option}: no region is set; AWS_REGION or the profile's configuration may name one"
        ) from None
    except NoCredentialsError:
        raise AccountFailed(
            f"{option}: there are no AWS credentials; `aws configure` or `aws sso login` makes some"
        ) from None
    except ClientError as error:
        answer = error.response["Error"]
        raise AccountFailed(
            f"{option}: {error.operation_name} was refused: {answer['Code']}: {answer['Message']}"
        ) from None
    # These include a missing profile, an expired session and a service that does not answer.
    except BotoCoreError as error:
        raise AccountFailed(f"{option}: {error}") from None
