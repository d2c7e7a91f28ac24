"""Local engine for Athena's SQL over the tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import Any

from onebox.athena import api as athena
from tidemark.store.columns import PARTITIONS, TABLES

_BUCKET = "s3://results/"
_VALUES = {
    "double": float,
    "integer": int,
    "bigint": int,
    "boolean": lambda text: text == "true",
    "timestamp(3)": datetime.fromisoformat,
}
# Trino's names for the engine's types.
_TRINO = {"int": "integer", "timestamp": "timestamp(3)"}


class LocalEngine:
    """Engine of the one-machine cloud over objects in memory, by key."""

    def __init__(self, objects: Mapping[str, bytes]) -> None:
        self._objects = objects
        self._catalogue = {"tidemark": {table: described(table, "results") for table in TABLES}}

    def ask(self, statement: str) -> tuple[list[tuple[str, str]], list[list[Any]]]:
        """Return the name and type of each column of the answer, and the rows as values."""
        result = athena.run(statement, self, self._catalogue, database="tidemark")
        kinds = [(name, str(kind).lower()) for name, kind in result.columns]
        columns = [(name, _TRINO.get(kind, kind)) for name, kind in kinds]
        rows = [
            [
                None if text is None else _VALUES.get(kind, str)(text)
                for text, (_, kind) in zip(row, columns, strict=True)
            ]
            for row in result.rows
        ]
        return columns, rows

    def texts(self, statement: str) -> list[list[str | None]]:
        """Return the rows of the answer as a result shows them."""
        return athena.run(statement, self, self._catalogue, database="tidemark").rows

    def list(self, location: str) -> Iterator[athena.StoredObject]:
        """Yield the objects below a location."""
        for key, body in self._objects.items():
            if f"{_BUCKET}{key}".startswith(location):
                yield athena.StoredObject(f"{_BUCKET}{key}", len(body), "")

    def read(self, location: str) -> bytes:
        """Return the body of an object."""
        return self._objects[location.removeprefix(_BUCKET)]


def described(table: str, bucket: str, suites: str = "rocksdb,sleeper") -> dict[str, Any]:
    """Return the Glue description of a table, as the stack declares it."""
    location = f"s3://{bucket}/tables/{table}/"
    return {
        "DatabaseName": "tidemark",
        "Name": table,
        "TableType": "EXTERNAL_TABLE",
        "PartitionKeys": [{"Name": name, "Type": kind} for name, kind in PARTITIONS.items()],
        "Parameters": {
            "projection.enabled": "true",
            "projection.suite.type": "enum",
            "projection.suite.values": suites,
            "storage.location.template": f"{location}suite=${{suite}}/",
        },
        "StorageDescriptor": {
            "Columns": [{"Name": name, "Type": kind} for name, kind in TABLES[table].items()],
            "Location": location,
            "SerdeInfo": {"SerializationLibrary": "org.apache.hive.hcatalog.data.JsonSerDe"},
        },
    }
