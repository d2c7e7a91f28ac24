"""``tidemark query``: `cwli`, also over stored logs of runs and log groups of an account."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cwli.command import HELP
from cwli.command import command as cwli
from cwli.command.arguments import Moment, place_of, query_text
from cwli.command.log_query import LogQuery
from cwli.insights import EventsError, QueryError, QueryResult
from cwli.insights import compile as compile_query
from cwli.program import Refused, tell
from cwli.readers.folders import FetchedLogs, LogFilesError, Range, folder_of
from onebox.app import ACCOUNT
from tidemark.cli.options import state_flag, state_option
from tidemark.cli.saving import format_option, show
from tidemark.model.sentences import listed, plural

if TYPE_CHECKING:
    from aws.client.account import AccountLogs

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


@click.command(
    name="query",
    help=HELP.format(
        logs="log files or stored logs",
        without_path=" Without a\nPATH, the command queries the stored log groups.",
        program="tidemark query",
        example="queries/logs/ingest_rate.cwli",
    ),
)
@click.option(
    "--log-group", "groups", multiple=True, help="Stored log group to query; if not given, all."
)
@format_option
@state_option
@click.option(
    "--from-aws",
    metavar="GROUP",
    help="AWS log group whose events from --start to --end are fetched once.",
)
@click.option(
    "--verify",
    is_flag=True,
    help="With --from-aws, only compare the rows with those that AWS returns.",
)
def command(
    groups: tuple[str, ...],
    state: Path,
    from_aws: str | None,
    verify: bool,
    **arguments: Any,  # noqa: ANN401
) -> object:
    """Run the command of cwli, over other logs than files, too."""
    paths = arguments["paths"]
    if from_aws is not None:
        between = _window(arguments | {"groups": groups})
        return _over_account(from_aws, state, arguments, between, verify=verify)
    if verify:
        raise Refused("--verify needs --from-aws: it compares the rows with those that AWS returns")
    if groups and paths:
        raise Refused(
            f"--log-group: {groups[0]!r} is not accepted with a PATH; expected one of both"
        )
    if not paths:
        _check_stored(arguments)
    return _cwli(arguments, lambda query: _over_stored(query, groups, state))


_OWN = {option.name: option for option in command.params}
_QUERY, _PATHS, *_OPTIONS = (_OWN.pop(each.name, each) for each in cwli.params)
_GROUPS, *_OTHERS_OF_COMMAND = _OWN.values()
command.params = [_QUERY, _PATHS, _GROUPS, *_OPTIONS, *_OTHERS_OF_COMMAND]


def _cwli(
    arguments: Mapping[str, Any], over_other_logs: Callable[[LogQuery], QueryResult] | None = None
) -> object:
    callback = cwli.callback
    assert callback
    return callback(**arguments, show=show, over_other_logs=over_other_logs)


def _check_stored(arguments: Mapping[str, Any]) -> None:
    """Raise Refused for options that only files need."""
    if arguments["time_field"] or arguments["time_format"] or arguments["begins"]:
        raise Refused(
            "--time-field, --time-format, --event-start: these options need a PATH, since stored "
            "logs have their times"
        )
    if arguments["is_sorted"]:
        raise Refused("--sorted needs a PATH; of stored logs, which are sorted, a part is read")


def _over_stored(query: LogQuery, groups: tuple[str, ...], state: Path) -> QueryResult:
    """Return the result over stored log groups, all of them if none is named.

    Raises
    ------
    Refused
        If a group is not stored, or the query names its groups, too.
    ClickException
        If stored logs are damaged.
    """
    from onebox.logs.store import LogStore, LogStoreError  # noqa: PLC0415
    from onebox.logs.value_cache import ValueCache  # noqa: PLC0415 (files need no store)

    if groups and query.query.plan.sources:
        raise Refused(f"--log-group: {groups[0]!r} is given, but the query has a SOURCE")
    store = LogStore(state / "logs", ACCOUNT, cache=ValueCache(state / "parsed"))
    try:
        known = store.groups()
        _check_groups(groups, known, state)
        named = query.named(ACCOUNT, known)
        return query.over(store.events(groups or known), store.events(named))
    except LogStoreError as error:
        raise click.ClickException(str(error)) from None
    except EventsError as error:
        raise click.ClickException(store.damage() or str(error)) from None


def _check_groups(groups: tuple[str, ...], known: Collection[str], state: Path) -> None:
    if not known:
        hint = f"`tidemark run{state_flag(state)}` writes some"
        raise Refused(f"--state: {state} holds no logs; {hint}")
    for group in groups:
        if group not in known:
            raise Refused(f"--log-group: {group!r} is not stored; there are {listed(known)}")


def _over_account(
    group: str,
    state: Path,
    arguments: Mapping[str, Any],
    between: tuple[Moment, Moment],
    *,
    verify: bool,
) -> object:
    """Fetch the events of a log group, and query them or compare the rows with AWS's."""
    start, end = between
    window = (start.seconds, end.seconds)
    name, text = query_text(arguments["query"])
    try:
        query = compile_query(text)
        ranges = [window, *query.earlier(*window)]
        with _in_account() as account:
            files = _fetched(account, group, state, ranges)
            if verify:
                here = LogQuery(query, window, arguments["tables"])
                _verify(
                    here.over_files(files, strict=False),
                    account.rows(text, group, *window),
                )
                return None
    except QueryError as error:
        raise Refused(place_of(name, error)) from None
    return _cwli({**arguments, "query": text, "paths": files, "end": end})


def _window(arguments: Mapping[str, Any]) -> tuple[Moment, Moment]:
    """Return the time range to fetch; raise Refused for options that do not fit."""
    for option in command.params:
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
    from aws.client import AccountFailed  # noqa: PLC0415
    from aws.client.account import account_logs  # noqa: PLC0415

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
    """Return the paths of the files with the events of a log group; fetch missing files."""
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
    """Compare the rows here with the service's rows; end with exit code 1 if some differ."""
    here, there = (Counter(map(_line, rows)) for rows in (local.records, remote))
    tell(_examples("here", here - there))
    tell(_examples("on AWS", there - here))
    if here != there:
        number = (here - there).total() + (there - here).total()
        raise click.ClickException(f"--verify: rows that differ: {number:,}")
    click.echo(f"AWS returns the same {plural(here.total(), 'row')}")


def _line(row: Mapping[str, str]) -> str:
    cells = {name: value for name, value in row.items() if name != "@ptr"}
    return json.dumps(cells, sort_keys=True, ensure_ascii=False)


def _examples(place: str, rows: Counter[str]) -> Iterable[str]:
    return (f"only {place}: {row}" for row in list(rows.elements())[:_MOST_SHOWN])
