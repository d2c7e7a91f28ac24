"""S3's objects in files: a plug-in for moto's S3, which by itself keeps objects in memory.

A body goes from the connection into its own file; no body stays in memory after its request. A
bucket that is created again under the same name has its old objects.

It refuses requests for what files cannot keep: versions, object locks, access control lists,
notifications.
"""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from copy import copy
from datetime import datetime
from pathlib import Path
from typing import Any, ClassVar

from moto.core.request import Request
from moto.s3 import models
from moto.s3.exceptions import NoSuchUpload, S3ClientError
from moto.s3.models import FakeBucket, FakeKey, FakeMultipart, MultipartDict, S3Backend
from moto.s3.responses import S3Response
from moto.s3.utils import _VersionedKeyStore

from onebox.cloud.replacements import Replacements
from onebox.store.index import DamagedObject
from onebox.store.object_files import Body, ObjectFiles

_CHUNK_BYTES = 1 << 20
_MOST_KEY_BYTES = 1024  # Amazon S3 user guide, "Naming Amazon S3 objects"
_moto_listing = S3Backend.list_objects
_moto_page = S3Backend.list_objects_v2

# The attributes of moto's key that the index keeps; the others are derived, or refused below.
_KEPT = (
    "_etag",
    "_storage_class",
    "bucket_key_enabled",
    "checksum_algorithm",
    "checksum_parts",
    "checksum_type",
    "checksum_value",
    "encryption",
    "kms_key_id",
    "website_redirect_location",
)
_REFUSED_QUERIES = {"acl", "legal-hold", "partNumber", "restore", "retention", "versionId"}
_REFUSED_HEADERS = ("x-amz-acl", "x-amz-grant-", "x-amz-object-lock-")


class FileKey(FakeKey):
    """An object, or a part of an upload, with its body in a file."""

    files: ClassVar[ObjectFiles]

    def __init__(self, *arguments: Any, **named: Any) -> None:  # noqa: ANN401
        super().__init__(*arguments, **named)
        self._value_buffer.close()
        # The body contains the parts already; moto would keep them as well.
        self.multipart = None
        # Both attributes would break the copies of keys that moto makes to list versions.
        del self._value_buffer, self.lock

    @property
    def value(self) -> bytes:
        """The whole body."""
        name = f"s3://{self.bucket_name}/{self.name}" if self.bucket_name else "a part of an upload"
        try:
            return self._body.read(name)
        except DamagedObject as error:
            raise S3ClientError("DamagedObject", str(error)) from None

    @value.setter
    def value(self, new: Body | bytes | str) -> None:
        if isinstance(new, str):
            new = new.encode()
        self._body = new if isinstance(new, Body) else self.files.write([new])
        self._body.owned = True
        self.contentsize = self._body.size

    @property
    def etag(self) -> str:
        """The entity tag, in quotes."""
        return f'"{self._etag or self._body.md5}"'

    def dispose(self, garbage: bool = False) -> None:
        """Remove the file of a part; the index owns the file of an object."""
        if self.bucket_name is None:
            self._body.path.unlink(missing_ok=True)

    def __del__(self) -> None:
        pass

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__.copy()

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def save(self) -> None:
        """Store the object as it is now."""
        assert self.bucket_name is not None, "a part is not an object"
        attributes = {name: getattr(self, name) for name in _KEPT}
        attributes["last_modified"] = self.last_modified.isoformat()
        attributes["metadata"] = dict(self.metadata)
        attributes["tags"] = tags = _tagger(self).get_tag_dict_for_resource(self.arn)
        if not tags:
            self.forget_tags()
        self.files.save(self.bucket_name, self.name, self._body, attributes)

    def forget_tags(self) -> None:
        """Remove the tags, and the entry of an object without tags that moto would keep."""
        _tagger(self).delete_all_tags_for_resource(self.arn)

    def restore_from(self, attributes: dict[str, Any]) -> None:
        """Restore the saved attributes."""
        self.last_modified = datetime.fromisoformat(attributes.pop("last_modified"))
        if tags := attributes.pop("tags"):
            tagger = _tagger(self)
            tagger.tag_resource(self.arn, tagger.convert_dict_to_tags_input(tags))
        self.set_metadata(attributes.pop("metadata"))
        for name, value in attributes.items():
            setattr(self, name, value)


def _tagger(key: FileKey) -> Any:  # noqa: ANN401 (moto does not type it)
    return models.s3_backends[key.account_id][key.partition].tagger


class FileKeys(_VersionedKeyStore):
    """The objects of a bucket by key; every change is stored at once."""

    def __init__(self, bucket: str) -> None:
        super().__init__()
        self._bucket = bucket

    def setlist(self, key: str, list_: list[FileKey]) -> None:
        """Add or replace an object."""
        super().setlist(key, list_)
        list_[-1].save()

    def pop(self, key: str) -> None:  # type: ignore[override]
        """Remove an object."""
        self[key].forget_tags()
        super().pop(key)
        FileKey.files.remove(self._bucket, key)

    def restore(self, key: FileKey) -> None:
        """Add an object that is stored already."""
        dict.__setitem__(self, key.name, [key])


class Uploads(MultipartDict):
    """The unfinished uploads of a bucket, by their id."""

    def __missing__(self, upload_id: str) -> FakeMultipart:
        raise NoSuchUpload(upload_id=upload_id)


class FileBucket(FakeBucket):
    """A bucket with the objects that it had in earlier processes."""

    def __init__(self, name: str, account_id: str, region_name: str, **named: Any) -> None:  # noqa: ANN401
        super().__init__(name, account_id, region_name, **named)
        self.multiparts = Uploads()
        self.restore()

    def restore(self) -> None:
        """Have the objects that are stored, and no others."""
        self.keys = FileKeys(self.name)
        for key, body, attributes in FileKey.files.objects(self.name):
            restored = FileKey(
                key,
                body,
                account_id=self.account_id,
                region_name=self.region_name,
                bucket_name=self.name,
                version_id="null",
            )
            restored.restore_from(attributes)
            self.keys.restore(restored)
        if self.keys:
            # Keys live long, and a garbage collection over all of them takes as long as a query.
            gc.freeze()

    @property
    def versioning_status(self) -> str | None:
        """None, since versions are not kept."""
        return None

    @versioning_status.setter
    def versioning_status(self, status: str | None) -> None:
        if status is not None:
            raise _not_kept(f"Versioning is {status!r}; accepted: a bucket without versions.")

    def set_notification_configuration(self, notification_config: dict[str, Any] | None) -> None:
        """Refuse notifications: the request and its receivers would wait for each other."""
        if notification_config:
            raise _not_kept("Notifications are not sent; accepted: a bucket without them.")


class FileS3Response(S3Response):
    """moto's S3; it handles one request at a time, but transfers bodies in parallel."""

    def setup_class(  # type: ignore[override]
        self,
        request: Request,
        full_url: str | None = None,
        headers: Any = None,  # noqa: ANN401
    ) -> None:
        """Pass on the body that was received into a file, if there is one."""
        super().setup_class(request, full_url, headers)
        if self._received_body is not None:
            self.body = self._received_body

    def key_response(self, request: Request, full_url: str, headers: Any) -> Any:  # noqa: ANN401
        """Answer a request for an object."""
        self._received_body, self._failure = None, None
        try:
            self._received_body = _receive(request)
        except OSError as error:
            self._failure = error
        try:
            return super().key_response(request, full_url, headers)
        finally:
            if self._received_body is not None and not self._received_body.owned:
                self._received_body.path.unlink(missing_ok=True)

    def bucket_response(self, request: Request, full_url: str, headers: Any) -> Any:  # noqa: ANN401
        """Answer a request for a bucket."""
        self._received_body = None
        request.get_data()
        return super().bucket_response(request, full_url, headers)

    def _bucket_response(self, request: Request, full_url: str) -> Any:  # noqa: ANN401
        with self._stored():
            return super()._bucket_response(request, full_url)

    def _key_response(self, request: Request, full_url: str) -> Any:  # noqa: ANN401
        if self._failure:
            raise _not_stored(self._failure)
        _refuse_unkept(request)
        if len(self.parse_key_name().encode()) > _MOST_KEY_BYTES:
            raise S3ClientError("KeyTooLongError", "Your key is too long")
        if upload_id := request.args.get("uploadId"):
            self._refuse_other_key(upload_id)
        with self._stored():
            response = super()._key_response(request, full_url)
            if request.method not in {"GET", "HEAD", "OPTIONS"}:
                key = self.backend.get_object(self.bucket_name, self.parse_key_name())
                # moto stores an object first and sets its attributes afterwards.
                if isinstance(key, FileKey):
                    key.save()
        return response

    def _refuse_other_key(self, upload_id: str) -> None:
        """Refuse the id of another key's upload, whose key moto would store the parts under."""
        upload = self.backend.get_bucket(self.bucket_name).multiparts.get(upload_id)
        if upload and upload.key_name != self.parse_key_name():
            raise NoSuchUpload(upload_id=upload_id)

    @contextmanager
    def _stored(self) -> Iterator[None]:
        """Have the changes of a request stored when it is answered, or answer that they are not."""
        try:
            with FileKey.files.transaction():
                yield
        except OSError as error:
            for bucket in self.backend.buckets.values():
                assert isinstance(bucket, FileBucket), "moto makes no other buckets here"
                bucket.restore()
            raise _not_stored(error) from error

    def _bucket_response_post(self, request: Request, bucket_name: str) -> Any:  # noqa: ANN401
        if "delete" not in request.args:
            raise _not_kept("An upload by POST is not kept; accepted: PUT.")
        return super()._bucket_response_post(request, bucket_name)


def _new_response(_: type[S3Response]) -> FileS3Response:
    return object.__new__(FileS3Response)


def _not_stored(error: OSError) -> S3ClientError:
    place = error.filename or FileKey.files.folder
    return S3ClientError("NotStored", f"{place}: {error.strerror}")


def _not_kept(sentence: str) -> S3ClientError:
    return S3ClientError("NotImplemented", sentence)


def _receive(request: Request) -> Body | None:
    """Receive the body: into a file if it is an object's or a part's, otherwise into memory."""
    if not _is_plain_upload(request):
        request.get_data()
        return None
    chunks = iter(lambda: request.stream.read(_CHUNK_BYTES), b"")
    try:
        return FileKey.files.write(chunks, part="partNumber" in request.args)
    except OSError:
        deque(chunks, maxlen=0)  # a client reads the answer when it has sent everything
        raise


def _is_plain_upload(request: Request) -> bool:
    headers = request.headers
    algorithm = headers.get("x-amz-sdk-checksum-algorithm")
    return (
        request.method == "PUT"
        and set(request.args) <= {"x-id", "uploadId", "partNumber"}
        and "x-amz-copy-source" not in headers
        # moto decodes these bodies, or computes their checksum, in memory.
        and not headers.get("x-amz-content-sha256", "").startswith("STREAMING-")
        and (algorithm is None or f"x-amz-checksum-{algorithm}" in headers)
    )


def _refuse_unkept(request: Request) -> None:
    refused = [name for name, _ in request.headers if name.lower().startswith(_REFUSED_HEADERS)]
    if not ("partNumber" in request.args and request.method == "PUT"):
        refused += _REFUSED_QUERIES.intersection(request.args)
    if refused:
        names = ", ".join(sorted(refused))
        raise _not_kept(f"{names} is not kept; accepted: a request without it.")


def _listing(
    backend: S3Backend,
    bucket: FakeBucket,
    prefix: str | None,
    *more: Any,  # noqa: ANN401 (moto's signature)
    **named: Any,  # noqa: ANN401
) -> Any:  # noqa: ANN401
    """List as moto does, but look only at the keys with the prefix, not at the whole bucket."""
    part = copy(bucket)
    listed = FileKey.files.listed(bucket.name, prefix or "")
    keys = {key: bucket.keys[key] for key, *_ in listed if key in bucket.keys}
    part.keys = keys  # type: ignore[assignment]
    return _moto_listing(backend, part, prefix, *more, **named)


def _page(
    backend: S3Backend,
    bucket: FakeBucket,
    prefix: str | None,
    delimiter: str | None,
    continuation_token: str | None,
    start_after: str | None,
    max_keys: int,
) -> Any:  # noqa: ANN401
    """List a page as moto does, but read only its keys: moto reads and sorts all keys."""
    if delimiter:
        return _moto_page(
            backend, bucket, prefix, delimiter, continuation_token, start_after, max_keys
        )
    tokens = backend._pagination_tokens
    after = tokens[continuation_token] if continuation_token else start_after
    listed = FileKey.files.listed(bucket.name, prefix or "", after or "", max_keys + 1)
    names, *more = backend._truncate_result([key for key, *_ in listed], max_keys)
    return [bucket.keys[name] for name in names if name in bucket.keys], *more


def install(folder: Path) -> ExitStack:
    """Store the objects of all buckets in ``folder``, in this process, from now on.

    A second call switches to another folder, or opens the same folder as a new process would.

    Returns
    -------
    ExitStack
        Its ``close`` releases the folder and restores moto's own storage.

    Raises
    ------
    ObjectFilesError
        If another process uses the folder, or its index is damaged.
    """
    if hasattr(FileKey, "files"):
        FileKey.files.close()
    files = ObjectFiles(folder)
    try:
        files.check_index()  # moto would restore the buckets amid its first requests
    except BaseException:
        files.close()
        raise
    replacements = Replacements()
    replacements.set(FileKey, "files", files)
    # moto looks these up by name at each use.
    replacements.set(models, "FakeKey", FileKey)
    replacements.set(models, "FakeBucket", FileBucket)
    # The routes of each server hold moto's class from its first request on.
    replacements.set(S3Response, "__new__", _new_response)
    replacements.set(S3Backend, "list_objects", _listing)
    replacements.set(S3Backend, "list_objects_v2", _page)
    cleanup = ExitStack()
    cleanup.callback(gc.unfreeze)
    cleanup.callback(files.close)
    cleanup.callback(replacements.restore)
    return cleanup
