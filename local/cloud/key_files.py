"""The access keys of functions, as files that the AWS SDKs read.

Every process of the user can read the variables of a function in ``/proc``, a system under test
among them. The kernel keeps that one out of the state folder, where these files are.
Source: AWS SDKs and Tools Reference, "Shared config and credentials files".
"""

from __future__ import annotations

import shutil
from pathlib import Path

from local.cloud.endpoint import Endpoint


class KeyFiles:
    """A folder with a file for each role of the functions of one cloud."""

    def __init__(self, folder: Path, endpoint: Endpoint) -> None:
        self._folder, self._endpoint = folder, endpoint

    def environment(self, role: str) -> dict[str, str]:
        """Return the variables with which the AWS SDKs work in the cloud, as this role's ARN."""
        key = self._endpoint.access_key(role)
        file = str(self._write(key["AWS_ACCESS_KEY_ID"], key))
        # The user's own configuration may name a role to assume, which comes before a key.
        files = {"AWS_SHARED_CREDENTIALS_FILE": file, "AWS_CONFIG_FILE": file}
        return {**self._endpoint.place, **files}

    def close(self) -> None:
        """Remove the files."""
        shutil.rmtree(self._folder, ignore_errors=True)

    def _write(self, name: str, key: dict[str, str]) -> Path:
        self._folder.mkdir(parents=True, exist_ok=True)
        file = self._folder / name
        unfinished = file.with_suffix(".unfinished")
        unfinished.touch(mode=0o600)
        lines = ["[default]", *(f"{setting.lower()} = {value}" for setting, value in key.items())]
        unfinished.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return unfinished.replace(file)
