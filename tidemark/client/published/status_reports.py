"""Sleeper's reports of compaction and ingest jobs, as text and as JSON.

A report gives two averages: the mean of each job's own rate, and the records of all jobs over the
time from the first start to the last finish. Compaction counts the records that it reads, ingest
those that it writes. Splitting compactions, which reports up to 0.20 have, do not count: the
published figure is the average of the standard jobs, which stands below the average of both.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from typing import Any, NamedTuple

from tidemark.client.published.release_figure import (
    Amount,
    ReleaseFigure,
    amount,
    in_line,
    refused_at,
)
from tidemark.model.publication import Publication
from tidemark.model.refusal import Refused
from tidemark.model.sentences import shown

_TITLE = re.compile(r"^(?:(Compaction|Ingest) Job|(?:\w+ )+) ?Status Report\s*$")
_AVERAGE = re.compile(
    r"Average (?:standard )?(compaction|ingest) rate: (\S+) read/s, (\S+) write/s\s*"
)
_RECORDS = ("ROWS", "RECORDS", "LINES")  # since Sleeper 0.32, since 0.18, before
_RUNS = ("jobRuns", "jobRunList")  # since 0.18, before
_UNIT = "records/s"


class Job(NamedTuple):
    """A finished job."""

    records: int
    started_at: datetime
    finished_at: datetime


class JobReport(NamedTuple):
    """A report of the jobs of one kind."""

    kind: str
    """``compaction`` or ``ingest``."""
    line: int
    jobs: Sequence[Job]
    average: str | None = None
    """The mean of each job's own rate as the report prints it; None if it prints none."""
    left_out: int = 0
    """The number of jobs that do not count: they split, failed, or did not finish."""

    @property
    def mean(self) -> Amount:
        """The mean of each job's own rate."""
        if self.average is not None:
            with in_line(self.line, "the average: "):
                return amount(self.average, _UNIT)._replace(samples=len(self.jobs))
        rates = [_rate(self, job.records, job.started_at, job.finished_at) for job in self.jobs]
        return _computed(sum(rates) / len(rates), len(rates))

    @property
    def total(self) -> Amount:
        """The records of all jobs over the time from the first start to the last finish."""
        first, last = min(j.started_at for j in self.jobs), max(j.finished_at for j in self.jobs)
        records = sum(job.records for job in self.jobs)
        return _computed(_rate(self, records, first, last), len(self.jobs))


def _rate(report: JobReport, records: int, start: datetime, finish: datetime) -> float:
    seconds = (finish - start).total_seconds()
    if seconds <= 0:
        raise refused_at(report.line, f"a job took {seconds:g} s, which gives no finite rate")
    return records / seconds


def _computed(value: float, samples: int) -> Amount:
    return Amount(f"{value:,.2f}", value, None, samples)


def report_figures(
    reports: Sequence[JobReport], publication: Publication, version: str | None
) -> Iterator[ReleaseFigure]:
    """Yield both averages of each report.

    Raises
    ------
    Refused
        If a report has no finished job, two reports are of one kind, or the version is not given.

    """
    if version is None:
        raise Refused("FILE: a report has no version; name it with --version")
    for report in reports:
        if sum(report.kind == each.kind for each in reports) > 1:
            raise refused_at(report.line, f"two reports of {report.kind} jobs; expected one")
        if not report.jobs:
            raise refused_at(report.line, f"the report has no finished {report.kind} job")
        day = min(job.started_at for job in report.jobs).date()
        for name, figure in (("rate", report.mean), ("total_rate", report.total)):
            metric = publication.metric(f"{report.kind}_{name}")
            if metric is None:
                sentence = f"{publication.title} has no metric {report.kind}_{name}"
                raise refused_at(report.line, f"{sentence}, which the report gives")
            yield ReleaseFigure(version, day, metric, figure, report.line)


def text_reports(text: str) -> list[JobReport]:
    """Return the reports of jobs in a text; reports of tasks and of other things are left out."""
    reports: list[JobReport] = []
    jobs: list[Job] = []
    headings: list[str] = []
    inside = False
    for line, content in enumerate(text.splitlines(), start=1):
        if title := _TITLE.match(content):
            inside, jobs, headings = title[1] is not None, [], []
            if inside:
                reports.append(JobReport(title[1].lower(), line, jobs))
        elif inside and (average := _AVERAGE.match(content)):
            printed = average[2] if average[1] == "compaction" else average[3]
            reports[-1] = reports[-1]._replace(average=None if printed == "NaN" else printed)
        elif inside and content.startswith("|"):
            cells = [cell.strip() for cell in content.strip().strip("|").split("|")]
            # A row of an old report has no cell for the reasons of a failure.
            row = dict(zip(headings, cells, strict=False))
            if row and (job := _job_of_row(row, reports[-1].kind, line)):
                jobs.append(job)
            elif row:
                reports[-1] = reports[-1]._replace(left_out=reports[-1].left_out + 1)
            headings = headings or cells
    return reports


def other_reports(text: str) -> int:
    """Return the number of reports of tasks and of other things than jobs in a text."""
    titles = (_TITLE.match(line) for line in text.splitlines())
    return sum(title is not None and title[1] is None for title in titles)


def _job_of_row(row: Mapping[str, str], kind: str, line: int) -> Job | None:
    """Return the job of a row, None if it splits, did not finish or had no records."""
    ending = "READ" if kind == "compaction" else "WRITTEN"
    counts = [row[f"{name}_{ending}"] for name in _RECORDS if f"{name}_{ending}" in row]
    if not counts:
        raise refused_at(
            line, f"the report has no column ROWS_{ending}, RECORDS_{ending} or LINES_{ending}"
        )
    times = row.get("START_TIME", ""), row.get("FINISH_TIME", "")
    if row.get("STATE") == "FAILED" or row.get("TYPE") == "SPLIT":
        return None
    if not all(times) or counts[0] in {"", "0"}:
        return None
    return _job(counts[0].replace(",", ""), *times, line)


def _job(records: object, started: str, finished: str, line: int) -> Job:
    """Return a job; ``records`` is a whole number or its digits."""
    try:
        count = int(str(records))
        float(count)
    except (ValueError, OverflowError):
        raise refused_at(line, f"{shown(str(records))} is not a number of records") from None
    try:
        return Job(count, datetime.fromisoformat(started), datetime.fromisoformat(finished))
    except ValueError:
        raise refused_at(line, f"{shown(started)} or {shown(finished)} is not a time") from None


def json_report(value: Any) -> JobReport:  # noqa: ANN401 (any JSON)
    """Return the report of a JSON document: a list of compaction jobs, or an object of ingest jobs.

    Raises
    ------
    Refused
        If the document is neither.

    """
    jobs = value.get("jobList") if isinstance(value, dict) else value
    kind = "ingest" if isinstance(value, dict) else "compaction"
    if not isinstance(jobs, list) or not all(isinstance(job, dict) for job in jobs):
        raise Refused("FILE: the JSON is not a report; expected Sleeper's report of jobs")
    # Reports of tasks are lists, too.
    if kind == "compaction" and not all({*_RUNS} & {*job} for job in jobs):
        raise Refused("FILE: the JSON is not a report of compaction jobs: a job has no runs")
    runs = [None if _splits(job) else run for job in jobs for run in _runs(job) or [None]]
    found = [job for run in runs if run is not None and (job := _job_of_run(run, kind))]
    return JobReport(kind, 1, found, left_out=len(runs) - len(found))


def _runs(job: Mapping[str, Any]) -> list[Any]:
    runs: object = next((job[name] for name in _RUNS if name in job), None)
    return runs if isinstance(runs, list) else []


def _splits(job: Mapping[str, Any]) -> bool:
    """Tell whether a job splits its partition: Sleeper up to 0.20 names the new partitions."""
    created = job.get("createdStatus")
    return isinstance(created, dict) and bool(created.get("childPartitionIds"))


def _job_of_run(run: object, kind: str) -> Job | None:
    """Return the job of a run, None if it lacks a time, failed or had no records.

    The times and counts stand in different places in different versions of Sleeper.
    """
    found: dict[str, Any] = {}
    for name, value in _entries(run):
        found.setdefault(name, value)
    ending = "Read" if kind == "compaction" else "Written"
    names = ("rows", "records", "lines")
    counts = [found[f"{name}{ending}"] for name in names if f"{name}{ending}" in found]
    times = found.get("startTime"), found.get("finishTime")
    if "failureTime" in found or not all(times) or not counts or not counts[0]:
        return None
    return _job(counts[0], str(times[0]), str(times[1]), 1)


def _entries(value: object) -> Iterator[tuple[str, Any]]:
    """Yield the names and values of all objects within a value."""
    if isinstance(value, dict):
        for name, inner in value.items():
            yield name, inner
            yield from _entries(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from _entries(inner)
