"""From the rows of the log queries to the rates and samples of a test."""

from __future__ import annotations

import json
import math
import re
import statistics
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from lambdas.results import Rate, Sample, TaskResult
from suites.model import Metric

Row = Mapping[str, str]
# One per picosecond: what is above it is a fault of units or of counting, whatever it measures.
_FASTEST = 1e12
# How far the clock of a task may be from that of ECS.
_CLOCK_SECONDS = 1.0


class MetricRows:
    """The rows that the two queries of one metric gave, of the trial's own streams only."""

    def __init__(
        self,
        metric: Metric,
        rate_rows: Sequence[Row],
        sample_rows: Sequence[Row],
        streams: set[str],
    ) -> None:
        self.metric = metric
        self.rates = {row["@logStream"]: row for row in rate_rows if row["@logStream"] in streams}
        self.samples = [row for row in sample_rows if row["@logStream"] in streams]

    def lines(self, stream: str) -> tuple[int, int]:
        """Return the fewest and the most rate lines that the two queries found in a stream."""
        counted = int(self.rates.get(stream, {}).get("count(rate)", "0"))
        listed = sum(row["@logStream"] == stream for row in self.samples)
        return min(counted, listed), max(counted, listed)

    def twice(self, stream: str) -> list[str]:
        """Return the jobs of which a stream has more than one rate line."""
        jobs = Counter(
            row["job"] for row in self.samples if row["@logStream"] == stream and "job" in row
        )
        return [job for job, lines in jobs.items() if lines > 1]


def missing(
    rows: Sequence[MetricRows], tasks: Sequence[TaskResult], streams: Mapping[str, str], jobs: int
) -> list[str]:
    """Return, for each task that ended well and has not logged all its rates, what it lacks."""
    lacking = []
    for task in tasks:
        if task.status != "ok" or task.task_id is None:
            continue
        for metric in rows:
            found, _ = metric.lines(streams[task.task_id])
            if found < jobs:
                lacking.append(
                    f"task {task.index} ({task.task_id}) logged {found} of {jobs} "
                    f"lines of {metric.metric.name}"
                )
    return lacking


def surplus(
    rows: Sequence[MetricRows], tasks: Sequence[TaskResult], streams: Mapping[str, str], jobs: int
) -> list[str]:
    """Return, for each task that logged a rate twice, what there is too much of."""
    found = []
    for task in tasks:
        if task.task_id is None:
            continue
        for metric in rows:
            said = f"task {task.index} ({task.task_id}) logged"
            _, most = metric.lines(streams[task.task_id])
            if most > jobs:
                found.append(f"{said} {most} lines of {metric.metric.name}, not {jobs}")
            found += [
                f"{said} job {job} twice in {metric.metric.name}"
                for job in metric.twice(streams[task.task_id])
            ]
    return found


def impossible(
    rows: MetricRows, tasks: Sequence[TaskResult], streams: Mapping[str, str]
) -> list[str]:
    """Return the values per second that cannot be one, each once, with its task and the reason.

    They are in order of the tasks. Values of other units may be any number.
    """
    if not rows.metric.unit.endswith("/s"):
        return []
    by_stream = {streams[task.task_id]: task for task in tasks if task.task_id}
    logged = [(by_stream[sample.log_stream], sample) for sample in samples(rows)]
    found = [
        f"task {task.index} ({task.task_id}) logged {sample.value:g} {rows.metric.unit} of "
        f"{sample.metric}, {why}"
        for task, sample in sorted(logged, key=lambda pair: pair[0].index)
        if (why := _why_impossible(sample, task))
    ]
    return list(dict.fromkeys(found))


def _why_impossible(sample: Sample, task: TaskResult) -> str | None:
    if sample.value is None:
        return None
    if sample.value <= 0:
        return "which is no rate"
    if sample.value > _FASTEST:
        return "which no machine does"
    longest = task.seconds + _CLOCK_SECONDS
    if task.started_at and sample.records and sample.records / sample.value > longest:
        return f"at which {sample.records} records take longer than the task ran"
    return None


def samples(rows: MetricRows) -> list[Sample]:
    """Return the rate lines of one metric, as logged."""
    return [
        Sample(
            metric=rows.metric.name,
            log_stream=row["@logStream"],
            logged_at=row["@timestamp"],
            job=row.get("job"),
            value_text=row["rate"],
            value=_finite(row["rate"]),
            records=int(row["records"]) if "records" in row else None,
            seconds=_finite(row["seconds"]) if "seconds" in row else None,
        )
        for row in rows.samples
    ]


def rate(rows: MetricRows, *, expected: int, whole: bool) -> Rate:
    """Return the mean of a metric's samples: the sum of avg times n over the sum of n by stream.

    ``whole`` tells whether every task did all its work: half a test has samples and no rate.
    """
    streams = list(rows.rates.values())
    counts = [int(row["count(number)"]) for row in streams]
    logged = samples(rows)
    finite = [sample for sample in logged if sample.value is not None]
    values = [sample.value for sample in finite if sample.value is not None]
    total = sum(counts)
    # count(rate) also counts what was logged in a rate's place and is no number: ∞, NaN.
    not_numbers = sum(int(row["count(rate)"]) for row in streams) - total
    not_finite = max(not_numbers, len(logged) - len(finite))
    mean = None
    if whole and total == expected and not_finite == 0:
        weighted = (
            float(row["avg(number)"]) * count
            for row, count in zip(streams, counts, strict=True)
            if count
        )
        mean = math.fsum(weighted) / total
    records = [sample.records for sample in finite]
    return Rate(
        metric=rows.metric.name,
        unit=rows.metric.unit,
        direction=rows.metric.direction,
        value=mean,
        samples=total,
        expected=expected,
        not_finite=not_finite,
        stddev=statistics.stdev(values) if len(values) > 1 else None,
        min=min(values, default=None),
        max=max(values, default=None),
        records=sum(filter(None, records)) if records and None not in records else None,
    )


def environments(rows: Sequence[Row], streams: Iterable[str]) -> dict[str, dict[str, Any]]:
    """Return what the task of each log stream logged of its machine."""
    own = set(streams)
    return {
        row["@logStream"]: _environment(row["environment"])
        for row in rows
        if row["@logStream"] in own and "environment" in row
    }


def different(logged: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return each different environment once."""
    found = {json.dumps(environment, sort_keys=True): environment for environment in logged}
    return [found[text] for text in sorted(found)]


def _environment(text: str) -> dict[str, Any]:
    """Return an environment line's object; a line that is none costs no measurement."""
    try:
        logged = json.loads(text)
    except (ValueError, RecursionError):
        logged = None
    return logged if isinstance(logged, dict) else {"unreadable": text}


def _finite(text: str) -> float | None:
    """Return the number that the rate queries take a text for, too; None for any other text."""
    number = float(text) if re.fullmatch(r"\d+(\.\d+)?", text) else math.inf
    # Of some three hundred digits, too, becomes an infinity.
    return number if math.isfinite(number) else None
