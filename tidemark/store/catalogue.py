"""The tables as the Glue catalogue describes them, the same for an account and one machine."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tidemark.store.columns import PARTITIONS, TIMESTAMP_FORMAT

SCAN_LIMIT_BYTES = 1024**3
"""The most bytes that one query may read: a mistake in a query fails and costs little. A run takes
about 10 kB."""
# Athena user guide, "OpenX JSON SerDe": its results can be non-deterministic, with more or fewer
# rows or unexpected nulls; "Hive JSON SerDe": timestamp.formats.
_SERDE = {
    "SerializationLibrary": "org.apache.hive.hcatalog.data.JsonSerDe",
    "Parameters": {"timestamp.formats": TIMESTAMP_FORMAT},
}
# The possible years of a run; a year without runs costs nothing.
_YEARS = "2000,2100"


def database_name(stack: str) -> str:
    """Return the name of the database of a stack."""
    return re.sub("[^a-z0-9_]", "_", stack.lower())


def table_input(
    name: str, columns: Mapping[str, str], tables: str, suites: Sequence[str]
) -> dict[str, Any]:
    """Return a table of gzipped JSON lines with partition projection.

    ``tables`` is the location of all tables, ``s3://bucket/prefix``. Source: AWS Glue web API
    reference, TableInput.
    """
    location = f"{tables}/{name}/"
    return {
        "Name": name,
        "TableType": "EXTERNAL_TABLE",
        "PartitionKeys": _columns(PARTITIONS),
        # Athena user guide, partition projection: needs no crawler and no added partitions.
        "Parameters": {
            "EXTERNAL": "TRUE",
            "classification": "json",
            "compressionType": "gzip",
            "projection.enabled": "true",
            "projection.suite.type": "enum",
            "projection.suite.values": ",".join(suites),
            "projection.year.type": "integer",
            "projection.year.range": _YEARS,
            "storage.location.template": f"{location}suite=${{suite}}/year=${{year}}/",
        },
        "StorageDescriptor": {
            "Location": location,
            "Columns": _columns(columns),
            "Compressed": True,
            "InputFormat": "org.apache.hadoop.mapred.TextInputFormat",
            "OutputFormat": "org.apache.hadoop.hive.ql.io.HiveIgnoreKeyTextOutputFormat",
            "SerdeInfo": _SERDE,
        },
    }


def _columns(types: Mapping[str, str]) -> list[dict[str, str]]:
    return [{"Name": name, "Type": type_} for name, type_ in types.items()]
