"""Translated queries, kept in files: the SQL parser takes longer to import than a query takes.

The name of a file is a digest of the statement and of everything else that the translation uses.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

import onebox.athena
from onebox.athena.catalogue import Catalogue
from onebox.athena.execution import Column, Scan, Translation

_ENGINE = Path(onebox.athena.__file__).parent
_MOST_FILES = 200


class TranslationCache:
    """Translations of statements over one catalogue; one process at a time uses the folder."""

    def __init__(self, folder: Path, catalogue: Catalogue, database: str) -> None:
        self._folder, self._catalogue, self._database = folder, catalogue, database

    def of(self, statement: str, parameters: Sequence[str]) -> Translation:
        """Return the translation of a statement, with a SQL literal for each of its ``?``.

        Raises
        ------
        QueryError
            If the statement is refused.

        """
        file = self._folder / f"{self._digest(statement, parameters)}.json"
        # A damaged or missing file only means that the statement is translated again.
        with suppress(OSError, ValueError, LookupError, TypeError):
            return _read(_whole(file.read_text(encoding="utf-8")))
        from onebox.athena.translation import translate  # noqa: PLC0415 (only a new statement waits)

        translation = translate(
            statement, self._catalogue, database=self._database, parameters=parameters
        )
        # A full disk must not keep a statement from its answer.
        with suppress(OSError):
            self._keep(file, translation)
        return translation

    def _keep(self, file: Path, translation: Translation) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        for old in sorted(self._folder.iterdir(), key=os.path.getmtime)[: -_MOST_FILES + 1]:
            old.unlink()
        unfinished = file.with_suffix(".unfinished")
        text = json.dumps(asdict(translation))
        unfinished.write_text(f"{_sha256(text)} {text}", encoding="utf-8")
        unfinished.replace(file)

    def _digest(self, statement: str, parameters: Sequence[str]) -> str:
        parts = [statement, list(parameters), self._database, self._catalogue, _engine()]
        return _sha256(json.dumps(parts, sort_keys=True))[:32]


def _engine() -> list[object]:
    """Return the identity of the engine: its sources, and the versions of sqlglot and DuckDB."""
    sources = ((file.name, file.stat().st_mtime_ns) for file in sorted(_ENGINE.glob("*.py")))
    return [*sources, version("sqlglot"), version("duckdb")]


def _whole(content: str) -> dict[str, Any]:
    """Return what was stored; raise ValueError if the file is damaged."""
    digest, _, text = content.partition(" ")
    if digest != _sha256(text):
        raise ValueError("the translation is damaged")
    stored: dict[str, Any] = json.loads(text)
    return stored


def _sha256(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _read(stored: dict[str, Any]) -> Translation:
    return Translation(
        stored["sql"],
        tuple(
            Scan(
                **{
                    **scan,
                    "columns": tuple(scan["columns"]),
                    "conditions": tuple(scan["conditions"]),
                }
            )
            for scan in stored["scans"]
        ),
        tuple(Column(**column) for column in stored["columns"]),
    )
