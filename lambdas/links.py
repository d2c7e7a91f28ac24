"""Where an object of the results bucket is found, by programs and by people."""

from __future__ import annotations

import os
from urllib.parse import quote

from suites.model import Frozen


class Link(Frozen):
    """One object in two words."""

    place: str
    """As programs name it: ``s3://<bucket>/<key>``."""
    address: str | None
    """What a browser opens: the object in the S3 console, to whoever has signed in. None where
    there is no console."""


def link(bucket: str, key: str) -> Link:
    """Return where an object is found."""
    region = os.environ["AWS_REGION"]
    console = f"https://{region}.console.aws.amazon.com/s3/object/{bucket}"
    address = f"{console}?region={region}&prefix={quote(key, safe='')}"
    # AWS SDKs and Tools Reference, "Service-specific endpoints": who is set to another place than
    # AWS's own is in none of its regions.
    elsewhere = "AWS_ENDPOINT_URL" in os.environ
    return Link(place=f"s3://{bucket}/{key}", address=None if elsewhere else address)
