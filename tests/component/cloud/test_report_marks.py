"""Pages of runs with two of everything, in a browser: each mark against the table's figure."""

import math
import re
from collections import defaultdict
from collections.abc import Callable, Iterator
from functools import cache
from itertools import pairwise, product
from typing import NamedTuple

import pytest
from playwright.sync_api import expect

from tests.checks.conformance.figures import tables_of
from tests.component.cloud.browser import browser
from tests.component.cloud.twelve_versions import Tables
from tests.unit import drawn_runs as two
from tests.unit.drawn_charts import Plot, interval, number, plots, reading
from tests.unit.load_results import BASE, NEW
from tests.unit.prepared_results import PREPARED
from tidemark.cli.compare import changes_picture
from tidemark.cli.history import charts as history_charts
from tidemark.client.history import columns, heading, histories
from tidemark.client.tables import ask_saved
from tidemark.figures.profiles.growth import ProfiledTrial, compare
from tidemark.pages.pictures import picture
from tidemark.report.blocks import Report
from tidemark.report.comparison.changes_chart import MOST
from tidemark.report.comparison.contents import comparison
from tidemark.report.comparison.document import document
from tidemark.report.comparison.sides import sides
from tidemark.report.flame_page import differential_page, flame_graph_scripts, profiled_version
from tidemark.report.marks import marked
from tidemark.report.page import page
from tidemark.report.run_report.measured import measured_run
from tidemark.report.run_report.publishing import report
from tidemark.store.rows import rate_rows, run_row

# Whether all charts outside of folds are drawn.
DRAWN = """() => [...document.querySelectorAll(".chart")].every((each) =>
  each.closest("details:not([open])") || each.querySelector("svg"))"""
MOST_PIXELS = 6_000  # of a page before somebody unfolds a part of it
WIDE, NARROW = {"width": 1400, "height": 900}, {"width": 390, "height": 844}
# A search has verdicts of its own, many versions many points, and many labels arrows at the edge.
DRAWN_RESULTS = ("a search", "20 versions", "40 metrics with labels", "rate and CPU time")
# Each figure with its section, its chart and its tables; a table is a list of rows.
FIGURES = """() => {
  const table = (each) => ({
    caption: each.querySelector("caption").textContent,
    rows: [...each.querySelectorAll("tr")].map((row) =>
      [...row.querySelectorAll("th, td")].map((cell) => cell.textContent)),
  });
  return [...document.querySelectorAll("figure")].map((figure) => ({
    caption: figure.querySelector("figcaption").textContent,
    legend: [...figure.querySelectorAll(".legend li")].map((entry) =>
      [entry.querySelector("span").style.color, entry.textContent.trim().slice(2)]),
    svg: new XMLSerializer().serializeToString(figure.querySelector("svg")),
    tables: [...figure.querySelectorAll("table")].map(table),
    beside: [...figure.closest("section").querySelectorAll("table")].map(table),
  }));
}"""


def _report(run):
    return lambda: report(measured_run(run()))


def _comparison(run, base, other=None, new=None):
    def compared():
        first = run()
        second = other() if other else first
        return comparison(sides((first, base), (second, new or base)))

    return compared


PAGES: dict[str, Callable[[], Report]] = {
    "loads": _report(two.loads),
    "smaller loads": _report(two.smaller_loads),
    "engines": _report(two.engines),
    "smaller engines": _report(two.smaller_engines),
    "compared loads": _comparison(two.loads, BASE, new=NEW),
    "compared engines": _comparison(two.engines, "9.0.0", new="9.8.4"),
    "sizes of loads": _comparison(two.smaller_loads, NEW, two.loads, NEW),
    "sizes of engines": _comparison(two.smaller_engines, "9.8.4", two.engines, "9.8.4"),
    **{name: PREPARED[name].report for name in DRAWN_RESULTS},
}

LONG = ("loads", "sizes of loads")
SLOW = [*product(LONG, (WIDE, NARROW)), ("compared loads", NARROW)]


class Figure(NamedTuple):
    """A figure of a page: a chart and its tables."""

    caption: str
    colors: dict[str, str]
    """The colour of the legend by its words."""
    plot: Plot
    rows: list[dict[str, str]]
    """The rows of the chart's table by column."""
    beside: list[dict[str, str]]
    """The rows of all tables of its section."""
    table: str
    """The caption of the chart's table."""


@pytest.fixture(scope="module")
def tab(tmp_path_factory):
    """Return a way to open a page; no message and no request may come of any."""
    folder, wrong = tmp_path_factory.mktemp("two"), []
    with browser() as chromium:
        tab = chromium.new_page()
        tab.on("console", lambda message: wrong.append(message.text))
        tab.on("pageerror", lambda error: wrong.append(str(error)))
        tab.on("request", lambda sent: sent.url.startswith("file:") or wrong.append(sent.url))

        def opened(text, view):
            file = folder / "page.html"
            file.write_text(text, encoding="utf-8")
            tab.set_viewport_size(view)
            tab.goto(file.as_uri())
            return tab

        yield opened
    assert wrong == []


@pytest.fixture(scope="module")
def texts():
    """Return a way to make the text of a page once."""
    return cache(lambda name: page(PAGES[name]()))


@pytest.mark.parametrize(
    ("name", "view"),
    [
        *((name, WIDE) for name in PAGES if name not in LONG),
        ("compared engines", NARROW),
        # Each takes some seconds.
        *(pytest.param(*long, marks=pytest.mark.systems) for long in SLOW),
    ],
    ids=lambda each: each if isinstance(each, str) else str(each["width"]),
)
def test_each_mark_of_each_chart_is_at_the_figure_of_its_table(tab, texts, name, view):
    opened = tab(texts(name), view)
    if view is NARROW:
        opened.wait_for_function(DRAWN)
        assert opened.evaluate("document.documentElement.scrollHeight") <= MOST_PIXELS
    opened.evaluate("document.querySelectorAll('details').forEach((fold) => { fold.open = true })")
    drawn = opened.locator(".chart[role=img] > svg")
    expect(drawn).to_have_count(opened.locator(".chart").count(), timeout=60_000)

    figures = [_figure(each) for each in opened.evaluate(FIGURES)]

    seen = defaultdict(int)
    for figure in figures:
        kind = next(each for each in CHECKS if re.search(each, figure.caption))
        _hold(CHECKS[kind], figure)
        seen[kind] += 1
    ids = opened.evaluate("[...document.querySelectorAll('[id]')].map(({ id }) => id)")
    assert len({*ids}) == len(ids)
    assert opened.evaluate("document.documentElement.scrollWidth") <= view["width"]
    assert sum(seen.values()) == opened.locator("figure").count() > 3


def _hold(check: Callable[[Figure], None], figure: Figure) -> None:
    try:
        check(figure)
    except (AssertionError, KeyError, ValueError) as wrong:
        raise AssertionError(f"{figure.caption}: {wrong!r}") from wrong


def _figure(drawn) -> Figure:
    (plot,) = plots(drawn["svg"])
    _within(plot)
    rows = [row for table in drawn["tables"] for row in _rows(table)]
    beside = [row for table in drawn["beside"] for row in _rows(table)]
    colors = {words: color for color, words in drawn["legend"]}
    return Figure(drawn["caption"], colors, plot, rows, beside, drawn["tables"][0]["caption"])


def _rows(table) -> Iterator[dict[str, str]]:
    columns, *rows = table["rows"]
    for row in rows:
        cells = (cell.replace("\xa0", " ") for cell in row)
        yield dict(zip(columns, cells, strict=True))


def _within(plot: Plot) -> None:
    """Hold that no mark is cut off by the edge of its plot."""
    for name, marks in plot.marks.items():
        for place in (place for mark in marks for place in mark.places):
            assert -1 <= place.x <= plot.width + 1, name
            assert -1 <= place.y <= plot.height + 1, name


def near(value: float, cell: str, pixel: float) -> bool:
    """Tell whether a mark is at the figure of a cell, as far as a pixel and its digits tell."""
    figure, half = reading(cell)
    return abs(value - figure) <= half + 0.6 * pixel


def _changes(figure: Figure) -> None:
    rows = [row for row in figure.beside if "Δ" in row and "Metric" in row and "Test" not in row]
    lower, plot = _lower_is_better(), figure.plot
    changed = [row for row in rows if row["Δ"] != "none"][:20]
    assert len(plot.named("intervals")) == len(changed) >= 2
    zero = next(at for text, at in plot.x.labels if number(text) == 0)
    last, end = plot.x.labels[-1]
    pixel = number(last) / (end - zero)
    for place, (row, (label, _)) in enumerate(zip(changed, plot.y.labels, strict=True)):
        title = row["Metric"].rpartition(" [")[0]
        columns = [*row]
        labels = columns[1 : columns.index("Verdict")]
        told = ", ".join(f"{each}: {row[each]}" for each in labels if row[each])
        _same_name(label, f"{title} {{{told}}}" if told else title)
        sign = -1 if title.partition(": ")[2].split()[0] in lower else 1
        _change(figure, place, row, lambda x, sign=sign: sign * (x - zero) * pixel, pixel)


def _same_name(label: str, name: str) -> None:
    """Hold that a label is a name, whose lines may lack their middle."""
    start, _, end = label.partition("…")
    same = name.startswith(start) and name.endswith(end) if "…" in label else label == name
    assert same, (label, name)


def _change(figure, place, row, share, pixel) -> None:
    """Hold one change against its row; ``share`` is the change at a place."""
    plot, (effect, half) = figure.plot, reading(row["Δ"])
    ends = [] if row["95 % interval"] == "none" else interval(row["95 % interval"])
    (line,) = plot.in_row(place, "intervals")
    points, arrows = plot.in_row(place, "(un)?decided"), plot.in_row(place, "beyond")
    words = [text.text.replace("\xa0", " ") for text in plot.in_row(place, "figures_.*")]
    is_beyond = not points
    assert len(points) == (not is_beyond)
    assert abs(effect) >= 1 - half if is_beyond else abs(effect) <= 1 + half
    for point in points:
        assert abs(share(point.at.x) - effect) <= half + pixel
    drawn = [share(place.x) for place in line.places]
    for (told, digits), at in zip(ends or [(effect, half)] * 2, drawn, strict=True):
        assert abs(at - min(1, max(-1, told))) <= digits + pixel
    if is_beyond:
        assert row["Δ"] + (f", {row['95 % interval']}" if ends else "") in words
    for told, digits in [(effect, half), *ends]:
        at = [arrow for arrow in arrows if share(arrow.at.x) * told > 0]
        assert len(at) == 1 if abs(told) > 1 + digits else True
    assert len(arrows) == len(words)
    assert bool(arrows) <= any(abs(told) >= 1 - digits for told, digits in [(effect, half), *ends])
    assert all(abs(abs(share(arrow.at.x)) - 1) <= pixel for arrow in arrows)
    word = row["Verdict"][2:]
    assert {mark.color for mark in (line, *points, *arrows)} == {figure.colors[word]}
    decided = word in {"slower", "faster", "same"}
    assert all(point.filled == decided for point in points)


def _lower_is_better() -> set[str]:
    suites = (two.loads().plan.suite, two.engines().plan.suite)
    return {metric.name for suite in suites for test in suite.tests for metric in test.metrics
            if metric.direction == "lower"} | {"ingest_cpu"}  # fmt: skip


def _levels(figure: Figure) -> None:
    plot = figure.plot
    rated = [row for row in figure.rows if row["Rate"] != "missing"]
    points, spreads = plot.named("rates"), plot.named("spreads")
    assert len(points) == len(spreads) == len(rated) >= 3
    steps = [after.at.x - before.at.x for before, after in pairwise(points)]
    assert len(rated) < len(figure.rows) or steps == pytest.approx([steps[0]] * len(steps), abs=0.5)
    labelled = {text for text, _ in plot.x.labels}  # many versions lack the labels of some
    for row, point, spread in zip(rated, points, spreads, strict=True):
        assert row["Version"] not in labelled or plot.x.nearest(point.at.x) == row["Version"]
        assert near(plot.y.value(point.at.y), row["Rate"], plot.y.unit), row
        rate, around = reading(row["Rate"]), reading(row["± spread"] or "0")
        ends = sorted(plot.y.value(place.y) for place in spread.places)
        for end, told in zip(ends, (rate[0] - around[0], rate[0] + around[0]), strict=True):
            assert abs(end - told) <= rate[1] + around[1] + plot.y.unit, row
        word = row["Verdict"][2:]
        if row["Verdict"].startswith("nearer to "):
            word = "same" if row["Verdict"].endswith(f" {rated[0]['Version']}") else "slower"
        assert point.color == spread.color == figure.colors.get(word, "var(--ink)"), row


def _samples(figure: Figure) -> None:
    plot, y = figure.plot, figure.plot.y
    by_trial: dict[tuple[str, str], list[float]] = defaultdict(list)
    left_out, kept = [], []
    for row in figure.rows:
        logged = [number(text) for text in row["Samples"].split(", ") if text != "none"]
        if row["In the rate"] == "yes":
            kept += [(row["Version"], value) for value in logged]
            by_trial[row["Version"], row["Trial"]] += logged
        else:
            left_out += [(row["Version"], value) for value in logged]
    for name, told in (("samples", kept), ("left_out", left_out)):
        drawn = [(plot.x.nearest(mark.at.x), y.value(mark.at.y)) for mark in plot.named(name)]
        _same_pairs(drawn, told, y.unit)
    means = [(version, math.fsum(each) / len(each)) for (version, _), each in by_trial.items()]
    _means(figure, means)


def _figures(figure: Figure) -> None:
    (column,) = figure.rows[0].keys() - {"Trial", "Version"}
    known = [row for row in figure.rows if row[column] != "missing"]
    digits = max(reading(row[column])[1] for row in known)
    _means(figure, [(row["Version"], reading(row[column])[0]) for row in known], digits)


def _means(figure: Figure, trials: list[tuple[str, float]], digits: float = 0.0) -> None:
    """Hold that the lines of trials and of versions are at the means of the trials."""
    plot, y = figure.plot, figure.plot.y
    drawn = [(_column(plot, mark), y.value(mark.at.y)) for mark in plot.named("trials")]
    pixel = y.unit + 2 * digits
    _same_pairs(drawn, trials, pixel)
    versions = defaultdict(list)
    for version, value in trials:
        versions[version].append(value)
    whole = [(version, math.fsum(each) / len(each)) for version, each in versions.items()]
    drawn = [(_column(plot, mark), y.value(mark.at.y)) for mark in plot.named("versions")]
    _same_pairs(drawn, whole, pixel)


def _column(plot: Plot, mark) -> str:
    return plot.x.nearest((mark.places[0].x + mark.places[1].x) / 2)


def _same_pairs(drawn, told, unit) -> None:
    assert len(drawn) == len(told)
    for (name, value), (version, figure) in zip(sorted(drawn), sorted(told), strict=True):
        assert name == version
        assert abs(value - figure) <= 0.6 * unit, (name, value, figure)


def _lines(figure: Figure) -> None:
    plot, y = figure.plot, figure.plot.y
    for number_of, (version, color) in enumerate(figure.colors.items(), start=1):
        rows = [row for row in figure.rows if row["Version"] == version]
        paths = plot.named(f"series_{number_of}")
        assert all(path.color == color for path in paths)
        lines = [path for path in paths if not path.shape]
        drawn = [[y.value(place.y) for place in path.places] for path in lines]
        assert len(drawn) == len(rows), version
        _largest_and_mean(drawn, rows, y.unit)
        lone = [path for path in lines if len({*path.places}) == 1]
        points = plot.named(f"points_{number_of}")
        ends = zip(
            sorted(each.at for each in points), sorted(each.at for each in lone), strict=True
        )
        # A path has places in thousandths of a pixel.
        assert all(math.dist(point, end) < 0.01 for point, end in ends)
        assert all(point.color == color and point.filled for point in points)


def _users(figure: Figure) -> None:
    """Hold the chart of a search, whose crosses are the levels that hit a limit."""
    _lines(figure)
    plot, y = figure.plot, figure.plot.y
    crossed = 0
    for number_of, (version, color) in enumerate(figure.colors.items(), start=1):
        own = [row for row in figure.beside if row["Version"] == version]
        over = [row["Users"] for row in own if row.get("Limits hit", "none") != "none"]
        crosses = plot.named(f"failed_{number_of}")
        ends = sorted(y.value(mark.at.y) for mark in crosses)
        for end, cell in zip(ends, sorted(over, key=number), strict=True):
            assert near(end, cell, y.unit), version
        assert all(mark.color == color for mark in crosses)
        crossed += len(crosses)
    assert ("a limit was hit" in figure.colors) == bool(crossed)


def _over_users(figure: Figure) -> None:
    plot, x, y = figure.plot, figure.plot.x, figure.plot.y
    (line,) = plot.named("limit")
    limit = re.search(r"the limit is (\S+)\.$", figure.caption)[1]
    assert near(y.value(line.at.y), limit, y.unit)
    assert line.color == figure.colors["limit"]
    for number_of, (version, color) in enumerate(figure.colors.items(), start=1):
        rows = [row for row in figure.rows if row["Version"] == version]
        held, failed = (plot.named(f"{name}_{number_of}") for name in ("held", "failed"))
        marks = sorted([*held, *failed], key=lambda mark: mark.at.x)
        rows.sort(key=lambda row: number(row["Users"]))
        for mark, row in zip(marks, rows, strict=True):
            assert near(x.value(mark.at.x), row["Users"], x.unit), row
            assert near(y.value(mark.at.y), row["Mean"], y.unit), row
            is_over = 2 * int(row["Over the limit"]) > int(row["Levels"])
            assert (mark in failed, mark.color) == (is_over, color), row
        for path in plot.named(f"line_{number_of}"):
            for place, mark in zip(path.places, marks, strict=True):
                assert math.dist(place, mark.at) < 0.01


def _largest_and_mean(drawn, rows, unit) -> None:
    for told, figure_of in (("Largest", max), ("Mean", lambda each: math.fsum(each) / len(each))):
        values = sorted(map(figure_of, drawn))
        cells = sorted((row[told] for row in rows), key=number)
        for value, cell in zip(values, cells, strict=True):
            assert near(value, cell, unit), (told, value, cell)
    assert sorted(map(len, drawn)) == sorted(int(row["Points"]) for row in rows)


def _progress(figure: Figure) -> None:
    plot = figure.plot
    (finished,) = [column for column in figure.rows[0] if column.endswith(" finished")]
    for number_of, (version, color) in enumerate(figure.colors.items(), start=1):
        rows = [row for row in figure.rows if row["Version"] == version]
        marks = plot.named(f"series_{number_of}")
        paths = [mark for mark in marks if not mark.shape]
        assert len(paths) == len(rows)
        assert all(mark.color == color for mark in marks)
        for axis, column, places in (
            (plot.y, finished, [path.places[-1].y for path in paths]),
            (plot.x, "100 % done [s]", [path.places[-1].x for path in paths]),
        ):
            ends = sorted(map(axis.value, places))
            cells = sorted((row[column] for row in rows), key=number)
            assert all(map(near, ends, cells, [axis.unit] * len(ends))), column


TITLE = r"(.*): ([\d.]+) % of all samples, .* points"
FRAMES = """() => [...document.querySelectorAll(".flame")].map((graph) => {
  const width = ({ width }) => Number(width.baseVal.value);
  const frames = [...graph.querySelectorAll("g.frame")].map((frame) => ({
    title: frame.querySelector("title").textContent,
    width: width(frame.querySelector("rect")),
    fill: frame.querySelector("rect").getAttribute("fill"),
  }));
  return { name: graph.dataset.name, frames };
})"""


@pytest.mark.parametrize("trials", [1, 5])
def test_a_frame_is_as_wide_as_its_share_and_has_the_colour_of_the_verdict(tab, trials):
    base, new = (profiles(trials, slower) for slower in (1.0, 1.6))
    found = compare(base, new)
    drawn = profiled_version("9.0.0", base), profiled_version("9.8.4", new)

    opened = tab(differential_page("Grown", *drawn, found, flame_graph_scripts()), WIDE)

    expect(opened.locator("g.frame").first).to_be_visible()
    told = {each.function: each.word for each in found.changes if each.kind == "inclusive"}
    assert ("grew" in told.values()) == (trials > 1)
    only = {
        version: {each.function for each in functions}
        for version, functions in (("9.8.4", found.come), ("9.0.0", found.gone))
    }
    assert all(only.values())
    for graph in opened.evaluate(FRAMES):
        widest = max(graph["frames"], key=lambda frame: frame["width"])
        whole = float(re.fullmatch(TITLE, widest["title"])[2])
        for frame in graph["frames"]:
            name, share = re.fullmatch(TITLE, frame["title"]).groups()
            part = frame["width"] / widest["width"]
            assert part == pytest.approx(float(share) / whole, abs=0.003)
            word = "only" if name in only[graph["name"]] else told.get(name, "cannot tell")
            assert _hue(frame["fill"]) == word, (graph["name"], frame)
        _table_of_functions(opened, graph)
    legend = ["grew", "shrank", "only in this version", "cannot tell"]
    expect(opened.locator(".legend li:not(#most)")).to_have_text(legend)
    titles = opened.locator("g.frame title").all_text_contents()
    points = [number(re.search(r", (\S+) points$", each)[1]) for each in titles]
    largest = max(map(abs, points))
    expect(opened.locator("#most")).to_have_text(f"The strongest colour is {largest:.2f} points.")


def _table_of_functions(opened, graph) -> None:
    """Hold that the table and the frames of a graph have the same totals."""
    heads = opened.locator(".functions thead th").all_text_contents()
    names = opened.locator(".functions tbody th").all_text_contents()
    place = heads.index(f"Total, {graph['name']}")
    cells = opened.locator(f".functions tbody tr > :nth-child({place + 1})").all_text_contents()
    drawn = defaultdict(float)
    for frame in graph["frames"]:
        name, share = re.fullmatch(TITLE, frame["title"]).groups()
        drawn[name] += float(share)
    assert {*drawn} - {"all"} <= {name.partition("Callers")[0] for name in names}
    for name, cell in zip(names, cells, strict=True):
        share = drawn[name.partition("Callers")[0]]
        assert 100 * number(cell.replace("\xa0", " ")) == pytest.approx(share, abs=0.02), name


def profiles(trials, slower):
    """Return the profiles of a version, with a function that the other has not."""
    own = "db::Old" if slower == 1 else "db::New"
    return [
        ProfiledTrial(
            {
                "main;db::Next": round(401 * slower) + trial,
                "main;db::Add": 599 - trial,
                f"main;{own}": 97,
            }
        )
        for trial in range(trials)
    ]


def _hue(fill: str) -> str:
    """Return the verdict that a colour stands for: orange, blue, yellow or next to white."""
    if fill.startswith("#"):
        red, green, blue = (int(fill[at : at + 2], 16) for at in (1, 3, 5))
    else:
        red, green, blue = map(int, re.findall(r"\d+", fill))
    if max(red, green, blue) - min(red, green, blue) < 8:
        return "cannot tell"
    if blue > red:
        return "shrank"
    return "only" if red - green < 12 else "grew"


@pytest.fixture(scope="module")
def tables():
    objects = {}
    for run in (two.loads(), two.smaller_loads(), two.engines(), two.smaller_engines()):
        suite, run_id = run.plan.suite.name, run.plan.run_id
        row = run_row(run.plan, run.trials, "complete", "", run.plan.started_at)
        rates = list(rate_rows(run.plan, run.trials, run.exclusions))
        objects |= tables_of(suite, run_id, rates=rates, runs=[row])
    return Tables(objects, "rocksdb,kiwi")


@pytest.mark.parametrize("suite", ["rocksdb", "kiwi"])
def test_each_chart_of_a_picture_of_a_history_has_the_figures_of_its_labels(tables, suite):
    rows = ask_saved(tables, "rates_by_version", {"suite": suite}).records()
    versions = histories(rows)
    # The suite of a load has 62 columns; a picture of all takes six seconds.
    shown = list(columns(versions))
    headings = {name: heading(name, versions) for name in shown[:: 1 + len(shown) // 12]}

    drawn = plots(picture(history_charts(versions, headings), suite, ".svg").decode())

    assert len(drawn) == len(headings) > 1
    for plot, (name, title) in zip(drawn, headings.items(), strict=True):
        assert plot.x.title.startswith(f"{title}, ")
        figures = [each.figures[name] for each in versions if name in each.figures]
        points, spreads = plot.named("figures"), plot.named("spreads")
        assert len(plot.y.labels) == len(points) == len(spreads) == len(figures)
        for figure, point, spread in zip(figures, points, spreads, strict=True):
            label = plot.y.nearest(point.at.y).replace("\xa0", " ")
            assert label.endswith(figure.text(exact=False)), name
            ends = [figure.value + way * (figure.spread or 0.0) for way in (-1, 0, 1)]
            at = [plot.x.value(each.x) for each in (spread.at, point.at, spread.places[1])]
            assert at == pytest.approx(ends, abs=plot.x.unit), name


def test_the_picture_of_a_comparison_has_its_figures():
    run = two.loads()
    found = document(sides((run, BASE), (run, NEW)))
    metrics = [each for each in found.metrics if each.effect is not None][:MOST]

    (plot,) = plots(changes_picture(found, ".svg").decode())

    assert len(plot.named("intervals")) == len(metrics)
    for row, (metric, (label, _)) in enumerate(zip(metrics, plot.y.labels, strict=True)):
        (line,) = plot.in_row(row, "intervals")
        sign = 1 if metric.direction == "higher" else -1
        zero = next(at for text, at in plot.x.labels if number(text) == 0)
        last, end = plot.x.labels[-1]
        drawn = [number(last) * (each.x - zero) / (end - zero) for each in line.places]
        told = [min(1, max(-1, sign * each)) for each in (metric.low, metric.high)]
        assert drawn == pytest.approx(told, abs=0.01), metric.name
        assert label.startswith(f"{metric.test}: {metric.name} "), metric.name
        assert label.replace("\xa0", " ").endswith(marked(metric.verdict)), metric.name


# The check of a chart, by what its caption has.
CHECKS: dict[str, Callable[[Figure], None]] = {
    "^Δ of each metric": _changes,
    "by version, ± its spread": _levels,
    "samples? of .*, by version and trial": _samples,
    " of each trial, by version": _figures,
    "^Progress of ": _progress,
    "^Users of the levels": _users,
    " over users, ": _over_users,
    " over time|the mean over the tasks of a trial": _lines,
}
