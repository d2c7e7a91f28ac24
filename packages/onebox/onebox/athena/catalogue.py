"""The tables of the Glue catalogue: their types, their projected partitions and their objects.

Source: AWS documentation, Glue: Table; Athena: Partition projection, Supported types.
"""

from __future__ import annotations

import re
import zlib
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from os.path import commonprefix
from typing import Any, NamedTuple, Protocol

from onebox.athena.errors import QueryError, not_supported
from onebox.disk import gunzipped


class Names(NamedTuple):
    """The names of one type, and the Precision of ColumnInfo."""

    glue: str
    trino: str
    duckdb: str
    precision: int


NAMES: Mapping[str, Names] = {
    "VARCHAR": Names("string", "varchar", "VARCHAR", 2147483647),
    "INT": Names("int", "integer", "INTEGER", 10),
    "BIGINT": Names("bigint", "bigint", "BIGINT", 19),
    "DOUBLE": Names("double", "double", "DOUBLE", 17),
    "BOOLEAN": Names("boolean", "boolean", "BOOLEAN", 0),
    "TIMESTAMP": Names("timestamp", "timestamp(3)", "TIMESTAMP", 3),
    "TIMESTAMPTZ": Names(
        "", "timestamp(3) with time zone", "TIMESTAMP", 3
    ),  # always in UTC, as the times of tables are
    "DATE": Names("date", "date", "DATE", 0),
    "INTERVAL": Names("", "interval day to second", "INTERVAL", 0),
}
"""By the name of the kind in sqlglot."""
_DUCKDB = {names.glue: names.duckdb for names in NAMES.values() if names.glue}


def duckdb_type(glue: str) -> str:
    """Return DuckDB's name of a type of Glue: ``VARCHAR[]`` for ``array<string>``."""
    if glue.startswith("array<"):
        return f"{duckdb_type(glue.removeprefix('array<').removesuffix('>'))}[]"
    return _DUCKDB[glue]


TYPES = ("string", "int", "bigint", "double", "boolean", "timestamp", "array<string>")
SERDE = "org.apache.hive.hcatalog.data.JsonSerDe"
TIMESTAMP_FORMATS = ("yyyy-MM-dd HH:mm:ss.SSS", None)
MOST_PARTITIONS = 100_000

Value = str | int
# The answer of Glue's GetTable for each database and table.
Catalogue = Mapping[str, Mapping[str, Mapping[str, Any]]]


@dataclass(frozen=True)
class Partition:
    """A folder of a table: the values of its partition columns and the place of its objects."""

    values: tuple[Value, ...]
    location: str


@dataclass(frozen=True)
class Table:
    """A table of gzipped JSON lines.

    Attributes
    ----------
    name : str
        ``database.table``.
    columns : mapping of str to str
        The Glue type of each column in the objects.
    partitioned_by : mapping of str to str
        The Glue type of each partition column, whose value is part of an object's place.
    location : str
        ``s3://bucket/prefix/``.
    """

    name: str
    columns: Mapping[str, str]
    partitioned_by: Mapping[str, str]
    location: str
    _values: tuple[Sequence[Value], ...]
    _template: str

    def partitions(self) -> Iterator[Partition]:
        """Yield every projected partition, with or without objects."""
        for values in product(*self._values):
            location = self._template
            for column, value in zip(self.partitioned_by, values, strict=True):
                location = location.replace(f"${{{column}}}", str(value))
            yield Partition(values, location)


def read_table(description: Mapping[str, Any]) -> Table:
    """Return the table that a ``Table`` of Glue describes.

    Raises
    ------
    QueryError
        If the table has a type, format or kind of partition that is not supported.
    """
    name = f"{description['DatabaseName']}.{description['Name']}"
    storage = description.get("StorageDescriptor", {})
    partitioned_by = _columns(name, description.get("PartitionKeys", []))
    parameters = description.get("Parameters", {})
    _check_format(name, description, storage)
    location = f"{storage['Location'].rstrip('/')}/"
    folders = "".join(f"{column}=${{{column}}}/" for column in partitioned_by)
    template = parameters.get("storage.location.template", location + folders)
    if partitioned_by and parameters.get("projection.enabled") != "true":
        raise not_supported(f"Table {name} without projection.enabled = true")
    values = [
        _projection(name, parameters, column, type_) for column, type_ in partitioned_by.items()
    ]
    table = Table(
        name,
        _columns(name, storage.get("Columns", [])),
        partitioned_by,
        location,
        tuple(values),
        f"{template.rstrip('/')}/",
    )
    _check_partitions(table)
    return table


def _columns(table: str, descriptions: Sequence[Mapping[str, str]]) -> dict[str, str]:
    for column in descriptions:
        if column.get("Type") not in TYPES:
            raise not_supported(
                f"Column {column['Name']} of {table} with type {column.get('Type')}, "
                f"which is not one of {', '.join(TYPES)},"
            )
    return {column["Name"]: column["Type"] for column in descriptions}


def _check_format(name: str, description: Mapping[str, Any], storage: Mapping[str, Any]) -> None:
    serde = storage.get("SerdeInfo", {})
    if description.get("TableType") != "EXTERNAL_TABLE":
        raise not_supported(f"Table {name} with TableType {description.get('TableType')}")
    if serde.get("SerializationLibrary") != SERDE:
        raise not_supported(
            f"Table {name} with SerializationLibrary {serde.get('SerializationLibrary')}"
        )
    _check_serde(name, serde.get("Parameters", {}))
    if not storage.get("Location", "").startswith("s3://"):
        raise not_supported(f"Table {name} with Location {storage.get('Location')}")


def _check_serde(name: str, parameters: Mapping[str, str]) -> None:
    if more := sorted(parameters.keys() - {"timestamp.formats"}):
        raise not_supported(f"Table {name} with {more[0]} in its SerdeInfo")
    if (form := parameters.get("timestamp.formats")) not in TIMESTAMP_FORMATS:
        raise not_supported(f"Table {name} with timestamp.formats {form}")


def _projection(
    table: str, parameters: Mapping[str, str], column: str, type_: str
) -> Sequence[Value]:
    prefix = f"projection.{column}"
    kind = parameters.get(f"{prefix}.type")
    match kind, type_:
        case "enum", "string":
            return [
                value.strip() for value in _property_list(table, parameters, f"{prefix}.values")
            ]
        case "integer", "int" | "bigint":
            for option in ("interval", "digits"):
                if f"{prefix}.{option}" in parameters:
                    raise not_supported(f"{prefix}.{option} of {table}")
            first, last = (int(end) for end in _property_list(table, parameters, f"{prefix}.range"))
            return range(first, last + 1)
        case _:
            raise not_supported(f"{prefix}.type {kind} of {table} for a column of type {type_}")


def _property_list(table: str, parameters: Mapping[str, str], name: str) -> list[str]:
    if name not in parameters:
        raise QueryError("INVALID_TABLE_PROPERTY", f"{table} has no {name}")
    return parameters[name].split(",")


def _check_partitions(table: Table) -> None:
    count = 1
    for column, values in zip(table.partitioned_by, table._values, strict=True):
        count *= len(values)
        if f"${{{column}}}" not in table._template:
            raise QueryError(
                "INVALID_TABLE_PROPERTY",
                f"storage.location.template of {table.name} lacks ${{{column}}}",
            )
        # Hive escapes any other character in the name of a folder.
        if odd := [value for value in values if not re.fullmatch(r"[\w.-]+", str(value))]:
            raise not_supported(f"Partition {column}={odd[0]} of {table.name}")
    if count > MOST_PARTITIONS:
        raise not_supported(f"Table {table.name} with more than {MOST_PARTITIONS} partitions")


class StoredObject(NamedTuple):
    """An object in S3: its place, ``s3://bucket/key``, its size in bytes and its MD5."""

    location: str
    size: int
    md5: str


TableObject = tuple[Partition, StoredObject]
Members = tuple[Partition, Sequence[StoredObject]]
"""The objects of one partition, ordered by place."""

# A folder has an empty name; Hive hides names that begin with one of these characters.
_HIDDEN = {"", ".", "_"}
# The rows of a run have a hundredth of it.
_MOST_BYTES = 256 << 20
_AFTER_ALL = "\U0010ffff"  # sorts after every other character


class Objects(Protocol):
    """A store of objects."""

    def list(self, location: str) -> Iterable[StoredObject]:
        """Yield the objects whose place begins with ``location``."""

    def read(self, location: str) -> bytes:
        """Return the whole body of an object."""


def objects_in(partitions: Sequence[Partition], objects: Objects) -> list[Members]:
    """Return the objects of partitions that have some, without those that Hive hides."""
    ordered = sorted(partitions, key=lambda partition: partition.location)
    # One listing of the common prefix is cheaper than a listing for each partition.
    common = commonprefix([partition.location for partition in ordered])  # noqa: RUF071 (of texts)
    listing = sorted(objects.list(common)) if ordered else []
    found: list[Members] = []
    for partition in ordered:
        first, end = (
            bisect_left(listing, (partition.location + after,)) for after in ("", _AFTER_ALL)
        )
        members = [
            stored
            for stored in listing[first:end]
            if stored.location.rpartition("/")[2][:1] not in _HIDDEN
        ]
        if members:
            found.append((partition, members))
    return found


def pairs(members: Members) -> list[TableObject]:
    """Return each object of a partition with the partition."""
    partition, objects = members
    return [(partition, stored) for stored in objects]


def text_of(location: str, body: bytes) -> str:
    """Return the text of an object; raise QueryError if the body is not gzipped UTF-8."""
    try:
        return gunzipped(body, _MOST_BYTES).decode()
    except (EOFError, OSError, UnicodeDecodeError, zlib.error) as error:
        raise QueryError(
            "HIVE_CURSOR_ERROR", f"{location} is not gzipped UTF-8: {error}"
        ) from error
