"""``tidemark history``: the rates of every version over all runs, as table, plot or events."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import click

from tidemark.cli.chosen_suite import suite_to_read
from tidemark.cli.options import exact_option
from tidemark.cli.saving import check_folder, check_picture, format_option, is_too_wide, save, show
from tidemark.cli.target import Target, stored, target_options
from tidemark.client.events import answer, confirming, events, open_changes
from tidemark.client.history import (
    BETTER,
    NO_TITLES,
    Row,
    VersionHistory,
    columns,
    figure_of,
    heading,
    histories,
    judged_figures,
    sentences,
    series_of,
    spread_sentence,
    spreads,
    untold,
    untold_sentences,
)
from tidemark.client.tables import Tables, ask_saved
from tidemark.model.checkout import published_suites, written_suites, written_systems
from tidemark.model.refusal import Refused
from tidemark.model.sentences import shown, there_are
from tidemark.pages import vega_lite
from tidemark.pages.vega_lite import Json, figures, layer
from tidemark.store.bucket import Bucket

_MOST_COLUMNS = 40
"""The most figures that a table shows; a suite of more has a list of events."""
_WIDTH = 100  # characters of a plot that no terminal shows
_FEWEST = 20
"""The fewest characters between the ends of the axis of a plot."""
_ROW = 24  # pixels of a chart
_SIZE = "Size"
"""The column of sizes, which only a suite with trials of several sizes needs."""
_OF_VERSION = ("Version number", "Test date", _SIZE)
"""The columns of a version, before the columns of its figures."""
_MARKDOWN_DAY = "%d/%m/%Y"
"""The form of dates in the table that people keep in their documentation."""


@click.command(name="history")
@click.argument("suite", required=False)
@click.option("--test", help="Only the metrics of this test.")
@click.option("--metric", help="Only this metric.")
@click.option(
    "--function",
    "functions",
    multiple=True,
    metavar="NAME",
    help="Show the share and CPU time of this function in stored profiles, not rates; may be "
    "repeated.",
)
@click.option(
    "--events", "as_events", is_flag=True, help="Show what each release changed in place of rates."
)
@click.option(
    "--open",
    "only_open",
    is_flag=True,
    help="Show only the slower levels that no release mended and nobody accepted, the largest "
    "first.",
)
@exact_option
@click.option(
    "--plot", is_flag=True, help="Draw the figures with their spread in place of the table."
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    callback=check_picture,
    help="Picture to draw the plot into, a name that ends in .svg or .png.",
)
@format_option
@target_options
def command(
    suite: str | None,
    test: str | None,
    metric: str | None,
    functions: Sequence[str],
    as_events: bool,
    only_open: bool,
    exact: bool,
    plot: bool,
    output: Path | None,
    form: str,
    target: Target,
) -> None:
    """Show the rates of each version of SUITE over all runs.

    Without SUITE, the command shows the only suite, or else the newest run's.

    Each figure is the mean over the version's trials with their standard deviation; the table has
    the digits that this spread supports. Excluded trials do not count. A version with trials of
    several sizes has a row for each size. The changes of level follow below the table, and then
    what figures and changes leave out or cannot tell: a change needs at least six runs. An imported
    figure has the digits of its publication, and is a run of its own.

    JSON is a list with one object for each version and size. CSV has a line for each version, size
    and figure; its columns have the names of the fields in JSON. A plot has a point for each
    version, the spread around it, and an axis that does not begin at zero.

    A suite of more than 40 figures has no table: its releases are listed with what they changed, as
    with --events. JSON of --events is a list with one object for each release, and JSON of --open
    one for each change.

    With --function, the figures are of a function with all that it calls, in all its frames:
    its share of the samples of each stored profile, and its CPU time per million records.

    \b
    Example:
      tidemark history rocksdb --metric ingest_rate --format markdown
      tidemark history rocksdb --output history.svg
      tidemark history rocksdb --open
      tidemark history rocksdb --function CompactionIterator::Next
    """
    if (plot or output) and form != "table":
        raise Refused(f"--format: {form} is not accepted for a plot; leave --plot and --output out")
    if functions and metric:
        raise Refused(f"--metric: {metric} is not accepted with --function; leave one of both out")
    check_folder(output)
    is_table = form == "table" and not (functions or test or metric or plot or output)
    with stored(target) as store:
        suite = suite_to_read(suite, store.tables)
        if as_events or only_open or (is_table and _has_many_figures(store.tables, suite)):
            _show_events(store.tables, suite, form, only_open=only_open)
            return
        if functions:
            found = _of_functions(store.bucket, suite, test, functions)
        else:
            found = _of_metrics(store.tables, suite, test, metric)
    versions = histories(found.rates, found.changes, found.untold)
    if form == "json":
        click.echo(json.dumps([version.record() for version in versions], indent=2))
    elif not versions:
        raise Refused(_no_rates(suite, found.untold, target))
    elif form in ("csv", "ndjson"):
        lines = [line for version in versions for line in version.lines()]
        show(list(lines[0]), lines, form)
    else:
        titles = found.titles or _titles(suite)
        headings = {name: heading(name, versions, titles) for name in columns(versions, titles)}
        if output:
            what = ("functions", "profiles") if functions else ("rates", "trials")
            _draw(versions, headings, f"{suite}: {what[0]} by version", what[1], output)
        else:
            _print(versions, headings, form, exact=exact, plot=plot)
        told = (*sentences(found.changes), *map(spread_sentence, found.spreads))
        for text in (*told, *untold_sentences(found.untold), *confirming(found.changes, suite)):
            # Standard output holds only the table that people keep.
            click.echo(text, err=form != "table")


def _print(
    versions: Sequence[VersionHistory],
    headings: Mapping[str, str],
    form: str,
    *,
    exact: bool,
    plot: bool,
) -> None:
    if plot:
        width = shutil.get_terminal_size((_WIDTH, 0)).columns
        click.echo("\n".join(plots(versions, headings, width, exact=exact)))
    else:
        day = _MARKDOWN_DAY if form == "markdown" else "%Y-%m-%d"
        names, rows = _rows(versions, headings, day, exact=exact or form != "table")
        if form == "table" and is_too_wide(names, rows):
            print_by_figure(names, rows)
        else:
            show(names, rows, form)


def print_by_figure(names: Sequence[str], rows: Sequence[Mapping[str, str]]) -> None:
    """Print the versions of each figure below its name."""
    from rich.console import Console  # noqa: PLC0415

    from tidemark.report.blocks import Row, Table  # noqa: PLC0415
    from tidemark.report.terminal import print_blocks  # noqa: PLC0415

    of_version = [name for name in names if name in _OF_VERSION]
    lines = tuple(
        Row((figure, *(row.get(name, "") for name in of_version), row[figure]))
        for figure in names
        if figure not in _OF_VERSION
        for row in rows
        if row.get(figure)
    )
    heads = ("Figure", *of_version, "Value")
    table = Table("Figures by version", heads, lines, frozenset({"Value"}))
    print_blocks([table], Console(highlight=False))


def _has_many_figures(tables: Tables, suite: str) -> bool:
    judged = {series_of(row) for row in judged_figures(tables, suite)}
    return len(judged) > _MOST_COLUMNS


def _show_events(tables: Tables, suite: str, form: str, *, only_open: bool) -> None:
    """Print the events of a suite, or its open regressions."""
    if form not in {"table", "json"}:
        raise Refused(f"--format: {form} is not accepted with --events and --open; expected json")
    if form == "table":
        click.echo("\n".join(answer(tables, suite, only_open=only_open)))
        return
    changes = ask_saved(tables, "level_changes", {"suite": suite}).records()
    found: Iterable[Mapping[str, Any]] = (each.record() for each in events(changes))
    if only_open:
        found = open_changes(changes)
    click.echo(json.dumps(list(found), indent=2))


def _no_rates(suite: str, left_out: Sequence[Row], target: Target) -> str:
    if reasons := " ".join(untold_sentences(left_out)):
        again = f"`tidemark include RUN{target.flags}` lets an excluded run count again."
        hint = f" {again}" if "excluded" in reasons else ""
        return f"suite: {suite} has no rates that count. {reasons}{hint}"
    if suite in written_suites():
        hint = f"`tidemark run {suite}{target.flags}` measures versions"
    else:
        hint = f"`tidemark import FILE --suite {suite}{target.flags}` adds published figures"
    return f"suite: {suite} has no rates yet; {hint}"


class _Found(NamedTuple):
    """The rows of a history, as the saved queries have them."""

    rates: Sequence[Row]
    changes: Sequence[Row]
    spreads: Sequence[Row]
    untold: Sequence[Row]
    titles: Mapping[str, str] = NO_TITLES


def _of_metrics(tables: Tables, suite: str, test: str | None, metric: str | None) -> _Found:
    rows = ask_saved(tables, "rates_by_version", {"suite": suite}).records()
    all_changes = ask_saved(tables, "level_changes", {"suite": suite}).records()
    rates = _only(_only(rows, "test", test), "metric", metric)
    shown_metrics = {(row["test"], row["metric"]) for row in rates}

    def of_shown(rows: Sequence[Row]) -> Sequence[Row]:
        return [
            row
            for row in rows
            if row["metric"] is None or (row["test"], row["metric"]) in shown_metrics
        ]

    silent = untold(tables, suite, rows)
    # A metric without a rate that counts is in no column, and has its reason here alone.
    return _Found(
        rates,
        of_shown(all_changes),
        of_shown(spreads(tables, suite)),
        of_shown(silent) if test or metric else silent,
    )


def _of_functions(bucket: Bucket, suite: str, test: str | None, functions: Sequence[str]) -> _Found:
    # A history of rates is shown without the reader of profiles, whose import takes time.
    from tidemark.cli.profile.options import check_unit, profiles_of  # noqa: PLC0415
    from tidemark.client.function_history import function_history  # noqa: PLC0415

    names = list(dict.fromkeys(functions))
    profiles = profiles_of(bucket, suite, test or "")
    check_unit(suite, profiles)
    history = function_history(bucket, profiles, names)
    known = {row["metric"] for row in history.rows}
    if missing := [name for name in names if name not in known]:
        raise Refused(f"--function: no profile has a frame of {shown(missing[0])}")
    return _Found(*history, {name: name for name in map(figure_of, history.rows)})


def _draw(
    versions: Sequence[VersionHistory],
    headings: Mapping[str, str],
    title: str,
    units: str,
    output: Path,
) -> None:
    # The import takes time, which a table does not need.
    from tidemark.pages.pictures import picture  # noqa: PLC0415

    title = f"{title}, ± standard deviation of the {units}"
    save(output, picture(charts(versions, headings), title, output.suffix))
    click.echo(output)


def _titles(suite: str) -> Mapping[str, str]:
    """Return the headings of the suite's own pages by metric, in their order."""
    if suite not in published_suites(written_systems()):
        return {}
    # A suite without published figures is shown without pydantic, whose import takes time.
    from tidemark.model.publication import find_publication  # noqa: PLC0415

    published = find_publication(written_systems(), suite)
    return {each.name: each.columns[0] for each in published.figures} if published else {}


def _only(rows: Sequence[Row], column: str, wanted: str | None) -> Sequence[Row]:
    if wanted is None or not rows:
        return rows
    matches = [row for row in rows if row[column] == wanted]
    if not matches:
        known = sorted({str(row[column]) for row in rows})
        raise Refused(
            f"--{column}: {shown(wanted)} has no rates that count; {there_are(known, wanted)}"
        )
    return matches


def published_rows(
    tables: Tables, suite: str, names: Sequence[str]
) -> tuple[list[str], list[dict[str, str]]]:
    """Return the columns and the rows of some figures by version, as documentation has them.

    A name without labels stands for the figure under all labels.

    Raises
    ------
    Refused
        If the suite has no such figure.

    """
    versions = histories(ask_saved(tables, "rates_by_version", {"suite": suite}).records(), (), ())
    titles, known = _titles(suite), columns(versions)
    headings: dict[str, str] = {}
    for wanted in names:
        found = [name for name in known if wanted in (name, name.partition(" {")[0])]
        if not found:
            raise Refused(f"{suite} has no figure {shown(wanted)}; {there_are(known, wanted)}")
        headings |= {name: heading(name, versions, titles) for name in found}
    kept = [each for each in versions if each.figures.keys() & headings.keys()]
    return _rows(kept, headings, _MARKDOWN_DAY, exact=True)


def _rows(
    versions: Sequence[VersionHistory], headings: Mapping[str, str], day: str, *, exact: bool
) -> tuple[list[str], list[dict[str, str]]]:
    rows = [
        {
            "Version number": version.version,
            "Test date": version.last_at.strftime(day),
            _SIZE: version.sizes,
            **{
                headings[name]: figure.text(exact=exact)
                for name, figure in version.figures.items()
                if name in headings
            },
        }
        for version in versions
    ]
    size = [_SIZE] if len({version.sizes for version in versions}) > 1 else []
    return ["Version number", "Test date", *size, *headings.values()], rows


def plots(
    versions: Sequence[VersionHistory], headings: Mapping[str, str], width: int, *, exact: bool
) -> Iterator[str]:
    """Yield the lines of a plot for each figure, under its heading."""
    for name, title in headings.items():
        points = list(_points(versions, name, exact=exact))
        if points:
            yield _title(versions, name, title)
            yield from _dot_plot(points, width)
            yield ""


def charts(versions: Sequence[VersionHistory], headings: Mapping[str, str]) -> list[Json]:
    """Return a chart for each figure: a point for each version, its spread and its text."""
    return [
        _chart(list(_points(versions, name, exact=False)), _title(versions, name, title))
        for name, title in headings.items()
    ]


def _points(versions: Sequence[VersionHistory], name: str, *, exact: bool) -> Iterator[_Point]:
    several = len({version.sizes for version in versions}) > 1
    for version in versions:
        if figure := version.figures.get(name):
            spread = figure.spread or 0.0
            yield _Point(
                f"{version.version}, {version.sizes}" if several else version.version,
                figure.text(exact=exact),
                figure.value - spread,
                figure.value,
                figure.value + spread,
            )


def _title(versions: Sequence[VersionHistory], name: str, heading: str) -> str:
    direction = next(each.figures[name].direction for each in versions if name in each.figures)
    return heading if heading.endswith(BETTER) else f"{heading}, {direction} is better"


def _chart(points: Sequence[_Point], title: str) -> Json:
    rows = [point._asdict() | {"label": f"{point.name}   {point.text}"} for point in points]
    by_version = {"field": "label", "type": "nominal", "sort": None, "title": None}
    axis = {"labelLimit": 0, "domain": False}
    scale = {"zero": False, "nice": True}
    return vega_lite.chart(
        height=_ROW * len(points) + _ROW,
        encoding={
            "y": {**by_version, "axis": axis},
            "x": figures(title, {"tickCount": 8, "labelFlush": False}, scale=scale),
        },
        layer=[
            layer(
                "spreads",
                rows,
                {"type": "rule", "strokeWidth": 2, "color": "var(--quiet)"},
                {"x": {"field": "low"}, "x2": {"field": "high"}},
            ),
            layer(
                "figures",
                rows,
                {"type": "point", "filled": True, "size": 80, "opacity": 1},
                {"x": {"field": "value"}, "color": {"value": "var(--series-1)"}},
            ),
        ],
    )


class _Point(NamedTuple):
    """One figure."""

    name: str
    text: str
    """The figure as text."""
    low: float
    value: float
    high: float


def _dot_plot(points: Sequence[_Point], width: int) -> Iterator[str]:
    """Yield a line for each point: its name, its text and ``├──●──┤`` on a common axis.

    The axis goes from the least to the highest end of all points, and not from zero. The lines have
    ``width`` characters, or more if texts need them.
    """
    names, texts = (max(map(len, column)) for column in list(zip(*points, strict=True))[:2])
    room = max(_FEWEST, width - names - texts - 4)
    least = min(point.low for point in points)
    span = max(point.high for point in points) - least or 1.0
    for point in points:
        ends = (round((room - 1) * (end - least) / span) for end in point[2:])
        yield f"{point.name:<{names}}  {point.text:>{texts}}  {_drawn(*ends)}"


def _drawn(low: int, middle: int, high: int) -> str:
    """Return a point and its spread from their places; one that has no width is a point alone."""
    line = f"├{'─' * (high - low - 1)}┤" if high > low else "●"
    cells = [*(" " * low), *line]
    cells[middle] = "●"
    return "".join(cells)
