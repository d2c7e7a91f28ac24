"""The rates and samples of a test, from the rows of its log queries."""

from __future__ import annotations

import math
import re
import statistics
from collections import Counter
from collections.abc import Mapping, Sequence

from tidemark.model.refusal import Refused
from tidemark.model.results import Rate, Sample, TaskResult
from tidemark.model.sentences import shortened, shown
from tidemark.model.suite import Metric

Row = Mapping[str, str]
RATE_COLUMNS = ("@logStream", "value", "n")
"""The columns of a metric's query: a mean and the number of finite values in it, by log stream."""
SAMPLE_COLUMNS = ("@timestamp", "@logStream", "value")
"""The columns of a metric's samples: each value as its line has it."""
MORE_SAMPLE_COLUMNS = ("job", "records", "seconds")
"""The columns that samples may have, too."""
# One per picosecond: a greater rate of anything is an error of units or of counting.
_FASTEST = 1e12
_LONGEST_TEXT = 200  # [B]; a system may log a job or a value of any length
# The largest accepted difference between the clocks of a task and of ECS.
_CLOCK_SECONDS = 1.0


class MetricRows:
    """The rows of the two queries of one metric, over the trial's own streams.

    Raises
    ------
    Refused
        If a row's mean or number of values is no number.

    """

    def __init__(
        self, metric: Metric, rate_rows: Sequence[Row], sample_rows: Sequence[Row]
    ) -> None:
        self.metric = metric
        self.means = {row["@logStream"]: _mean(metric, row) for row in rate_rows}
        self.samples = sample_rows

    def lines(self, stream: str) -> tuple[int, int]:
        """Return the fewest and the most rate lines that the two queries found in a stream.

        The query of the metric counts only lines with a finite number.
        """
        texts = [row["value"] for row in self.samples if row["@logStream"] == stream]
        listed, not_finite = len(texts), sum(_finite(text) is None for text in texts)
        _, n = self.means.get(stream, (0.0, 0))
        counted = n if n > listed else min(listed, n + not_finite)
        return min(counted, listed), max(counted, listed)

    def repeated_jobs(self, stream: str) -> list[str]:
        """Return the jobs with more than one rate line in a stream."""
        jobs = Counter(
            row["job"] for row in self.samples if row["@logStream"] == stream and "job" in row
        )
        return [job for job, lines in jobs.items() if lines > 1]


def missing(
    rows: Sequence[MetricRows], tasks: Sequence[TaskResult], streams: Mapping[str, str], jobs: int
) -> list[str]:
    """Return a sentence for each task that ended well without logging all its rates."""
    lacking = []
    for task in tasks:
        if task.status != "ok" or task.task_id is None:
            continue
        for metric in rows:
            fewest, _ = metric.lines(streams[task.task_id])
            if fewest < jobs:
                lacking.append(
                    f"task {task.index} ({task.task_id}) logged {fewest} of {jobs} "
                    f"lines of {metric.metric.name}"
                )
    return lacking


def surplus(
    rows: Sequence[MetricRows], tasks: Sequence[TaskResult], streams: Mapping[str, str], jobs: int
) -> list[str]:
    """Return a sentence for each surplus of rate lines that a task logged."""
    sentences = []
    for task in tasks:
        if task.task_id is None:
            continue
        for metric in rows:
            subject = f"task {task.index} ({task.task_id}) logged"
            _, most = metric.lines(streams[task.task_id])
            if most > jobs:
                sentences.append(f"{subject} {most} lines of {metric.metric.name}, not {jobs}")
            sentences += [
                f"{subject} job {job} twice in {metric.metric.name}"
                for job in metric.repeated_jobs(streams[task.task_id])
            ]
    return sentences


def impossible(
    rows: MetricRows, tasks: Sequence[TaskResult], streams: Mapping[str, str]
) -> list[str]:
    """Return a sentence for each impossible rate per second, with its task and the reason.

    The sentences are in the order of the tasks, without repeats. Values of other units may be any
    number.
    """
    if not rows.metric.unit.endswith("/s"):
        return []
    by_stream = {streams[task.task_id]: task for task in tasks if task.task_id}
    logged = [(by_stream[sample.log_stream], sample) for sample in samples(rows)]
    sentences = [
        f"task {task.index} ({task.task_id}) logged {sample.value:g} {rows.metric.unit} of "
        f"{sample.metric}, {why}"
        for task, sample in sorted(logged, key=lambda pair: pair[0].index)
        if (why := _why_impossible(sample, task))
    ]
    return list(dict.fromkeys(sentences))


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
            job=shortened(row["job"], _LONGEST_TEXT) if "job" in row else None,
            value_text=shortened(row["value"], _LONGEST_TEXT),
            value=_finite(row["value"]),
            records=int(row["records"]) if "records" in row else None,
            seconds=_finite(row["seconds"]) if "seconds" in row else None,
        )
        for row in rows.samples
    ]


def rate(rows: MetricRows, *, expected: int, whole: bool) -> Rate:
    """Return the mean of a metric's samples: the sum of mean times n over the sum of n by stream.

    ``whole`` tells whether every task did all its work: a partial test has samples and no rate.
    """
    logged = samples(rows)
    finite = [sample for sample in logged if sample.value is not None]
    values = [sample.value for sample in finite if sample.value is not None]
    total = sum(n for _, n in rows.means.values())
    not_finite = len(logged) - len(finite)
    mean = None
    if whole and total == expected and not_finite == 0:
        mean = math.fsum(value * n for value, n in rows.means.values()) / total
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


def _mean(metric: Metric, row: Row) -> tuple[float, int]:
    """Return the mean of a stream, and the number of values in it."""
    n, text = row["n"], row.get("value", "0" if row["n"] == "0" else "nothing")
    try:
        return float(text), int(n)
    except ValueError:
        raise Refused(
            f"{metric.query}.cwli: value {shown(text)} with n {shown(n)} is not accepted; expected "
            "a number and how many values it is the mean of"
        ) from None


def _finite(text: str) -> float | None:
    """Return the number that the rate queries also read from a text, None for any other text."""
    number = float(text) if re.fullmatch(r"\d+(\.\d+)?", text) else math.inf
    # A text of about three hundred digits or more becomes infinity.
    return number if math.isfinite(number) else None
