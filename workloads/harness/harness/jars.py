"""The jars of one version, which its user has built."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import unquote, urlsplit

from harness.configuration import ConfigurationError


def jars_of_version(variables: Mapping[str, str]) -> Path:
    """Return the folder with the jars of the version.

    ``TIDEMARK_PACKAGE`` is the name of a folder in that of ``TIDEMARK_JARS``, or
    ``NAME@file:///PATH/#sha256=DIGEST`` for another folder.

    Raises
    ------
    ConfigurationError
        If there is no jar, or if the jars of a digest have another one.
    """
    place, advice = json.loads(variables["TIDEMARK_JARS"])
    name, _, url = variables["TIDEMARK_PACKAGE"].partition("@")
    folder = Path(unquote(urlsplit(url).path)) if url else Path(place).expanduser() / name
    # The shell's *.jar has no hidden files.
    found = [jar for jar in folder.glob("[!.]*.jar") if jar.is_file()]
    jars = sorted(found, key=lambda jar: jar.name)
    if not jars:
        raise ConfigurationError(f"{folder} has no file *.jar: {advice}")
    digest = url.rpartition("#sha256=")[2]
    if url and _digest(jars) != digest:
        raise ConfigurationError(f"{folder} has other jars than when the run was planned.")
    return folder


def _digest(jars: Sequence[Path]) -> str:
    """Return the SHA-256 of the lines that ``sha256sum *.jar`` prints in the folder."""
    sums = hashlib.sha256()
    for jar in jars:
        try:
            with jar.open("rb") as file:
                content = hashlib.file_digest(file, "sha256").hexdigest()
        except OSError as error:
            raise ConfigurationError(f"{jar} cannot be read: {error.strerror}") from None
        sums.update(f"{content}  {jar.name}\n".encode())
    return sums.hexdigest()
