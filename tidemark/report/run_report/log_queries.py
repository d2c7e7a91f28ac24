"""The log query of each figure, as a command to repeat it and as an address of AWS's console."""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from tidemark.model.results import TestResult
from tidemark.model.sentences import listed
from tidemark.model.suite_asset import query_file, query_text, written_queries
from tidemark.model.telemetry import CONSOLES
from tidemark.report.blocks import Block, Command, Link, Row, Table
from tidemark.report.run_report.measured import MeasuredRun

_LINES = "fields @timestamp, @message | filter @logStream = '{stream}' | sort @timestamp"
# The account of AWS's examples, which the cloud of one machine has: no console shows its logs.
_EXAMPLES = "123456789012"
_ARN = re.compile("arn:(?P<partition>[^:]*):states:(?P<region>[^:]*):(?P<account>[^:]*):")


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
    account = _account(run.plan.execution_arn)
    windows = {test.name: _window(run, test.name) for test in run.plan.suite.tests}
    shown = [(test, windows[test.name]) for test in run.plan.suite.tests]
    queries = {
        (test.name, metric.query): (
            listed(each.name for each in test.metrics if each.query == metric.query),
            window,
        )
        for test, window in shown
        for metric in test.metrics
        if window
    }
    written = written_queries(run.plan.suite)
    rows = tuple(
        Row((test, metrics, _command(_place(run, query), window, account)))
        for (test, query), (metrics, window) in queries.items()
    )
    if not rows:
        return
    yield Table("The query of each figure, by log stream", ("Test", "Metric", "Command"), rows)
    for (test, query), (_, window) in queries.items():
        file = query_file(run.plan.suite.name, query)
        text = query_text(run.plan.suite, query) if query in written or file.exists() else ""
        if text and (address := console_address(run.plan.execution_arn, window, text)):
            yield Link(f"{query} of {test} in the console of CloudWatch", address)
    window = next(window for _, window in shown if window)
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

    Return '' for an account without a console. AWS publishes no description of the address; its
    form is that which the console writes: ``*`` and two digits for each byte that is no letter or
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
