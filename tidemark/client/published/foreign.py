"""Files that other benchmark tools write, recognised by their content.

Each reader yields the figure of every trial that the file has, with the tool's own unit.
"""

from __future__ import annotations

import csv
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime
from runpy import run_path
from typing import Any, NamedTuple

from tidemark.client.published.own_figures import Direction, OwnFigure, stored_version
from tidemark.client.published.release_figure import Amount, Environment
from tidemark.client.published.release_tables import Wishes
from tidemark.model.refusal import Refused
from tidemark.model.task import HARNESS

_Json = Any
# Where a test's command runs, nothing of Tidemark is installed but the harness.
_HARNESS = run_path(str(HARNESS / "harness" / "benchmarks.py"))
_figures_of: Callable[[_Json], Iterator[Any]] = _HARNESS["figures"]
_is_of: Mapping[str, Callable[[_Json], bool]] = {
    tool: is_its for tool, (is_its, _) in _HARNESS["TOOLS"].items()
}
_DATA = re.compile(r"^\s*window\.BENCHMARK_DATA\s*=\s*")
_NEWEST = "local"
_OWN_TREND = re.compile(r"(?:http_req|grpc_req|iteration|group|ws|browser)_")
_RATE = re.compile(r"^ops|ops$|per second$|/(?:[nuμm]?s|sec|second|min|h)$")
_COST = re.compile(r"error|fail|timeout|alloc|miss")
# The tools of github-action-benchmark that tell the better direction of all their figures.
_BETTER: Mapping[str, Direction] = {
    "customBiggerIsBetter": "higher", "customSmallerIsBetter": "lower",
    "benchmarkjs": "higher", "pytest": "higher",
}  # fmt: skip
_LOCUST = ("Type", "Name", "Request Count", "Failure Count")


class Foreign(NamedTuple):
    """A file of another tool."""

    tool: str
    figures: Sequence[OwnFigure]
    note: str
    """A sentence on the trials, for people who compare versions, or ''."""


class _Place(NamedTuple):
    """The version and day of figures whose file names neither."""

    version: str
    day: date
    environment: Environment = ()


_Reader = Callable[[_Json, _Place], Iterator[OwnFigure]]


def foreign(text: str, wishes: Wishes, today: date) -> Foreign | None:
    """Return the figures of a tool's file, None for any other file.

    Raises
    ------
    Refused
        If the file is one of a tool, but broken.

    """
    if text.lstrip("\ufeff \r\n").startswith(",".join(_LOCUST)):
        return _read("Locust", _locust, text, wishes, today, "")
    body, is_script = _DATA.subn("", text.lstrip("\ufeff"))
    body = body.rstrip().removesuffix(";")
    if body.lstrip()[:1] not in {"{", "["}:
        return None
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        if is_script:
            raise Refused("FILE: the file of github-action-benchmark is broken: no JSON") from None
        return None
    for tool, (is_its, reader, note) in _TOOLS.items():
        if is_its(value):
            return _read(tool, reader, value, wishes, today, note)
    return None


def _read(
    tool: str, reader: _Reader, value: _Json, wishes: Wishes, today: date, note: str
) -> Foreign:
    place = _Place(wishes.version or _NEWEST, wishes.tested_on or today)
    try:
        figures = list(reader(value, place))
    except (KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError) as error:
        lacking = f"{type(error).__name__} {error}"
        raise Refused(f"FILE: the file of {tool} is broken: {lacking}") from None
    if not figures:
        raise Refused(f"FILE: the file of {tool} has no figures")
    if wishes.version is None and any(each.version == _NEWEST for each in figures):
        raise Refused(f"FILE: a file of {tool} has no version; name it with --version")
    return Foreign(tool, figures, note)


def _figure(
    place: _Place,
    metric: str,
    value: float,
    unit: str,
    direction: Direction = "lower",
    samples: int = 0,
) -> Iterator[OwnFigure]:
    number = float(value)
    metric, unit = (" ".join(text.split()) for text in (metric, unit))
    if math.isfinite(number):
        amount = Amount(repr(value), number, None, samples)
        yield OwnFigure(
            place.version, place.day, metric, unit, direction, amount, 1,
            environment=place.environment,
        )  # fmt: skip


def _environment(**facts: object) -> Environment:
    """Return the facts of a machine that a file has."""
    return tuple((name, str(value)) for name, value in facts.items() if value)


def _harness(value: _Json, place: _Place) -> Iterator[OwnFigure]:
    """Yield the figures of a file that the harness reads after a run of its tool, too."""
    for one in _figures_of(value):
        better: Direction = "higher" if one.more_is_better else "lower"
        yield from _figure(place, one.name, one.value, one.unit, better, samples=one.samples)


def _google(value: _Json, place: _Place) -> Iterator[OwnFigure]:
    context = value["context"]
    machine = _environment(instance_type=context.get("host_name"), cores=context.get("num_cpus"))
    at = _Place(place.version, _day(context.get("date"), place.day), machine)
    return _harness(value, at)


def _pytest(value: _Json, place: _Place) -> Iterator[OwnFigure]:
    commit = (value.get("commit_info") or {}).get("id")
    version = place.version if place.version != _NEWEST or not commit else commit
    machine, cpu = value["machine_info"], value["machine_info"].get("cpu") or {}
    environment = _environment(
        arch=machine.get("machine"), cores=cpu.get("count"), cpu_model=cpu.get("brand_raw"),
        instance_type=machine.get("node"),
    )  # fmt: skip
    day = _day(value.get("datetime"), place.day)
    return _harness(value, _Place(stored_version(version), day, environment))


def _asv(value: _Json, place: _Place) -> Iterator[OwnFigure]:
    """Source: asv, "asv results": one file a commit, with seconds by benchmark and parameters."""
    day = datetime.fromtimestamp(value["date"] / 1000, UTC).date()
    machine = value.get("params") or {}
    environment = _environment(
        arch=machine.get("arch"), cores=machine.get("num_cpu"), cpu_model=machine.get("cpu"),
        instance_type=machine.get("machine"),
    )  # fmt: skip
    place = _Place(stored_version(value["commit_hash"]), day, environment)
    columns = value.get("result_columns")
    for name, result in value["results"].items():
        fields = dict(zip(columns, result, strict=False)) if columns else result
        values = fields["result"] if isinstance(fields, dict) else fields
        parameters = (fields.get("params") or []) if isinstance(fields, dict) else []
        names = _combinations(name, parameters)
        for one, number in zip(names, _list(values), strict=False):
            if number is not None:
                yield from _figure(place, one.replace("'", ""), number, _asv_unit(name))


def _asv_unit(name: str) -> str:
    kind = name.rpartition(".")[2]
    return "bytes" if kind.startswith(("mem_", "peakmem_")) else "s" if "time" in kind else "units"


def _list(values: _Json) -> list[Any]:
    return values if isinstance(values, list) else [values]


def _combinations(name: str, parameters: Sequence[Sequence[str]]) -> Iterator[str]:
    """Yield the name of a benchmark with each combination of its parameters, the last one first."""
    if not parameters:
        yield name
        return
    for value in parameters[0]:
        yield from _combinations(f"{name} {value}", parameters[1:])


def _github_action(value: _Json, place: _Place) -> Iterator[OwnFigure]:
    """Source: github-action-benchmark, ``data.js``: one entry a commit."""
    for suite, entries in value["entries"].items():
        for entry in entries:
            day = datetime.fromtimestamp(entry["date"] / 1000, UTC).date()
            at = _Place(stored_version(entry["commit"]["id"]), day)
            known = {bench["name"] for bench in entry["benches"]}
            for bench in entry["benches"]:
                # Go prints several figures in a line, and the tool gives each of them again.
                unit, *others = (bench.get("unit") or "units").split("\t")
                if others and f"{bench['name']} - {unit}" in known:
                    continue
                name = bench["name"] if len(value["entries"]) == 1 else f"{suite} {bench['name']}"
                match = re.fullmatch(r"(.+?)/(?:iter|op)", unit)
                better = _BETTER.get(entry.get("tool", "")) or _by_unit(unit)
                yield from _figure(at, name, bench["value"], match[1] if match else unit, better)


def _by_unit(unit: str) -> Direction:
    folded = unit.casefold()  # which makes the micro sign a Greek letter
    return "higher" if _RATE.search(folded) and not _COST.search(folded) else "lower"


def _k6(value: _Json, place: _Place) -> Iterator[OwnFigure]:
    """Source: k6, ``--summary-export`` and ``handleSummary``."""
    for name, metric in value["metrics"].items():
        values = metric.get("values", metric)
        # A summary that is exported does not say which trends are times: its own all are.
        is_time = metric.get("contains") == "time" or _OWN_TREND.match(name) is not None
        if "avg" in values:
            for statistic, number in values.items():
                if isinstance(number, int | float) and statistic not in {"min", "max"}:
                    unit = "ms" if is_time else "units"
                    yield from _figure(place, f"{name} {statistic}", number, unit)
        elif "rate" in values and "count" in values:
            unit = "B/s" if name.startswith("data_") else "1/s"
            yield from _figure(place, f"{name} rate", values["rate"], unit, "higher")
        elif "fails" in name or "failed" in name:
            yield from _figure(place, name, values.get("rate", values.get("value")), "share")


def _criterion(value: _Json, place: _Place) -> Iterator[OwnFigure]:
    """Source: Criterion.rs, ``estimates.json`` [ns] and ``sample.json``."""
    if "times" in value:
        for count, nanoseconds in zip(value["iters"], value["times"], strict=True):
            yield from _figure(place, "time", nanoseconds / count, "ns")
        return
    yield from _figure(place, "time", value["mean"]["point_estimate"], "ns")


def _locust(text: str, place: _Place) -> Iterator[OwnFigure]:
    """Source: Locust, ``--csv``: the file of statistics."""
    for row in csv.DictReader(text.lstrip("\ufeff").splitlines()):
        name = " ".join(filter(None, (row["Type"], row["Name"])))
        columns: Sequence[tuple[str, str, Direction]] = (
            ("Average Response Time", "ms", "lower"),
            ("50%", "ms", "lower"),
            ("95%", "ms", "lower"),
            ("99%", "ms", "lower"),
            ("Requests/s", "requests/s", "higher"),
            ("Failures/s", "failures/s", "lower"),
        )
        for column, unit, better in columns:
            if row[column] not in {"", "N/A"}:
                yield from _figure(place, f"{name} {column}", float(row[column]), unit, better)


def _day(text: str | None, otherwise: date) -> date:
    return datetime.fromisoformat(text).date() if text else otherwise


def _is(*names: str) -> Callable[[_Json], bool]:
    return lambda value: isinstance(value, Mapping) and {*names} <= {*value}


_NO_PAIRS = "its runs are not pairs: versions are compared as trials that ran one after the other"
_TOOLS: Mapping[str, tuple[Callable[[_Json], bool], _Reader, str]] = {
    "hyperfine": (_is_of["hyperfine"], _harness, _NO_PAIRS),
    "google-benchmark": (_is_of["google-benchmark"], _google, _NO_PAIRS),
    "pytest-benchmark": (_is_of["pytest-benchmark"], _pytest, _NO_PAIRS),
    "asv": (_is("commit_hash", "results", "date"), _asv, ""),
    "github-action-benchmark": (_is("entries", "lastUpdate"), _github_action, ""),
    "k6": (_is("metrics", "root_group"), _k6, ""),
    "JMH": (_is_of["JMH"], _harness, _NO_PAIRS),
    "Criterion": (
        lambda value: _is("mean", "median", "std_dev")(value) or _is("iters", "times")(value),
        _criterion,
        "",
    ),
}
TOOLS = (*_TOOLS, "Locust")
"""The tools whose files are read."""
