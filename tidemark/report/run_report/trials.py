"""The trials one by one: their rates, failures, logs and the files that their tasks left."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from itertools import islice
from typing import NamedTuple

from tidemark.figures.version_rates import Quantity, rate_key, shared_names
from tidemark.model.labels import canonical
from tidemark.model.metric import Metric
from tidemark.model.numerals import MISSING, figure, moment
from tidemark.model.plan import PlannedTrial
from tidemark.model.results import Status, TestResult, TrialResult
from tidemark.model.sentences import listed, part_of
from tidemark.model.suite_asset import query_file, query_text, written_queries
from tidemark.model.telemetry import CONSOLES
from tidemark.money.run_cost import task_seconds
from tidemark.report.blocks import Block, Bullets, Command, Link, Row, Section, Table
from tidemark.report.run_report.measured import MeasuredRun
from tidemark.store import keys

_NOT_COMPLETE: tuple[Status, ...] = ("failed", "incomplete", "skipped")


def count(run: MeasuredRun) -> str:
    """Return a sentence on how many trials gave their rates, or on where the rates stand.

    A trial with a test that is not complete may have the rates of its other tests.
    """
    if run.plan.imported:
        return f"published figures, from {run.plan.imported.text}."
    others = [text for status in _NOT_COMPLETE for text in _not_complete(run, status)]
    if unrecorded := run.unrecorded():
        others.append(f"{len(unrecorded)} not recorded")
    if excluded := sum(run.is_excluded(trial) for trial in run.trials):
        others.append(f"{excluded} left out on request")
    complete = sum(trial.status == "ok" for trial in run.trials)
    what = "all rates" if any(map(_has_rate, _of(run, *_NOT_COMPLETE))) else "rates"
    gave = f"{part_of(complete, len(run.plan.trials), 'trial')} gave {what}"
    return f"{', '.join([gave, *others])}."


def _not_complete(run: MeasuredRun, status: Status) -> Iterator[str]:
    """Yield how many trials have a status, those with some rates apart."""
    trials = _of(run, status)
    some = sum(map(_has_rate, trials))
    if len(trials) > some:
        yield f"{len(trials) - some} {status}"
    if some:
        yield f"{some} {status} with some rates"


def _of(run: MeasuredRun, *statuses: Status) -> list[TrialResult]:
    return [trial for trial in run.trials if trial.status in statuses]


def _has_rate(trial: TrialResult) -> bool:
    return any(rate.value is not None for test in trial.tests for rate in test.rates)


def failed(run: MeasuredRun) -> tuple[str, str] | None:
    """Return ``failed`` or ``incomplete`` and how many trials are: ``3 of 5 trials``.

    None stands for a run whose recorded trials are all complete.
    """
    statuses = [trial.status for trial in run.trials if trial.status != "ok"]
    word = "failed" if {*statuses} == {"failed"} else "incomplete"
    return (word, part_of(len(statuses), len(run.plan.trials), "trial")) if statuses else None


def troubles(run: MeasuredRun) -> Bullets | None:
    """Return which trials failed, are incomplete or left out, and why; None if there are none."""
    items = tuple(_troubles(run))
    return Bullets(items) if items else None


def table(run: MeasuredRun) -> Table:
    """Return the table of trials, in the planned order, with the rates without labels."""
    rates = tuple(_rate_columns(run))
    axes = tuple(run.plan.request.axes)
    recorded = {trial.trial: trial for trial in run.trials}
    return Table(
        caption="Trials in the order in which they ran",
        columns=(
            "Trial",
            "Version",
            *axes,
            "Repetition",
            "Status",
            *rates,
            "Task seconds",
            "Took [s]",
            "Started [UTC]",
        ),
        rows=tuple(_row(run, trial, recorded.get(trial.trial)) for trial in run.plan.trials),
        numbers=frozenset({*rates, "Repetition", "Task seconds", "Took [s]"}),
    )


def _troubles(run: MeasuredRun) -> Iterator[str]:
    for trial in run.trials:
        name = f"trial {trial.trial} ({trial.name})"
        if trial.status != "ok":
            tests = [f"{test.test}: {test.reason}" for test in trial.tests if test.reason]
            # The trial's reason mostly repeats the reason of its first test.
            why = "; ".join(dict.fromkeys([trial.reason, *tests]))
            yield f"{name} {_status(run, trial)}: {why}"
        if (reason := run.exclusions.reason(trial.trial)) is not None:
            yield f"{name} is left out of every figure: {reason}"
    if missing := [f"{planned.trial} ({planned.name})" for planned in run.unrecorded()]:
        yield f"planned and not recorded: trials {listed(missing)}"


def _row(run: MeasuredRun, planned: PlannedTrial, trial: TrialResult | None) -> Row:
    if trial is None:
        status, rates, seconds, took, started = "not recorded", {}, MISSING, MISSING, MISSING
    else:
        status = _status(run, trial)
        rates = {rate_key(t.test, rate): rate.value for t in trial.tests for rate in t.rates}
        seconds = f"{task_seconds([trial]):,.1f}"
        first = min((t.started_at for t in trial.tests if t.started_at), default=None)
        last = max((t.ended_at for t in trial.tests if t.ended_at), default=None)
        took = f"{(last - first).total_seconds():,.1f}" if first and last else MISSING
        started = moment(first)
    return Row(
        (
            str(planned.trial),
            planned.version,
            *(planned.axes[name] for name in run.plan.request.axes),
            str(planned.repetition),
            status,
            *(
                figure(rates.get((test, metric.name, statistic, canonical(planned.axes))))
                for test, metric, statistic in _without_labels(run)
            ),
            seconds,
            took,
            started,
        ),
        struck=trial is not None and run.is_excluded(trial),
    )


def _rate_columns(run: MeasuredRun) -> Iterator[str]:
    shared = shared_names(run.plan.suite)
    for test, metric, statistic in _without_labels(run):
        quantity = Quantity(test, metric, statistic, "", {}, metric.name in shared)
        yield f"{quantity.name} [{metric.unit}]"


def _without_labels(run: MeasuredRun) -> list[tuple[str, Metric, str]]:
    """Return the test, metric and statistic of each figure without labels but the axes."""
    return [
        (test.name, metric, statistic)
        for test in run.plan.suite.tests
        for metric, statistic in test.figures()
        if not metric.labels
    ]


def _status(run: MeasuredRun, trial: TrialResult) -> str:
    return f"{trial.status}, left out" if run.is_excluded(trial) else trial.status


_MOST_FILES = 200


def artefact_sections(run: MeasuredRun) -> Iterator[Section]:
    """Yield the section of the files that a run keeps, if its suite declares any."""
    if run.plan.profiled or any(test.artefacts for test in run.plan.suite.tests):
        yield Section("Artefacts", tuple(_artefact_blocks(run)), details=True)


def _artefact_blocks(run: MeasuredRun) -> Iterator[Block]:
    count = sum(len(result.artefacts) for trial in run.all_trials for result in trial.tests)
    shown = f"; the table has the first {_MOST_FILES}" if count > _MOST_FILES else ""
    command = f"tidemark artefacts {run.plan.run_id} --to FOLDER"
    yield f"Files that are kept: {count:,}{shown}. The command {command} saves them."
    if count:
        columns = ("Trial", "Version", "Test", "Task", "File", "Bytes", "SHA-256", "Key")
        rows = tuple(islice(_artefact_rows(run), _MOST_FILES))
        yield Table("Files that tasks left", columns, rows, frozenset({"Bytes"}))
    if notes := tuple(islice(_artefact_notes(run), _MOST_FILES)):
        yield Bullets(notes)


def _artefact_rows(run: MeasuredRun) -> Iterator[Row]:
    for trial in run.all_trials:
        for result in trial.tests:
            for file in result.artefacts:
                where = str(trial.trial), trial.version, result.test, str(file.task)
                key = keys.artefact(trial.run_id, trial.trial, result.test, file.task, file.name)
                yield Row((*where, file.name, f"{file.size:,}", file.sha256, key))


def _artefact_notes(run: MeasuredRun) -> Iterator[str]:
    for trial in run.all_trials:
        for result in trial.tests:
            for note in result.artefact_notes:
                yield f"trial {trial.trial} ({trial.name}), {result.test}: {note}"


_KEPT = (
    "tidemark query FILE --log-group GROUP reads these logs on one machine, and --from-aws GROUP "
    "on AWS, for as long as the setting logRetention says."
)
_LINES = "fields @timestamp, @message | filter @logStream = '{stream}' | sort @timestamp"
# The account of AWS's examples, which the cloud of one machine has: no console shows its logs.
_EXAMPLES = "123456789012"
_ARN = re.compile("arn:(?P<partition>[^:]*):states:(?P<region>[^:]*):(?P<account>[^:]*):")


def logs(run: MeasuredRun) -> Section:
    """Return the section of the logs: how to query them, and the log stream of each task."""
    return Section("Logs", (*query_blocks(run), _KEPT, _streams(run)), details=True)


class Window(NamedTuple):
    """The log group of a test, and the time of all its trials in a run."""

    group: str
    start: datetime
    end: datetime
    stream: str
    """The log stream of one task, '' if no task logged."""


def query_blocks(run: MeasuredRun) -> Iterator[Block]:
    """Yield how to repeat the query of each metric over the logs of all trials, and to read lines.

    On AWS each query has an address of the console, too.
    """
    plan, account = run.plan, _account(run.plan.execution_arn)
    windows = {
        test.name: window for test in plan.suite.tests if (window := _window(run, test.name))
    }
    queries = {
        (test.name, metric.query): listed(
            each.name for each in test.metrics if each.query == metric.query
        )
        for test in plan.suite.tests
        if test.name in windows
        for metric in test.metrics
    }
    if not queries:
        return
    rows = tuple(
        Row((test, metrics, _command(_place(run, query), windows[test], account)))
        for (test, query), metrics in queries.items()
    )
    yield Table("The query of each figure, by log stream", ("Test", "Metric", "Command"), rows)
    written = written_queries(plan.suite)
    for test, query in queries:
        file = query_file(plan.suite.name, query)
        text = query_text(plan.suite, query) if query in written or file.exists() else ""
        if text and (address := console_address(plan.execution_arn, windows[test], text)):
            yield Link(f"{query} of {test} in the console of CloudWatch", address)
    window = next(iter(windows.values()))
    if window.stream:
        lines = _LINES.format(stream=window.stream)
        yield Command("Each line of one task", _command(f'"{lines}"', window, account))


def _window(run: MeasuredRun, test: str) -> Window | None:
    """Return where and when the trials logged for a test, None if none did."""
    results = [
        result
        for trial in run.trials
        for result in trial.tests
        if result.test == test and result.log_group and result.started_at and result.ended_at
    ]
    if not results:
        return None
    starts = [result.started_at for result in results if result.started_at]
    ends = [result.ended_at for result in results if result.ended_at]
    return Window(results[0].log_group or "", min(starts), max(ends), _stream(results[0]))


def _stream(result: TestResult) -> str:
    return next((task.log_stream for task in result.tasks if task.log_stream), "")


def _streams(run: MeasuredRun) -> Table:
    return Table(
        caption="Log stream of each task",
        columns=("Trial", "Version", "Test", "Task", "Log group", "Log stream"),
        rows=tuple(
            Row(
                (
                    str(trial.trial),
                    trial.version,
                    result.test,
                    str(task.index),
                    result.log_group or MISSING,
                    (task.log_stream or MISSING) if task.task_id else "never started",
                )
            )
            for trial in run.trials
            for result in trial.tests
            for task in result.tasks
        ),
    )


def _place(run: MeasuredRun, query: str) -> str:
    """Return the file of a query in a checkout, or the command that shows what Tidemark writes."""
    suite = run.plan.suite.name
    if query in written_queries(run.plan.suite):
        return f'"$(tidemark suite show {suite} {query})"'
    own = query_file(suite, query).parent.name == suite
    return f"{f'suites/{suite}' if own else 'queries/logs'}/{query}.cwli"


def _account(execution_arn: str) -> str:
    """Return the account of an execution, '' for one of this machine."""
    found = _ARN.match(execution_arn)
    return "" if found is None or found["account"] == _EXAMPLES else found["account"]


def _command(query: str, window: Window, account: str) -> str:
    start, end = (f"{time:%Y-%m-%dT%H:%M:%SZ}" for time in (window.start, window.end))
    option = "--from-aws" if account else "--log-group"
    return f"tidemark query {query} {option} {window.group} --start {start} --end {end}"


def console_address(execution_arn: str, window: Window, query: str) -> str:
    """Return the address of a query over a window in the console of Logs Insights.

    Return '' for an account without a console. AWS publishes no description of the address; the
    console writes it in this form: ``*`` and two digits for each byte that is not a letter or
    digit, and ``$`` for each percent sign.
    """
    found = _ARN.match(execution_arn)
    if not found or found["partition"] not in CONSOLES or found["account"] == _EXAMPLES:
        return ""
    partition, region = found["partition"], found["region"]
    start, end = (_escaped(f"{time:%Y-%m-%dT%H:%M:%S.000Z}") for time in (window.start, window.end))
    detail = (
        f"~(end~'{end}~start~'{start}~timeType~'ABSOLUTE~tz~'UTC~editorString~'{_escaped(query)}"
        f"~source~(~'{_escaped(window.group)}))"
    )
    for sign, code in (("~", "$257E"), ("(", "$2528"), (")", "$2529"), ("'", "$2527")):
        detail = detail.replace(sign, code)
    page = f"https://{region}.{CONSOLES[partition]}/cloudwatch/home?region={region}"
    return f"{page}#logsV2:logs-insights$3FqueryDetail$3D{detail}"


def _escaped(text: str) -> str:
    return "".join(
        chr(byte) if (chr(byte).isalnum() and byte < 128) or byte in b"-." else f"*{byte:02x}"
        for byte in text.encode()
    )
