"""Commands ``SOURCE``, ``lookup`` and ``cidrlookup``: log groups, and columns of lookup tables.

Source: AWS documentation, CloudWatch Logs Insights query syntax: SOURCE, lookup, cidrlookup.
"""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from cwli import duckdb_core as duckdb
from cwli.insights.addresses import marked_bits, network_bits
from cwli.insights.names import Names
from cwli.insights.parser import Reader
from cwli.insights.plan import Definition
from cwli.insights.source import Groups, quoted_path
from cwli.insights.sql import Writer, texts
from cwli.insights.syntax import Call, Column, Command, Field, LookupTableError, QueryError, Span
from cwli.insights.tokens import Kind
from cwli.insights.values import Type, Value, quoted, text

MOST_BYTES = 10 * 1024 * 1024
"""The largest size of a lookup table [B] (AWS documentation: CreateLookupTable)."""
# The arguments of logGroups and the most texts in each (AWS documentation, CloudWatch Logs
# Insights query syntax: SOURCE). On one machine all log groups have AWS's default class.
_MOST = {"nameprefix": 5, "accountidentifiers": 20, "class": 1}
_CONSOLE = (
    "this is the form in which the console shares a query, with the log groups and the times of "
    "its page; leave out SOURCE up to |, and set both when you start the query"
)


@dataclass(frozen=True)
class Source(Command):
    """``SOURCE 'group'``, ``SOURCE logGroups(namePrefix: ['a', 'b'])``: before other commands.

    A query may have several. A name without quotes is a log group, too, as in the example of
    appendcols.
    """

    groups: Groups

    @classmethod
    def read(cls, reader: Reader, start: Span) -> Source:
        """Read the arguments of ``SOURCE``."""
        if reader.at("="):
            raise QueryError(
                "source = … is OpenSearch PPL; in Logs Insights QL write SOURCE 'group'", start
            )
        if reader.take_word("loggroups"):
            groups = _selection(reader)
        elif reader.token.kind is Kind.NAME:
            word = reader.advance()
            if reader.at("("):
                raise QueryError(
                    f"{word.value} is not supported; supported: logGroups(…) and names", word.span
                )
            groups = Groups((word.value,))
        else:
            groups = Groups(tuple(_group(text.value) for text in reader.list_of(reader.text)))
        if reader.at_word("start", "end"):
            raise QueryError(_CONSOLE, reader.token.span)
        return cls(reader.since(start), groups)

    def resolve(self, names: Names) -> None:
        """Add the groups to the groups of earlier ``SOURCE`` commands."""
        if set(names.seen) - {"Source"}:
            raise QueryError("SOURCE must come before all other commands", self.span)
        names.sources.append(self.groups)


def _group(name: str) -> str:
    """Return the name of a log group from its name or its ARN."""
    return name.rpartition(":log-group:")[2].removesuffix(":*")


def _selection(reader: Reader) -> Groups:
    reader.need("(", "'(' and namePrefix: ['…']")
    arguments: dict[str, tuple[str, ...]] = {}
    while not reader.at(")"):
        word = reader.name()
        key = word.value.lower()
        if key not in _MOST:
            raise QueryError(
                f"{word.value!r} is not supported in logGroups; "
                "supported: namePrefix, accountIdentifiers, class",
                word.span,
            )
        reader.need(":", "':'")
        is_empty = reader.at("[") and reader.following() == "]"
        if is_empty or (key == "class" and reader.token.kind is Kind.TEXT):
            raise QueryError(_CONSOLE, word.span)
        reader.need("[", "a list of texts such as ['a', 'b']")
        texts = tuple(text.value for text in reader.list_of(reader.text))
        reader.need("]", "',' or ']'")
        if len(texts) > _MOST[key]:
            raise QueryError(f"{word.value} takes at most {_MOST[key]} texts", word.span)
        if key == "class" and texts != ("STANDARD",):
            raise QueryError("class must be ['STANDARD'] on one machine", word.span)
        arguments[key] = texts
        if not reader.take(","):
            break
    reader.need(")", "',' or ')'")
    return Groups((), arguments.get("nameprefix", ()), arguments.get("accountidentifiers", ()))


@dataclass(frozen=True)
class Pair:
    """``a as b``: a column of a lookup table, and a field."""

    column: Field
    field: Field

    @classmethod
    def read(cls, reader: Reader) -> Pair:
        """Read a name, and another after ``as``; without ``as`` both have the same name."""
        column = reader.field()
        return cls(column, reader.field() if reader.take_word("as") else column)


@dataclass(frozen=True)
class LookUp(Command):
    """``lookup users id as userId OUTPUT name, team``: columns of the first row with that id."""

    table: Field
    keys: tuple[Pair, ...]
    taken: tuple[Pair, ...]

    @classmethod
    def read(cls, reader: Reader, start: Span) -> LookUp:
        """Read the arguments of ``lookup``."""
        table = reader.field()
        keys = reader.list_of(lambda: Pair.read(reader))
        reader.need_word("output")
        taken = reader.list_of(lambda: Pair.read(reader))
        return cls(reader.since(start), table, keys, taken)

    def resolve(self, names: Names) -> None:
        """Add the columns, in place of fields with the same names."""
        keys = [(key.column, key.field) for key in self.keys]
        columns = _add_step(names, self.table, keys, self.taken)
        for pair, column in zip(self.taken, columns, strict=True):
            names.define(pair.field.name, column)
        names.selection.show(pair.field.name for pair in self.taken)


@dataclass(frozen=True)
class CidrLookUp(Command):
    """``cidrlookup nets srcAddr as cidr OUTPUTNEW owner``: columns of the narrowest range.

    ``OUTPUTNEW`` keeps the value of a field unless it is missing or empty.
    """

    table: Field
    address: Field
    ranges: Field | None
    only_new: bool
    taken: tuple[Pair, ...]

    @classmethod
    def read(cls, reader: Reader, start: Span) -> CidrLookUp:
        """Read the arguments of ``cidrlookup``."""
        table, address = reader.field(), reader.field()
        ranges = reader.field() if reader.take_word("as") else None
        only_new = reader.one_of("output", "outputnew") == "outputnew"
        taken = reader.list_of(lambda: Pair.read(reader))
        return cls(reader.since(start), table, address, ranges, only_new, taken)

    def resolve(self, names: Names) -> None:
        """Add the columns."""
        keys = [(self.ranges, self.address)]
        columns = _add_step(names, self.table, keys, self.taken, networks=True)
        for pair, column in zip(self.taken, columns, strict=True):
            new = self._filled_column(names, pair.field, column) if self.only_new else column
            names.define(pair.field.name, new)
        names.selection.show(pair.field.name for pair in self.taken)

    def _filled_column(self, names: Names, field: Field, column: str) -> str:
        """Return the column of a field, with ``column`` where the field is missing or empty."""
        if not names.before_stats and field.name not in names.scope.fields:
            return column
        empty = Call(field.span, (field,), "isempty")
        return names.column(Call(field.span, (empty, Column(field.span, column), field), "if"))


@dataclass(frozen=True)
class _FromTable(Definition):
    """A step that adds cells, at the places in ``columns``, of the lookup table's matching row."""

    per_event = True

    columns: Mapping[str, int]
    lookup: Lookup
    keys: tuple[str, ...]

    selects = 3  # one for the bits of an address, one for the cells, one for the columns

    @property
    def reads(self) -> frozenset[str]:
        return frozenset(self.keys)

    def write(self, writer: Writer, kept: frozenset[str]) -> None:
        """Write a join with the table, or a search for the longest of the ranges."""
        cells = self._narrowest(writer, kept) if self.lookup.networks else "cells"
        join = "" if self.lookup.networks else self._join(writer)
        places = {column: f"{cells}[{place}]" for column, place in self.columns.items()}
        writer.define(kept, texts(places), join)

    def _join(self, writer: Writer) -> str:
        keys = enumerate(str(text(writer.value(key))) for key in self.keys)
        on = " AND ".join(f"key{place} = {key}" for place, key in keys)
        return f"LEFT JOIN {self.lookup.view} ON {on}"

    def _narrowest(self, writer: Writer, kept: frozenset[str]) -> str:
        bits, cells = writer.temporary(), writer.temporary()
        address = writer.text_column(Column(self.lookup.table.span, self.keys[0]), kept)
        writer.define(kept, {bits: Value(marked_bits(address), Type.TEXT)})
        ranges = f"FROM {self.lookup.view} WHERE starts_with({bits}, key0)"
        narrowest = f"(SELECT arg_max(cells, length(key0)) {ranges})"
        writer.define(kept, {cells: Value(narrowest, Type.TEXT)})
        return cells


def _add_step(
    names: Names,
    table: Field,
    keys: Sequence[tuple[Field | None, Field]],
    taken: tuple[Pair, ...],
    *,
    networks: bool = False,
) -> tuple[str, ...]:
    """Add a step that takes columns of a table, and return their columns in SQL.

    ``keys`` has columns of the table, each with the field that it is compared with.
    """
    key_columns = tuple(names.column(field) for _, field in keys)
    cells = tuple(pair.column for pair in taken)
    lookup = Lookup(
        table, f"lookup_{names.new_column()}", tuple(key for key, _ in keys), cells, networks
    )
    columns = tuple(names.new_column() for _ in taken)
    names.lookups.append(lookup)
    names.step(_FromTable({column: n for n, column in enumerate(columns, 1)}, lookup, key_columns))
    return columns


class Lookup(NamedTuple):
    """The use of a lookup table in a query.

    Attributes
    ----------
    table : Field
        The name of the table in the query.
    view : str
        The name of the table in SQL; it has ``key0``, ``key1`` … and ``cells``, a list of texts.
    keys, cells : tuple of Field
        The columns to compare, None for the first one, and the columns to take.
    networks : bool
        Whether the key is a range of addresses; ``key0`` is then the common prefix of their bits.
    """

    table: Field
    view: str
    keys: tuple[Field | None, ...]
    cells: tuple[Field, ...]
    networks: bool

    def load(self, connection: duckdb.DuckDBPyConnection, tables: Mapping[str, Path]) -> None:
        """Create the table in SQL with the first of the rows that have the same keys.

        Raises
        ------
        QueryError
            If the table or one of its columns does not exist.
        LookupTableError
            If the file of the table cannot be read.
        """
        path = tables.get(self.table.name)
        if path is None:
            known = f"there are {', '.join(tables)}" if tables else "none is given"
            raise QueryError(
                f"there is no lookup table {self.table.name!r}; {known}", self.table.span
            )
        header = _header(path)
        keys = [self._column(header, key) for key in self.keys]
        if self.networks:
            keys = [network_bits(key) for key in keys]
        cells = ", ".join(self._column(header, cell) for cell in self.cells)
        key_columns = ", ".join(f"{key} AS key{place}" for place, key in enumerate(keys))
        types = ", ".join(f"{quoted(name)}: 'VARCHAR'" for name in header)
        file = (
            f"read_csv({quoted_path(path)}, header = TRUE, auto_detect = FALSE, delim = ',', "
            f"quote = '\"', escape = '\"', nullstr = '', columns = {{{types}}})"
        )
        key_names = ", ".join(f"key{place}" for place in range(len(keys)))
        connection.execute(
            f"CREATE TEMP TABLE {self.view} AS SELECT * FROM "  # noqa: S608 (texts are quoted)
            f"(SELECT {key_columns}, [{cells}] AS cells, row_number() OVER () AS number "
            f"FROM {file}) "
            f"QUALIFY row_number() OVER (PARTITION BY {key_names} ORDER BY number) = 1"
        )

    def _column(self, header: list[str], column: Field | None) -> str:
        """Return SQL for a column of the table, without a name the first."""
        name = column.name if column else header[0]
        if column and name not in header:
            raise QueryError(
                f"the lookup table {self.table.name!r} has no column {name!r}; it has "
                f"{', '.join(header)}",
                column.span,
            )
        return '"' + name.replace('"', '""') + '"'


def _header(path: Path) -> list[str]:
    try:
        if path.stat().st_size > MOST_BYTES:
            raise LookupTableError(f"{path}: a lookup table has at most {MOST_BYTES:,} bytes")
        with path.open(encoding="utf-8-sig", newline="") as file:
            header = next(csv.reader(file), [])
    except OSError as error:
        raise LookupTableError(f"{path}: this file cannot be read: {error.strerror}") from None
    except (UnicodeDecodeError, csv.Error):
        raise LookupTableError(f"{path}: this file is not CSV in UTF-8") from None
    # DuckDB ignores the case of names.
    unique = {name.casefold() for name in header}
    if not all(header) or len(unique) < max(len(header), 1):
        raise LookupTableError(f"{path}: the first line of a lookup table must have unique names")
    return header
