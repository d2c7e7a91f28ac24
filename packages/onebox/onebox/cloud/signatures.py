"""The signatures of requests (AWS Signature Version 4), recomputed with botocore's own signer.

Source: AWS Identity and Access Management user guide, "AWS Signature Version 4 for API requests".
A signature in the query string is not supported: nothing here makes presigned URLs.
"""

from __future__ import annotations

import hmac
import re
from datetime import UTC, datetime, timedelta
from io import BytesIO
from typing import TYPE_CHECKING

from botocore.auth import S3SigV4Auth, SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from moto.core.request import environ_key_for_header
from moto.sts.models import sts_backends

from onebox.app import ACCOUNT
from onebox.cloud.endpoint import secret_access_key

if TYPE_CHECKING:
    from wsgiref.types import WSGIEnvironment

_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<key_id>[^/,]+)/\d{8}/(?P<region>[^/,]+)/(?P<service>[^/,]+)/"
    r"aws4_request, ?SignedHeaders=(?P<headers>[^,]+), ?Signature=(?P<signature>[0-9a-f]{64})"
)
# Amazon S3 API reference, "Error responses": RequestTimeTooSkewed.
_LONGEST_AGE = timedelta(minutes=15)
# A request of BatchWriteItem has at most 16 MB (Amazon DynamoDB API reference), the most of the
# services whose signature needs the body.
_MOST_BODY_BYTES = 16 << 20
_HINT = "`tidemark up` prints the access key of its cloud."


class Forbidden(Exception):
    """A request that is not allowed, with AWS's code of the error and a message for its sender."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


def signer(environ: WSGIEnvironment, key: str) -> str:
    """Return the access key id that signed a request to the cloud of ``key``.

    The request stays readable. S3 and other services that send the digest of their body in a header
    sign that header and not the body.

    Raises
    ------
    Forbidden
        If the request has no such signature in its header, or has another key's or another time's.

    """
    found = _AUTHORIZATION.fullmatch(environ.get("HTTP_AUTHORIZATION", ""))
    if found is None:
        raise Forbidden("MissingAuthenticationToken", f"The request is not signed. {_HINT}")
    if not hmac.compare_digest(found["signature"], _signature(environ, found, key)):
        message = f"The signature is not by {found['key_id']} in this cloud. {_HINT}"
        raise Forbidden("SignatureDoesNotMatch", message)
    _check_time(environ, found["service"])
    return found["key_id"]


def scope(environ: WSGIEnvironment) -> tuple[str, str]:
    """Return the region and the service that a request is signed for; '' twice if it is not."""
    found = _AUTHORIZATION.fullmatch(environ.get("HTTP_AUTHORIZATION", ""))
    return (found["region"], found["service"]) if found else ("", "")


def _check_time(environ: WSGIEnvironment, service: str) -> None:
    """Refuse a request whose signature was made long ago: somebody may have recorded it."""
    text, now = environ.get("HTTP_X_AMZ_DATE", ""), datetime.now(UTC)
    try:
        signed_at = datetime.strptime(text, "%Y%m%dT%H%M%S%z")
    except ValueError:
        raise Forbidden("AccessDenied", f"X-Amz-Date: {text!r} is not a time in UTC.") from None
    if abs(now - signed_at) > _LONGEST_AGE:
        code = "RequestTimeTooSkewed" if service == "s3" else "SignatureDoesNotMatch"
        message = f"Signature expired: {text} is over 15 minutes from {now:%Y%m%dT%H%M%SZ}, now."
        raise Forbidden(code, message)


def _signature(environ: WSGIEnvironment, found: re.Match[str], key: str) -> str:
    credentials = Credentials(found["key_id"], _secret(found["key_id"], key))
    kind = S3SigV4Auth if found["service"] == "s3" else SigV4Auth
    auth = kind(credentials, found["service"], found["region"])
    request = _request(environ, found["headers"].split(";"))
    return str(
        auth.signature(auth.string_to_sign(request, auth.canonical_request(request)), request)
    )


def _secret(key_id: str, key: str) -> str:
    # The CDK CLI assumes roles, and signs with the keys that moto has answered.
    for session in sts_backends[ACCOUNT]["aws"].assumed_roles:
        if session.access_key_id == key_id:
            return str(session.secret_access_key)
    return secret_access_key(key, key_id)


def _request(environ: WSGIEnvironment, signed: list[str]) -> AWSRequest:
    headers = {name: environ.get(environ_key_for_header(name), "") for name in signed}
    request = AWSRequest(
        method=environ["REQUEST_METHOD"],
        url=f"http://{environ['HTTP_HOST']}{environ['REQUEST_URI']}",
        headers=headers,
        data=b"" if "x-amz-content-sha256" in headers else body(environ),
    )
    request.context["timestamp"] = headers.get("x-amz-date", "")
    return request


def body(environ: WSGIEnvironment) -> bytes:
    """Return the body of a request, and put it back.

    Raises
    ------
    Forbidden
        If it is longer than any that is expected: its sender may be a stranger.

    """
    length = environ.get("CONTENT_LENGTH") or "0"
    if not length.isdecimal() or int(length) > _MOST_BODY_BYTES:
        message = f"Content-Length is {length}; accepted: at most {_MOST_BODY_BYTES} bytes."
        raise Forbidden("RequestEntityTooLargeException", message)
    received: bytes = environ["wsgi.input"].read(int(length))
    environ["wsgi.input"] = BytesIO(received)
    return received
