"""The files of a store in S3, with a manifest that describes them."""

from __future__ import annotations

import hashlib
import json
from contextlib import closing
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from botocore.exceptions import ClientError

from harness.task import CheckFailedError

CHUNK_BYTES = 1 << 20
MANIFEST = "manifest.json"


@dataclass(frozen=True)
class Manifest:
    """The description of the files that ingest stored.

    Attributes
    ----------
    version, package, seed, records
        The configuration that the files were written with.
    checksum
        The checksum of the records, as in ``engine.Tally``.
    store
        The name of the store's folder.
    files
        The SHA-256 of each file by its name, in hexadecimal.
    """

    version: str
    package: str
    seed: int
    records: int
    checksum: int
    store: str
    files: dict[str, str]


def digest(path: Path) -> str:
    """Return the SHA-256 of a file, in hexadecimal."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


@dataclass(frozen=True)
class Storage:
    """The place of one task in S3; ``client`` is botocore's and ``prefix`` ends with a slash."""

    client: Any
    bucket: str
    prefix: str

    def store(self, folder: Path, manifest: Manifest) -> None:
        """Store the files that ``manifest`` names, and then the manifest itself."""
        for name in manifest.files:
            with (folder / name).open("rb") as file:
                self.client.put_object(Bucket=self.bucket, Key=self._file(name), Body=file)
        body = json.dumps(asdict(manifest), sort_keys=True).encode()
        self.client.put_object(Bucket=self.bucket, Key=self.prefix + MANIFEST, Body=body)

    def load(self, folder: Path) -> Manifest:
        """Create ``folder`` and load the stored files into it.

        Raises
        ------
        CheckFailedError
            If a file is missing or differs from the stored one.
        """
        with closing(self._get(self.prefix + MANIFEST)) as body:
            manifest = _manifest(body.read())
        folder.mkdir()
        for name in manifest.files:
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            with closing(self._get(self._file(name))) as body, (folder / name).open("wb") as file:
                for chunk in body.iter_chunks(CHUNK_BYTES):
                    file.write(chunk)
        for name, stored in manifest.files.items():
            found = digest(folder / name)
            if found != stored:
                url = self._url(self._file(name))
                raise CheckFailedError(f"{url} has the SHA-256 {found}: {stored} was stored.")
        return manifest

    def _file(self, name: str) -> str:
        return f"{self.prefix}files/{name}"

    def _url(self, key: str) -> str:
        return f"s3://{self.bucket}/{key}"

    def _get(self, key: str) -> Any:  # noqa: ANN401 (botocore makes its classes at run time)
        try:
            return self.client.get_object(Bucket=self.bucket, Key=key)["Body"]
        except ClientError as failure:
            # S3 refuses a missing key to a role that may not list it.
            if failure.response["Error"]["Code"] not in {"NoSuchKey", "AccessDenied"}:
                raise
            raise CheckFailedError(
                f"{self._url(key)} is missing: compaction needs what ingest stored."
            ) from None


def _manifest(body: bytes) -> Manifest:
    try:
        return Manifest(**json.loads(body))
    except (TypeError, ValueError) as reason:
        raise CheckFailedError(f"{MANIFEST} is not one that ingest stored: {reason}.") from None
