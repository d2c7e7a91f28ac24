"""``tidemark query`` with options for the log groups of an AWS account."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cwli.insights import EventsError, QueryError, QueryResult
from cwli.insights import compile as compile_query
from cwli.readers.folders import LogFilesError
from cwli.readers.mending import Mending
from tidemark.cli.options import Moment
from tidemark.cli.query import command as query_command
from tidemark.cli.query.logs import LogQuery
from tidemark.cli.query.messages import tell
from tidemark.cli.query.text import place_of, query_text
from tidemark.model.refusal import Refused
from tidemark.model.sentences import plural

if TYPE_CHECKING:
    from aws.client.account_logs import AccountLogs
    from cwli.readers.fetched import Range

# Options that read no events, or others.
_OTHERS = (
    "paths",
    "groups",
    "is_sorted",
    "follow",
    "lint",
    "explain",
    "time_field",
    "time_format",
    "begins",
)
_MOST_SHOWN = 3


def _run(from_aws: str | None, verify: bool, **arguments: Any) -> object:  # noqa: ANN401
    callback = query_command.callback
    assert callback
    if from_aws is None:
        if verify:
            raise Refused(
                "--verify needs --from-aws: it compares the rows with those that AWS returns"
            )
        return callback(**arguments)
    start, end = _window(arguments)
    window = (start.seconds, end.seconds)
    name, text = query_text(arguments["query"])
    try:
        query = compile_query(text)
        ranges = [window, *query.earlier(*window)]
        with _in_account() as account:
            files = _fetched(account, from_aws, arguments["state"], ranges)
            if verify:
                here = LogQuery(query, window, arguments["tables"])
                _verify(
                    here.over_files(files, Mending(), strict=False),
                    account.rows(text, from_aws, *window),
                )
                return None
    except QueryError as error:
        raise Refused(place_of(name, error)) from None
    return callback(**{**arguments, "query": text, "paths": files, "end": end})


command = click.Command(
    "query",
    callback=_run,
    help=query_command.help,
    params=[
        *query_command.params,
        click.Option(
            ["--from-aws"],
            metavar="GROUP",
            help="AWS log group whose events from --start to --end are fetched once.",
        ),
        click.Option(
            ["--verify"],
            is_flag=True,
            help="With --from-aws, only compare the rows with those that AWS returns.",
        ),
    ],
)


def _window(arguments: Mapping[str, Any]) -> tuple[Moment, Moment]:
    """Return the time range to fetch; raise Refused for options that do not fit."""
    for option in query_command.params:
        if option.name in _OTHERS and arguments[option.name]:
            name = option.opts[0] if isinstance(option, click.Option) else "PATH"
            raise Refused(f"{name}: this is not accepted with --from-aws")
    now = Moment(int(datetime.now(UTC).timestamp()), "now")
    start, end = arguments["start"], arguments["end"] or now
    if start is None:
        raise Refused("--from-aws: --start is needed, such as --start -1h")
    if start.seconds > end.seconds:
        raise Refused(f"--start: {start.text} is after the end, {end.text}")
    return start, end


@contextmanager
def _in_account() -> Iterator[AccountLogs]:
    # The import of boto3 takes half a second.
    from aws.client.account_logs import account_logs  # noqa: PLC0415
    from aws.client.failures import AccountFailed  # noqa: PLC0415

    try:
        with account_logs() as account:
            yield account
    except LogFilesError as error:
        raise Refused(str(error)) from None
    except (AccountFailed, EventsError) as error:
        raise click.ClickException(str(error)) from None


def _fetched(
    account: AccountLogs, name: str, state: Path, ranges: Iterable[Range]
) -> tuple[str, ...]:
    """Return the paths of the files with the events of a log group; fetch the missing ones."""
    from cwli.readers.fetched import FetchedLogs, folder_of  # noqa: PLC0415

    group = account.group(name)
    folder = folder_of(state, group.account, group.region)
    now = int(datetime.now(UTC).timestamp())
    logs = FetchedLogs(folder, account.events, now, group.oldest)
    files = tuple(str(file) for file in logs.files(name, *ranges))
    tell([f"fetched {plural(logs.fetched, 'hour')} of {name} into {folder}"])
    if not files:
        raise click.ClickException(f"--from-aws: {name} has no events in this time range")
    return files


def _verify(local: QueryResult, remote: Iterable[Mapping[str, str]]) -> None:
    """Compare the rows with those of the service; end with exit code 1 if some differ."""
    here, there = _rows(local), Counter(map(_line, remote))
    tell(_examples("here", here - there))
    tell(_examples("on AWS", there - here))
    if here != there:
        number = (here - there).total() + (there - here).total()
        raise click.ClickException(f"--verify: rows that differ: {number:,}")
    click.echo(f"AWS returns the same {plural(here.total(), 'row')}")


def _rows(result: QueryResult) -> Counter[str]:
    return Counter(_line({cell["field"]: cell["value"] for cell in row}) for row in result.rows)


def _line(row: Mapping[str, str]) -> str:
    cells = {name: value for name, value in row.items() if name != "@ptr"}
    return json.dumps(cells, sort_keys=True, ensure_ascii=False)


def _examples(place: str, rows: Counter[str]) -> Iterable[str]:
    return (f"only {place}: {row}" for row in list(rows.elements())[:_MOST_SHOWN])
