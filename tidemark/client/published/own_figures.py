"""Figures of a file that no suite describes: its columns and texts name the metrics.

Units and directions come from headings, and from words that people use for such figures. Whatever
is guessed is said.
"""

from __future__ import annotations

import hashlib
import re
import statistics
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Literal, NamedTuple

from tidemark.client.published.release_figure import (
    Amount,
    Day,
    Environment,
    Point,
    ReleaseFigure,
    amount,
    day_of,
    decimal_point,
    in_line,
    is_figure,
    is_missing,
    order_of,
    refused_at,
    without_figure,
)
from tidemark.client.published.release_tables import DAY_NAMES, VERSION_NAMES, Wishes, heading_parts
from tidemark.client.published.tables import PageTable, TableRow, cells
from tidemark.model.parameters import NO_AXES
from tidemark.model.publication import Publication, PublishedMetric, plain_name
from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed, plural, shown
from tidemark.model.suite import MOST_REPETITIONS

Direction = Literal["higher", "lower"]
TEST = "imported"
"""The test of figures that no suite describes."""
_NO_UNIT = "units"
_OWN_VERSIONS = {*VERSION_NAMES, "commit", "commit id", "sha", "revision", "build", "git", "ref"}
_OWN_DAYS = {*DAY_NAMES, "time", "timestamp", "datetime", "created at", "started at"}
_NAMES = {
    "metric", "name", "benchmark", "test", "query", "case", "operation", "series", "measurement",
}  # fmt: skip
"""The headings of columns whose texts name metrics."""
_UNITS = {"unit", "units"}
_MACHINES = {
    "cpu": "cpu_model", "cpu model": "cpu_model", "processor": "cpu_model", "cores": "cores",
    "cpus": "cores", "arch": "arch", "architecture": "arch", "os": "os", "kernel": "kernel",
    "ram": "memory", "instance type": "instance_type", "machine": "instance_type",
    "machine type": "instance_type", "host": "instance_type", "hostname": "instance_type",
    "runner": "instance_type", "environment": "instance_type",
}  # fmt: skip
"""The facts of a machine by the headings of their columns."""
_COUNTED = {"cores", "cpus"}
"""The headings of facts that are numbers."""
_BRANCHES = {"branch", "git branch"}
"""The headings of columns that are labels if they have several texts: branches are no trials."""
_MOST_LABELS = 20
"""The most texts of a column that tells figures of a metric apart."""
_HIGHER = (
    "rate", "throughput", "per second", "speed", "bandwidth", "score", "qps", "tps", "ops", "users",
    "hit ratio", "iops",
)  # fmt: skip
_LOWER = (
    "latency", "time", "duration", "seconds", "elapsed", "error", "failure", "memory", "rss",
    "size", "bytes", "cpu", "wait", "delay", "allocations",
)  # fmt: skip
_SECONDS = {"s": 1.0, "sec": 1.0, "secs": 1.0, "second": 1.0, "seconds": 1.0, "ms": 1e-3,
            "us": 1e-6, "µs": 1e-6, "μs": 1e-6, "ns": 1e-9, "min": 60.0, "h": 3600.0}  # fmt: skip
_BYTES = {"b": 1.0, "bytes": 1.0, "kb": 1e3, "mb": 1e6, "gb": 1e9, "kib": 2.0**10,
          "mib": 2.0**20, "gib": 2.0**30}  # fmt: skip
_LAST_WORDS = (_SECONDS.keys() | _BYTES.keys()) - {"s", "second", "min", "h", "b"}
"""The units that a name may end with, as p99_ms does; the others may be rates, or the least."""
_MEANT = re.compile(r"[-+.]?(?:[0-9]|inf\b)")
"""The beginning of a text that people mean as a figure."""
_VERSION = re.compile(r"[^0-9A-Za-z.+_-]+")
_ISO_DAY = re.compile(r"(?<![0-9])(20[0-9]{2})-?([01][0-9])-?([0-3][0-9])(?![0-9])")
_LONGEST_VERSION, _LONGEST_NAME = 64, 32
_MOST_NAMED = 5
_MOST_METRICS = 400


class OwnFigure(NamedTuple):
    """One figure of one trial, as a file has it."""

    version: str
    day: date
    metric: str
    """The name in the file."""
    unit: str
    """'' for none."""
    direction: Direction | None
    """The better direction, None if the file does not tell."""
    amount: Amount
    line: int
    labels: tuple[tuple[str, str], ...] = ()
    """The names and texts of the columns that tell it from others of its metric."""
    environment: Environment = ()


class Found(NamedTuple):
    """The figures of a file, their metrics, and what the reader decided."""

    publication: Publication
    figures: list[ReleaseFigure]
    notes: list[str]


class Known(NamedTuple):
    """The unit and direction of a metric that is stored."""

    unit: str
    direction: Direction


def own_figures(
    figures: Iterable[OwnFigure],
    title: str,
    better: Direction | None,
    stored: Mapping[str, Known],
) -> Found:
    """Return the figures of a file with metrics of their own.

    ``better`` is the user's direction for all metrics, and ``stored`` has the metrics of earlier
    imports by name.
    """
    by_name: defaultdict[str, list[OwnFigure]] = defaultdict(list)
    for figure in figures:
        by_name[figure.metric].append(figure)
    if len(by_name) > _MOST_METRICS:
        raise Refused(f"FILE: {len(by_name):,} metrics; expected {_MOST_METRICS} or fewer")
    names = _metric_names(by_name)
    metrics, found = list[PublishedMetric](), list[ReleaseFigure]()
    guessed: defaultdict[str, list[str]] = defaultdict(list)
    for name, of_one in by_name.items():
        known = stored.get(names[name])
        unit = known.unit if known else of_one[0].unit or _NO_UNIT
        direction = _direction(name, unit, of_one[0].direction, better, known, guessed)
        metric = PublishedMetric(
            test=TEST, metric=names[name], means=name[:200], unit=unit, direction=direction,
            columns=(names[name],),
        )  # fmt: skip
        metrics.append(metric)
        found += _in_trials(
            [
                ReleaseFigure(
                    each.version,
                    each.day,
                    _labelled(metric, each),
                    _converted(each, unit),
                    each.line,
                    each.environment,
                )
                for each in of_one
            ]
        )
    notes = [
        f"{_some(of_word)}: {word} is better (guessed{why}); --better says otherwise"
        for (word, _, why), of_word in (
            (key.partition("|"), of_word) for key, of_word in guessed.items()
        )
    ]
    return Found(Publication(title=title, figures=tuple(metrics)), found, notes)


def _labelled(metric: PublishedMetric, figure: OwnFigure) -> PublishedMetric:
    return metric.model_copy(update={"axes": dict(figure.labels)}) if figure.labels else metric


def _in_trials(figures: Sequence[ReleaseFigure]) -> Iterator[ReleaseFigure]:
    """Yield the figures of a metric; if a run may not have as many trials, their mean alone."""
    by_release: defaultdict[object, list[ReleaseFigure]] = defaultdict(list)
    for figure in figures:
        by_release[figure.key].append(figure)
    for of_release in by_release.values():
        if len(of_release) <= MOST_REPETITIONS:
            yield from of_release
            continue
        values = [each.amount.value for each in of_release]
        mean, spread = statistics.fmean(values), statistics.stdev(values)
        yield of_release[0]._replace(amount=Amount(repr(mean), mean, spread, len(values)))


def _some(names: Sequence[str]) -> str:
    more = len(names) - _MOST_NAMED
    return listed(names[:_MOST_NAMED]) + (f" and {more:,} more" if more > 0 else "")


def _metric_names(names: Iterable[str]) -> dict[str, str]:
    """Return a metric's name for each name of a file."""
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name in names:
        slug = re.sub(r"[^a-z0-9]+", "_", name.casefold()).strip("_")
        slug = slug if slug[:1].isalpha() else f"m_{slug}"
        if len(slug) > _LONGEST_NAME or slug in taken:
            mark = hashlib.sha256(name.encode()).hexdigest()[:6]
            slug = f"{slug[: _LONGEST_NAME - 7]}_{mark}"
        taken.add(slug)
        found[name] = slug
    return found


def _direction(
    name: str,
    unit: str,
    told: Direction | None,
    better: Direction | None,
    known: Known | None,
    guessed: defaultdict[str, list[str]],
) -> Direction:
    if better or told or known:
        return better or told or (known.direction if known else "lower")
    words, measured = f" {plain_name(name)} ", unit.casefold()
    if measured.endswith(("/s", "per second", "ps")) or any(word in words for word in _HIGHER):
        direction: Direction = "higher"
        why = ""
    elif measured in _SECONDS or measured in _BYTES or any(word in words for word in _LOWER):
        direction, why = "lower", ""
    else:
        direction, why = "lower", ", since neither name nor unit tells"
    guessed[f"{direction}|{why}"].append(name)
    return direction


def _converted(figure: OwnFigure, unit: str) -> Amount:
    """Return the amount of a figure in the unit of its metric."""
    own = figure.unit or unit
    if own == unit:
        return figure.amount
    for kind in (_SECONDS, _BYTES):
        if {own.casefold(), unit.casefold()} <= kind.keys():
            factor = kind[own.casefold()] / kind[unit.casefold()]
            value, spread = figure.amount.value * factor, figure.amount.spread
            return Amount(
                f"{value:.12g}",
                value,
                None if spread is None else spread * factor,
                figure.amount.samples,
            )
    sentence = f"the unit of {figure.metric} is {shown(own)}; expected {unit}"
    raise refused_at(figure.line, sentence)


def stored_version(text: str) -> str:
    """Return a version in the characters that stored versions have; raise ValueError for none."""
    version = _VERSION.sub("-", re.sub(r"^v(?=[0-9])", "", text)).strip(".+_-")[:_LONGEST_VERSION]
    if not version:
        raise ValueError(f"{shown(text)} is not a version; expected one such as 0.11.0")
    return version


class _Columns(NamedTuple):
    version: int | None
    day: int | None
    names: Sequence[int]
    """The columns whose texts name a metric."""
    unit: int | None
    values: Sequence[int]
    labels: Mapping[str, int]
    """The columns that tell figures of a metric apart, by the name of the label."""
    machine: Mapping[str, int]
    """The columns of facts of the machine."""
    left_out: Sequence[str]
    """The headings of the other columns."""


def own_tables(tables: Sequence[PageTable], wishes: Wishes, today: date) -> Iterator[OwnFigure]:
    """Yield the figures of tables with any headings, in the order of the file.

    Raises
    ------
    Refused
        If no table has a version or a day and a column of figures.

    """
    read = [(table, columns) for table in tables if (columns := _columns(table, wishes)).values]
    if not read:
        for table in tables:
            _check_figures(table, wishes)
        headings = listed(shown(text) for table in tables for text in table.headings)
        raise Refused(
            "FILE: no table has a version or a day, and figures; expected headings such as "
            f"Version, Date and a metric{headings and f', and not {headings}'}"
        )
    point = decimal_point(_cells(read), wishes.point)
    for table, columns in read:
        yield from _of_table(table, columns, wishes, point, today)


def _check_figures(table: PageTable, wishes: Wishes) -> None:
    """Refuse the first text that looks like a figure in a table of releases without figures."""
    columns = _columns(table, wishes)
    if columns.version is None and columns.day is None and wishes.version is None:
        return
    used = {columns.version, columns.day, columns.unit, *columns.machine.values()}
    for row in table.rows:
        for column, text in enumerate(row.cells):
            if column not in used and not is_figure(text) and _MEANT.match(text):
                name = table.headings[column]
                raise refused_at(
                    row.line,
                    f"{name}: {shown(text)} is not a figure; expected a number alone, and its unit "
                    f"in the heading, as in {name} (ms)",
                )


def _cells(read: Sequence[tuple[PageTable, _Columns]]) -> Iterator[str]:
    return cells((table, columns.values) for table, columns in read)


def _columns(table: PageTable, wishes: Wishes) -> _Columns:
    names = [plain_name(heading_parts(heading)[0]) for heading in table.headings]
    ignored = {plain_name(heading) for heading in wishes.left_out}
    wanted = {plain_name(heading) for heading in wishes.labels}
    version = _first(names, _OWN_VERSIONS)
    day = _first(names, _OWN_DAYS)
    unit = _first(names, _UNITS)
    others = [
        column
        for column, name in enumerate(names)
        if column not in (version, day, unit) and name not in ignored
    ]
    machine = {
        _MACHINES[names[column]]: column
        for column in others
        if names[column] in _MACHINES.keys() - wanted
        and (names[column] in _COUNTED or not _has_figures(table, column))
    }
    others = [column for column in others if column not in machine.values()]
    numbers = [
        column for column in others if names[column] not in wanted and _has_figures(table, column)
    ]
    texts = [column for column in others if column not in numbers and names[column] in _NAMES]
    if version is None and day is None and wishes.version is None:
        numbers = []
    place = [column for column in (version, day) if column is not None]
    labels = {
        _label(names[column]): column
        for column in others
        if column not in {*numbers, *texts}
        and (
            names[column] in wanted
            or (names[column] in _BRANCHES and len({row.cells[column] for row in table.rows}) > 1)
            or _tells_apart(table, column, [*place, *texts])
        )
    }
    used = {version, day, unit, *numbers, *texts, *labels.values(), *machine.values()}
    left = [heading for column, heading in enumerate(table.headings) if column not in used]
    return _Columns(version, day, texts, unit, numbers, labels, machine, left)


def _label(name: str) -> str:
    label = name.replace(" ", "_")
    return f"{label}_label" if label in NO_AXES else label


def _tells_apart(table: PageTable, column: int, place: Sequence[int]) -> bool:
    """Tell whether the texts of a column tell rows of a release apart, each in many releases."""
    releases: defaultdict[object, list[str]] = defaultdict(list)
    for row in table.rows:
        releases[tuple(row.cells[each] for each in place)].append(row.cells[column])
    several = [texts for texts in releases.values() if len(texts) > 1]
    known = {text for texts in several for text in texts}
    return (
        1 < len(known) <= _MOST_LABELS
        and 2 * len(known) <= len(table.rows)
        and all(len({*texts}) > 1 for texts in several)
    )


def _first(names: Sequence[str], wanted: set[str]) -> int | None:
    return next((column for column, name in enumerate(names) if name in wanted), None)


def _has_figures(table: PageTable, column: int) -> bool:
    """Tell whether a column has figures and missing cells alone, and one figure at least."""
    cells = [row.cells[column] for row in table.rows]
    there = [cell for cell in cells if not is_missing(cell)]
    return bool(there) and all(map(is_figure, there))


def readings_of(tables: Sequence[PageTable], wishes: Wishes) -> Iterator[str]:
    """Yield what the reader decided of tables: labels, machines, and versions under other names.

    Raises
    ------
    Refused
        If two versions would have one name, or no table has a label that the user names.

    """
    read = [(table, _columns(table, wishes)) for table in tables]
    headings = {plain_name(text) for table in tables for text in table.headings}
    for heading in wishes.labels:
        if plain_name(heading) not in headings:
            raise Refused(f"--label: no table of FILE has the heading {shown(heading)}")
    for table, columns in read:
        for label, column in columns.labels.items():
            texts = dict.fromkeys(row.cells[column] for row in table.rows)
            yield f"label {label}: {_some(list(texts))}; --leave-out takes rows as trials instead"
        if columns.machine:
            facts = listed(shown(table.headings[column]) for column in columns.machine.values())
            yield f"machine: {facts}"
    yield from _renamed(
        row.cells[columns.version]
        for table, columns in read
        if columns.values and columns.version is not None
        for row in table.rows
    )


def _renamed(versions: Iterable[str]) -> Iterator[str]:
    """Yield which versions are stored under another name, as stored versions lack a character."""
    texts: defaultdict[str, dict[str, None]] = defaultdict(dict)
    for text in versions:
        texts[stored_version(text) if text else ""][re.sub(r"^v(?=[0-9])", "", text)] = None
    for name, of_name in texts.items():
        if len(of_name) > 1:
            raise Refused(f"FILE: the versions {listed(map(shown, of_name))} would both be {name}")
    changed = [f"{text} is {name}" for name, (text, *_) in texts.items() if text != name]
    if changed:
        count = plural(len(changed), "version")
        yield f"stored versions have letters, digits and .+_- alone, so {count}: {_some(changed)}"


def left_out_of(tables: Sequence[PageTable], wishes: Wishes) -> Iterator[str]:
    """Yield what of tables with any headings gives no figure."""
    read = [(table, _columns(table, wishes)) for table in tables]
    headings = dict.fromkeys(
        heading for _, columns in read if columns.values for heading in columns.left_out
    )
    if headings:
        named = listed(map(shown, headings))
        yield f"{plural(len(headings), 'column')} without figures, {named}"
    yield from without_figure(_cells(read))
    if none := [table.line for table, columns in read if not columns.values]:
        yield f"{plural(len(none), 'table')} without figures, in lines {listed(none)}"


def _of_table(
    table: PageTable, columns: _Columns, wishes: Wishes, point: Point | None, today: date
) -> Iterator[OwnFigure]:
    order = None
    if columns.day is not None:
        days = (Day(row.cells[columns.day], row.line) for row in table.rows)
        order = order_of(days, wishes.order)
    headings = [
        (name, unit or _last_word(name)) for name, unit in map(heading_parts, table.headings)
    ]
    for row in table.rows:
        version = _version(row, columns, wishes)
        day = _day(row, columns, wishes, version, today, order)
        of_row = " ".join(row.cells[column] for column in columns.names)
        labels = _labels(row, columns)
        machine = tuple((fact, row.cells[column]) for fact, column in columns.machine.items())
        for column in columns.values:
            text = row.cells[column]
            if is_missing(text):
                continue
            name, unit = headings[column]
            if of_row:
                name = of_row if len(columns.values) == 1 else f"{of_row} {name}"
            if columns.unit is not None:
                unit = row.cells[columns.unit]
            with in_line(row.line, f"{name}: "):
                read = amount(text, unit, point)
            yield OwnFigure(
                version, day, name, unit, None, read, row.line, labels=labels, environment=machine
            )


def _last_word(name: str) -> str:
    """Return the unit at the end of a name such as ``p99_ms``, '' for none."""
    *before, last = re.split(r"[\s_.-]+", name.strip())
    return last if before and last.casefold() in _LAST_WORDS and before[-1] != "per" else ""


def _version(row: TableRow, columns: _Columns, wishes: Wishes) -> str:
    if columns.version is None:
        if wishes.version is not None:
            return wishes.version
        # A nightly figure has no other name than its day.
        assert columns.day is not None  # a table without both has no figures
        return stored_version(row.cells[columns.day])
    with in_line(row.line):
        return stored_version(row.cells[columns.version])


def _labels(row: TableRow, columns: _Columns) -> tuple[tuple[str, str], ...]:
    try:
        return tuple(
            (label, stored_version(row.cells[column]) if row.cells[column] else "none")
            for label, column in columns.labels.items()
        )
    except ValueError as error:
        raise refused_at(row.line, str(error).replace("no version", "no label")) from None


def _day(
    row: TableRow,
    columns: _Columns,
    wishes: Wishes,
    version: str,
    today: date,
    order: Literal["day-first", "month-first"] | None,
) -> date:
    if columns.day is not None:
        return day_of(Day(row.cells[columns.day], row.line), order)
    if wishes.tested_on:
        return wishes.tested_on
    if found := _ISO_DAY.search(version):
        try:
            return date(*map(int, found.groups()))
        except ValueError:
            return today
    return today
