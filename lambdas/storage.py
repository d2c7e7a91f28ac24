"""The results bucket of a function; most functions need no other service."""

from __future__ import annotations

from functools import cache

from aws.bucket import S3Bucket
from lambdas.clients import client
from lambdas.environment import Environment
from tidemark.store.bucket import CopyingBucket


@cache
def bucket() -> CopyingBucket:
    """Return the results bucket."""
    return S3Bucket(client("s3"), Environment().bucket)
