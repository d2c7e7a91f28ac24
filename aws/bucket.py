"""The results bucket in Amazon S3."""

from __future__ import annotations

import base64
import mimetypes
import re
import time
from collections.abc import Callable, Iterator, Sequence
from itertools import islice
from typing import TYPE_CHECKING, TypedDict

from tidemark.model.sentences import shown
from tidemark.store.bucket import Damaged, NotDeleted, Tagged

if TYPE_CHECKING:
    from mypy_boto3_s3 import S3Client
    from mypy_boto3_s3.type_defs import PaginatorConfigTypeDef

# Amazon S3 user guide, "How to prevent object overwrites with conditional writes" and "How to
# perform conditional deletes": S3 answers 409 to one of several concurrent requests, to repeat it.
_CONFLICT_ATTEMPTS = 5
# Amazon S3 API reference, ListObjectsV2 and DeleteObjects: the most keys of one request.
_MOST_LISTED = 1_000
_MOST_DELETED = 1_000
# Tasks choose the number of their objects, and a function ends after 240 s.
_LONGEST_DELETION_SECONDS = 60
# XML 1.0, 2.2 "Characters": DeleteObjects cannot name a key that has any other.
_NOT_OF_XML = re.compile(r"[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
# The one-machine cloud answers so for an object whose file is not what was stored; S3 never does.
_DAMAGED = "DamagedObject"


class _Condition(TypedDict, total=False):
    IfMatch: str
    IfNoneMatch: str


class _Start(TypedDict, total=False):
    StartAfter: str


class S3Bucket:
    """The results bucket.

    ``reported`` is called with a sentence about each damaged object that is read; ``clock`` returns
    seconds.
    """

    def __init__(
        self,
        client: S3Client,
        name: str,
        reported: Callable[[str], None] = lambda _: None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._client, self._name, self._reported, self._clock = client, name, reported, clock

    def read(self, key: str) -> bytes:
        """Return the object's body; NoSuchKey if there is none."""
        return self._get(key).body

    def find(self, key: str) -> Tagged | None:
        """Return the object with its entity tag, None if there is none."""
        # S3 answers AccessDenied, not NoSuchKey, for a missing object to a caller that may not list
        # its key.
        if key not in self.keys(key):
            return None
        try:
            return self._get(key)
        except self._client.exceptions.NoSuchKey:
            return None

    def _get(self, key: str) -> Tagged:
        try:
            answer = self._client.get_object(Bucket=self._name, Key=key)
        except self._client.exceptions.ClientError as error:
            if error.response["Error"]["Code"] != _DAMAGED:
                raise
            sentence = error.response["Error"]["Message"]
            self._reported(sentence)
            raise Damaged(sentence) from None
        return Tagged(answer["Body"].read(), answer["ETag"])

    def write(self, key: str, body: bytes) -> None:
        """Store an object; replace any object with this key."""
        # A browser shows an object of a known type and saves any other.
        kind = mimetypes.guess_type(key)[0] or "binary/octet-stream"
        self._client.put_object(Bucket=self._name, Key=key, Body=body, ContentType=kind)

    def write_once(self, key: str, body: bytes) -> bool:
        """Store an object unless the key has one; tell whether it was stored."""
        return self.write_over(key, body, None)

    def write_over(self, key: str, body: bytes, etag: str | None) -> bool:
        """Store an object if the key still has this entity tag; tell whether it was stored.

        The tag None means that the key has no object.
        """
        condition: _Condition = {"IfMatch": etag} if etag else {"IfNoneMatch": "*"}
        return self._if_unchanged(
            lambda: self._client.put_object(Bucket=self._name, Key=key, Body=body, **condition)
        )

    def keys(self, prefix: str, at_once: int = _MOST_LISTED, after: str = "") -> Iterator[str]:
        """Yield the keys that begin with ``prefix`` and follow ``after``, in order.

        Each request lists at most ``at_once`` keys.
        """
        pages = self._client.get_paginator("list_objects_v2")
        size: PaginatorConfigTypeDef = {"PageSize": at_once}
        start: _Start = {"StartAfter": after} if after else {}
        for page in pages.paginate(
            Bucket=self._name, Prefix=prefix, PaginationConfig=size, **start
        ):
            for entry in page.get("Contents", []):
                yield entry["Key"]

    def sizes(self, prefix: str) -> Iterator[tuple[str, int]]:
        """Yield the key and the size [B] of each object below ``prefix``, in the order of keys."""
        pages = self._client.get_paginator("list_objects_v2")
        for page in pages.paginate(Bucket=self._name, Prefix=prefix):
            for entry in page.get("Contents", []):
                yield entry["Key"], entry["Size"]

    def copy(self, source: str, key: str) -> str:
        """Store a copy of an object's body; return its SHA-256 in hexadecimal.

        S3 computes the digest. The source's own type and metadata are not copied.
        """
        answer = self._client.copy_object(
            Bucket=self._name,
            Key=key,
            CopySource={"Bucket": self._name, "Key": source},
            ChecksumAlgorithm="SHA256",
            MetadataDirective="REPLACE",
            ContentType="binary/octet-stream",
        )
        return base64.b64decode(answer["CopyObjectResult"]["ChecksumSHA256"]).hex()

    def folders(self, prefix: str) -> Iterator[str]:
        """Yield the names of the folders directly in the folder ``prefix``."""
        pages = self._client.get_paginator("list_objects_v2")
        for page in pages.paginate(Bucket=self._name, Prefix=prefix, Delimiter="/"):
            for folder in page.get("CommonPrefixes", []):
                yield folder["Prefix"][len(prefix) : -1]

    def discard(self, key: str) -> None:
        """Delete an object, if there is one."""
        self._client.delete_object(Bucket=self._name, Key=key)

    def delete(self, prefix: str) -> None:
        """Delete every object whose key begins with ``prefix``.

        Raises
        ------
        NotDeleted
            If S3 did not delete all of them, or not within a minute; the message names the first
            and the reason.

        """
        end, keys = self._clock() + _LONGEST_DELETION_SECONDS, self.keys(prefix)
        kept: list[str] = []
        while batch := list(islice(keys, _MOST_DELETED)):
            if self._clock() > end:
                kept.append(f"{shown(batch[0])}: {_LONGEST_DELETION_SECONDS} s are over")
                break
            nameless = [key for key in batch if _NOT_OF_XML.search(key)]
            kept += self._kept_together([key for key in batch if key not in {*nameless}])
            kept += self._kept_alone(nameless)
        if kept:
            number = f"{len(kept)} at least; the first is {kept[0]}"
            raise NotDeleted(f"objects of {prefix} were not deleted, {number}")

    def _kept_together(self, keys: Sequence[str]) -> Iterator[str]:
        """Delete objects with one request; yield each that is kept, with the reason."""
        if not keys:
            return
        answer = self._client.delete_objects(
            Bucket=self._name, Delete={"Objects": [{"Key": key} for key in keys], "Quiet": True}
        )
        # The request succeeds even if S3 deletes none of its objects.
        for error in answer.get("Errors", []):
            yield f"{shown(error.get('Key'))}: {error.get('Code')}: {error.get('Message')}"

    def _kept_alone(self, keys: Sequence[str]) -> Iterator[str]:
        """Delete objects one by one, by their URL; yield each that is kept, with the reason."""
        for key in keys:
            try:
                self.discard(key)
            except self._client.exceptions.ClientError as error:
                yield f"{shown(key)}: {error}"

    def delete_if(self, key: str, etag: str) -> bool:
        """Delete an object if it still has this entity tag; tell whether it was deleted."""
        return self._if_unchanged(
            lambda: self._client.delete_object(Bucket=self._name, Key=key, IfMatch=etag)
        )

    def _if_unchanged(self, request: Callable[[], object]) -> bool:
        """Send a conditional request; tell whether its condition held."""
        for attempt in range(1, _CONFLICT_ATTEMPTS + 1):
            try:
                request()
            except self._client.exceptions.ClientError as error:
                code = error.response["Error"]["Code"]
                # S3 answers NoSuchKey if the object to replace or to delete is gone.
                if code in {"PreconditionFailed", "NoSuchKey"}:
                    return False
                if code != "ConditionalRequestConflict" or attempt == _CONFLICT_ATTEMPTS:
                    raise
            else:
                break
        return True
