"""Properties of instances, in objects of Amazon S3."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client

_MOST_BYTES = 1 << 20
# Amazon S3 API reference, GetObject: AccessDenied stands for a missing object, too, if the caller
# may not list the bucket.
_NOT_THERE = {"AccessDenied", "NoSuchBucket", "NoSuchKey"}


class S3Properties:
    """Objects with properties, in any bucket that the caller may read."""

    def __init__(self, client: S3Client) -> None:
        self._client = client

    def read(self, bucket: str, key: str) -> str | None:
        """Return the first MiB of an object as Latin-1, None if there is none to read."""
        try:
            answer = self._client.get_object(Bucket=bucket, Key=key)
        except self._client.exceptions.ClientError as error:
            if error.response["Error"]["Code"] in _NOT_THERE:
                return None
            raise
        return answer["Body"].read(_MOST_BYTES).decode("latin-1")
