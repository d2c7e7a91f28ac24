"""Files of results that benchmark tools write as JSON.

The module imports nothing of the harness: ``tidemark import`` reads the same files by it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from math import isfinite
from typing import Any, NamedTuple


class Figure(NamedTuple):
    """A figure of one run, repetition, round or fork of a benchmark."""

    name: str
    value: float
    unit: str
    more_is_better: bool = False
    samples: int = 0
    """The number of iterations that it is the mean of; 0 if the file does not say."""


_SECONDS = {
    "ns": (1, 10**9), "us": (1, 10**6), "ms": (1, 1000), "s": (1, 1),
    "min": (60, 1), "hr": (3600, 1), "day": (86400, 1),
}  # fmt: skip
"""The units of time of google-benchmark and JMH, as a quotient of whole numbers [s]."""


def figures(value: Any) -> Iterator[Figure]:  # noqa: ANN401 (any JSON)
    """Yield the finite figures of a file of one of the tools.

    Raises
    ------
    KeyError, TypeError, ValueError, AttributeError, IndexError, ArithmeticError
        If the file is broken, or a run in it failed.
    """
    found = next((read for is_its, read in TOOLS.values() if is_its(value)), None)
    if found is None:
        raise ValueError("no tool writes such a file")
    for each in found(value):
        # JMH writes NaN as a text.
        number = float(each.value) if isinstance(each.value, str) else each.value
        if isfinite(number):
            yield each._replace(value=number)


def in_base_unit(figure: Figure) -> tuple[float, str]:
    """Return a time in s, and a rate for each s, so that one form of a line reads a whole file.

    The benchmarks of a file may have units of their own.
    """
    amount, per, unit = figure.unit.rpartition("/")
    if unit not in _SECONDS:
        return figure.value, figure.unit
    times, parts = _SECONDS[unit]
    # 1e-9 is not an exact float: a quotient of whole numbers keeps the last digit right.
    if per:
        return figure.value * parts / times, f"{amount}/s"
    return figure.value * times / parts, "s"


def _hyperfine(value: Any) -> Iterator[Figure]:  # noqa: ANN401
    """Source: hyperfine, ``--export-json``: seconds of each run."""
    for result in value["results"]:
        name = _with_parameters(result["command"], result.get("parameters"))
        # With --ignore-failure hyperfine times a command that crashes; a signal gives null.
        if failed := [code for code in result.get("exit_codes") or [] if code != 0]:
            raise ValueError(f"{name!r} failed with exit code {failed[0]}; expected 0 of each run")
        for seconds in result.get("times") or [result["mean"]]:
            yield Figure(name, seconds, "s")


def _google(value: Any) -> Iterator[Figure]:  # noqa: ANN401
    """Source: google-benchmark, ``--benchmark_format=json``: one entry a repetition."""
    for entry in value["benchmarks"]:
        is_skipped = entry.get("error_occurred") or entry.get("skipped")
        if entry.get("run_type", "iteration") == "iteration" and not is_skipped:
            name = entry.get("run_name", entry["name"])
            yield Figure(name, entry["real_time"], entry.get("time_unit", "ns"))
            for rate, unit in (("items_per_second", "items/s"), ("bytes_per_second", "B/s")):
                if rate in entry:
                    yield Figure(f"{name} {rate}", entry[rate], unit, more_is_better=True)


def _pytest(value: Any) -> Iterator[Figure]:  # noqa: ANN401
    """Source: pytest-benchmark, ``--benchmark-json``: seconds of each round."""
    for entry in value["benchmarks"]:
        stats = entry["stats"]
        for seconds in stats.get("data") or [stats["mean"]]:
            yield Figure(entry.get("fullname", entry["name"]), seconds, "s")


def _jmh(value: Any) -> Iterator[Figure]:  # noqa: ANN401
    """Source: JMH, ``-rf json``: the raw data have a list of iterations for each fork."""
    for entry in value:
        primary = entry["primaryMetric"]
        unit = primary["scoreUnit"].removesuffix("/op")
        name = _with_parameters(entry["benchmark"], entry.get("params"))
        for fork in primary.get("rawData") or [[primary["score"]]]:
            mean, higher = sum(map(float, fork)) / len(fork), entry["mode"] == "thrpt"
            yield Figure(name, mean, unit, more_is_better=higher, samples=len(fork))


def _with_parameters(name: str, parameters: Mapping[str, Any] | None) -> str:
    return " ".join([name, *(f"{key}={value}" for key, value in (parameters or {}).items())])


def _has(value: Any, *names: str) -> bool:  # noqa: ANN401
    return isinstance(value, dict) and {*names} <= {*value}


def _is_hyperfine(value: Any) -> bool:  # noqa: ANN401
    results = value.get("results") if isinstance(value, dict) else None
    return isinstance(results, list) and all(_has(each, "command") for each in results)


def _is_jmh(value: Any) -> bool:  # noqa: ANN401
    entries = value if isinstance(value, list) else []
    return bool(entries) and all(
        _has(each, "benchmark", "mode", "primaryMetric") for each in entries
    )


TOOLS: Mapping[str, tuple[Callable[[Any], bool], Callable[[Any], Iterator[Figure]]]] = {
    "hyperfine": (_is_hyperfine, _hyperfine),
    "google-benchmark": (lambda value: _has(value, "context", "benchmarks"), _google),
    "pytest-benchmark": (lambda value: _has(value, "machine_info", "benchmarks"), _pytest),
    "JMH": (_is_jmh, _jmh),
}
"""Whether a file is one of a tool, and the reader of its figures, by the name of the tool."""
