"""Each mark that the dashboard draws, against the figures of its tables and of the stored runs."""

import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from functools import cache
from itertools import pairwise, product

import pytest
from playwright.sync_api import expect

from tests.component.cloud.browser import browser
from tests.component.cloud.twelve_versions import Tables
from tests.unit.two_of_everything import METRICS, RUNS, START, stored_runs, tables
from tidemark.client.tables import ask_saved
from tidemark.dashboard.page import build
from tidemark.report.marks import MARKS

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
PATIENCE = 60_000  # ms, on a busy machine
DRAWN = "main:not([aria-busy])"
VIEWPORTS = {"light": {"width": 1360, "height": 900}, "dark": {"width": 390, "height": 844}}
COLORS = {"slower": "var(--worse)", "faster": "var(--better)", "same": "var(--ink)"}
STATUSES = {
    "complete": "#007A5A", "incomplete": "#9A6700", "failed": "#D55E00", "aborted": "#A35A8B",
}  # fmt: skip
RATES_TILES = ("slower", "worst-change", "untold")
COMPARE_TILES = ("compare-slower", "compare-worst", "compare-untold")
EVERY_SUITE = ("", "rocksdb", "sleeper")
PAIRS = ("Base=0.30.0&New=0.31.0", "Base=8.8.1&New=9.8.4")
# Give a page other choices. It reads them in its own listener, which was there first.
CHOOSE = """(choices) => new Promise((chosen) => {
  if (location.hash === choices) chosen();
  addEventListener("hashchange", () => chosen(), { once: true });
  location.hash = choices;
})"""
# The drawing of a figure: its axes by scale, and its marks with their places on the screen [px].
DRAWN_IN = """(figures) => figures.map((figure) => {
  const placed = (mark, item, x, y) => {
    const at = new DOMPoint(x ?? 0, y ?? 0).matrixTransform(mark.getScreenCTM());
    return [at.x, at.y];
  };
  const marks = (role) => [...figure.querySelectorAll(`svg .${role}`)].flatMap((mark) =>
    [...mark.children].filter(({ __data__ }) => __data__?.mark).flatMap((element) => {
      const first = element.__data__;
      const joined = first.mark.marktype === "line";
      const items = joined ? first.mark.items.filter(({ defined }) => defined !== false) : [first];
      return items.map((item) => ({
        type: item.mark.marktype, datum: item.datum, text: item.text,
        scale: item.mark.group.datum?.scale,
        from: placed(mark, item, item.x, item.y),
        to: placed(mark, item, item.x2 ?? (item.x ?? 0) + (item.width ?? 0),
          item.y2 ?? (item.y ?? 0) + (item.height ?? 0)),
        fill: item.fill, stroke: item.stroke, shape: item.shape,
      }));
    }));
  const lines = (selector) => [...figure.querySelectorAll(selector)].map((row) =>
    [...row.querySelectorAll("th, td")].map((cell) => cell.innerText));
  return {
    name: figure.dataset.series,
    caption: figure.querySelector("figcaption").innerText,
    labels: marks("role-axis-label"),
    marks: marks("role-mark"),
    heads: lines("details thead tr")[0],
    rows: lines("details tbody tr"),
    missing: figure.querySelector(".missing")?.innerText ?? "",
    levels: [...figure.querySelectorAll(".level")].map((level) => level.innerText),
    legend: [...figure.querySelectorAll(".legend li")].map((entry) => entry.innerText),
    colors: Object.fromEntries([...figure.querySelectorAll(".legend li span")].map((span) =>
      [span.nextSibling.textContent.trim(), span.style.color])),
  };
})"""


@pytest.fixture(scope="module")
def store():
    return Tables(tables(stored_runs()))


@pytest.fixture(scope="module")
def address(store, tmp_path_factory):
    file = tmp_path_factory.mktemp("marks") / "dashboard.html"
    file.write_text(build(store, NOW), encoding="utf-8")
    return file.as_uri()


@pytest.fixture(scope="module")
def records(store):
    """Return a way to have the rows of a saved query."""
    return cache(lambda name: ask_saved(store, name).records())


@pytest.fixture(scope="module")
def chromium():
    with browser() as chromium:
        yield chromium


@pytest.fixture(scope="module")
def pages(chromium, address):
    """A way to have the page of some choices, and the list of its messages."""
    pages, said = {}, []

    def page(scheme):
        context = chromium.new_context(color_scheme=scheme, viewport=VIEWPORTS[scheme])
        context.set_default_timeout(PATIENCE)
        page = context.new_page()
        page.on("console", lambda message: said.append(message.text))
        page.on("pageerror", lambda error: said.append(str(error)))
        page.goto(f"{address}#sheet=about")
        return page

    def shown(choices, scheme):
        if scheme not in pages:
            pages[scheme] = page(scheme)
        pages[scheme].evaluate(CHOOSE, f"#{choices}")
        return pages[scheme]

    yield shown, said
    for each in pages.values():
        each.context.close()


@pytest.fixture
def open_sheet(pages):
    """Return a way to open a sheet with all its folds; no message may come of it."""
    shown, said = pages

    def open_sheet(sheet, choices="", scheme="light"):
        return unfolded(shown(f"sheet={sheet}&{choices}", scheme), sheet)

    yield open_sheet
    found = [*said]
    said.clear()
    assert found == []


def unfolded(page, sheet):
    """Return the page with all folds of a sheet, once it is drawn."""
    page.locator(DRAWN).wait_for()
    folds = page.locator(f"#{sheet} figure details")
    folds.evaluate_all("(all) => all.forEach((fold) => { fold.open = true; })")
    tables = page.locator(f"#{sheet} figure details table")
    expect(tables).to_have_count(folds.count(), timeout=PATIENCE)
    return page


def drawn_in(page, visual):
    """Return what the charts of a visual show, by their names."""
    return {each["name"]: each for each in page.locator(f"#{visual} figure").evaluate_all(DRAWN_IN)}


def table(page, visual):
    """Return the rows of a visual's table as texts by the heads of their columns."""
    heads = page.locator(f"#{visual} > .body > .scroll thead th").all_inner_texts()
    body = page.locator(f"#{visual} > .body > .scroll tbody")
    lines = body.evaluate_all(
        """(bodies) => bodies.flatMap((body) => [...body.rows].map((row) =>
          [...row.cells].map((cell) => cell.innerText)))"""
    )
    return [dict(zip(heads, line, strict=True)) for line in lines]


def tile(page, visual):
    return page.locator(f"#{visual} .body").inner_text().replace("\xa0", " ").split("\n")


def number(text):
    """Return the number of a figure's text and half of its last digit; None for no value."""
    if text == "–":
        return None
    digits = re.match(r"[+−]?[\d,]+(?:\.(\d+))?", text)
    places = len(digits[1] or "")
    value = float(digits[0].replace(",", "").replace("−", "-"))
    half = 0.5 * 10**-places
    if "times" in text:
        return value - 1, half
    return (value / 100, half / 100) if "%" in text else (value, half)


class Axis:
    """The axis of a chart's values, which tells values from places on the screen."""

    def __init__(self, figure, scale):
        self._place = "xy".index(scale)
        ticks = [
            (each["datum"]["value"], each["from"][self._place], each["text"])
            for each in figure["labels"]
            if each["scale"] == scale
        ]
        for value, _, text in ticks:
            shown, half = number(text)
            assert abs(abs(value) - shown) <= half, (figure["name"], text)
        (low, start, _), (high, end, _) = ticks[0], ticks[-1]
        self._per_pixel = (high - low) / (end - start)
        self._low, self._start = low, start

    def value(self, point):
        return self._low + (point[self._place] - self._start) * self._per_pixel

    def is_at(self, point, text_or_value):
        """Tell whether a place is that of a figure, to half a pixel and the digits of its text."""
        value, half = (
            number(text_or_value) if isinstance(text_or_value, str) else (text_or_value, 0.0)
        )
        return abs(self.value(point) - value) <= half + abs(self._per_pixel) / 2


def categories(figure, scale="x"):
    """Return the categories of a chart with their places, as they stand on its axis."""
    place = "xy".index(scale)
    labels = [
        (each["datum"]["value"], each["from"][place])
        for each in figure["labels"]
        if each["scale"] == scale
    ]
    assert [at for _, at in labels] == sorted(at for _, at in labels), figure["name"]
    return dict(labels)


def of_type(figure, kind, field):
    return [each for each in figure["marks"] if each["type"] == kind and field in each["datum"]]


def in_order_of_numbers(text):
    """Return the key by which 1 × 200,000 comes before 1 × 1,000,000."""
    parts = re.split(r"(\d+)", text.replace(",", ""))
    return [(int(part), "") if part.isdigit() else (0, part) for part in parts]


def tooltips_of(figure):
    return {
        mark["datum"]["category"]: mark["datum"]["tooltip"]
        for mark in of_type(figure, "rect", "tooltip")
    }


def all_within(figure, scale):
    """Tell whether no mark is outside of the chart, which the places for the pointer fill."""
    place = "xy".index(scale)
    (filled,) = {
        (round(mark["from"][place]), round(mark["to"][place]))
        for mark in of_type(figure, "rect", "tooltip")
    }
    return all(
        min(filled) - 1 <= end[place] <= max(filled) + 1
        for mark in figure["marks"]
        for end in (mark["from"], mark["to"])
    )


# Charts of rates


def has_every_point(figure, expected, markers, *, joined):
    """Check each point of a chart of rates, ``expected`` as {category: {series: value}}."""
    name, axis = figure["name"], Axis(figure, "y")
    heads = figure["heads"][1:]
    # The fold has every category, with and without values, in order.
    assert [row[0] for row in figure["rows"]] == list(expected), name
    for category, *texts in figure["rows"]:
        for head, text in zip(heads, texts, strict=True):
            exact = expected[category][head]
            if exact is None:
                assert text == "–", name
            else:
                value, half = number(text)
                assert abs(value - exact) <= half * 1.001, (name, category, head, text, exact)
    places = categories(figure)
    measured = [each for each, of in expected.items() if any(v is not None for v in of.values())]
    first, last = (list(expected).index(measured[end]) for end in (0, -1))
    assert list(places) == list(expected)[first : last + 1], name
    without = [each for each in expected if each not in measured]
    assert figure["missing"].startswith("No value for " + ", ".join(without[:8]) if without else "")
    assert bool(figure["missing"]) == bool(without), name

    texts = {row[0]: dict(zip(heads, row[1:], strict=True)) for row in figure["rows"]}
    points = {(p["datum"]["category"], p["datum"]["series"]): p
              for p in of_type(figure, "symbol", "series")}  # fmt: skip
    vertices = {(p["datum"]["category"], p["datum"]["series"]): p
                for p in of_type(figure, "line", "series")}  # fmt: skip
    for (category, series), mark in [*points.items(), *vertices.items()]:
        assert axis.is_at(mark["from"], texts[category][series]), (name, category, series)
        assert abs(mark["from"][0] - places[category]) < 0.5, (name, category, series)
        if series in markers:
            assert (mark["fill"] if mark["type"] == "symbol" else mark["stroke"]) == (
                figure["colors"][series]
            )
    assert all_within(figure, "y"), name
    tooltips = tooltips_of(figure)
    assert list(tooltips) == list(places), name
    for category, tooltip in tooltips.items():
        assert {head: tooltip[head] for head in heads} == texts[category], (name, category)
    for head in heads:
        there = [category for category in expected if expected[category][head] is not None]
        alone = [
            category
            for category in there
            if not {list(expected)[place + step]
                    for place in [list(expected).index(category)] for step in (-1, 1)
                    if 0 <= place + step < len(expected)} & {*there}
        ]  # fmt: skip
        dotted = there if head in markers else alone
        assert [c for c, series in points if series == head] == dotted, (name, head)
        if joined:
            missed = {*there} - {c for c, series in vertices if series == head} - {*dotted}
            assert not missed, (name, head, missed)
        else:
            assert not vertices, name


def by_panel(rows, category, order, columns):
    """Return {series: {category: {column: value}}} of rows, each with all its kin's categories."""
    panels = {}
    for row in sorted(rows, key=order):
        panels.setdefault(row["series"], []).append(row)
    expected = {}
    for series, own in panels.items():
        kin = [
            row
            for row in sorted(rows, key=order)
            if all(row.get(name) == own[0].get(name) for name in ("suite", "sizes", "labels"))
        ]
        figures = {row[category]: row for row in own}
        expected[series] = {
            each: {
                column.capitalize(): None if (v := figures.get(each, {}).get(column)) is None
                else float(v)
                for column in columns
            }
            for each in dict.fromkeys(row[category] for row in kin)
        }  # fmt: skip
    return expected


def chosen(rows, suite, test=""):
    return [r for r in rows if suite in ("", r["suite"]) and test in ("", r.get("test"))]


def has_every_rate(page, records, suite, test=""):
    """Check the charts of rates by version and by run, and the marked changes of level."""
    versions = chosen(records("rates_by_version"), suite, test)
    runs = chosen(records("rates_by_run"), suite, test)
    columns = ("mean", "min", "max")
    of_visual = {
        "history": by_panel(versions, "version", lambda r: int(r["version_rank"]), columns),
        "run-history": by_panel(runs, "run_id", lambda r: r["run_id"], columns),
    }
    changes = chosen(records("level_changes"), suite, test)
    for visual, expected in of_visual.items():
        figures = drawn_in(page, visual)
        assert list(figures) == sorted(expected, key=in_order_of_numbers)
        for name, figure in figures.items():
            has_every_point(figure, expected[name], {"Mean"}, joined=True)
            assert "{" not in figure["caption"]
            assert "), database: " in figure["caption"], name
            place = "version" if visual == "history" else "changed_run"
            known = [
                row for row in changes if name == f"{row['suite']}: {row['rate']}, {row['sizes']}"
            ]
            rules = of_type(figure, "rule", "category")
            assert [rule["datum"]["category"] for rule in rules] == [row[place] for row in known]
            assert [rule["stroke"] for rule in rules] == [COLORS[row["verdict"]] for row in known]
            levels = zip(known, figure["levels"], strict=True)
            assert all(MARKS[row["verdict"]] in level for row, level in levels), name
    # Every version has the same means in its row of the table.
    history = drawn_in(page, "history")
    for row in table(page, "versions"):
        for rate in [each for each in row if each.endswith(")")]:
            name = f"{row['Suite']}: {rate}, {row['Tasks × records']}"
            texts = {each[0]: each[1] for each in history[name]["rows"]} if name in history else {}
            assert texts.get(row["Version number"], "–") == row[rate], (name, row)
    assert len(table(page, "versions")) == len(
        {(row["suite"], row["version"], row["sizes"]) for row in versions}
    )


# Bars of changes


def has_every_change(page, records, visual, listed, tiles):
    """Check the bars of a comparison against the rows of its table, and the table's against SQL."""
    rows = {f"{row['Suite']}: {row['Metric']}": row for row in table(page, listed)}
    stored = {
        row["series"]: row
        for row in records("version_pairs")
        for shown in [rows.get(row["series"])]
        if shown and (row["base_version"], row["new_version"])
        == (shown.get("Before", shown.get("Base")), shown.get("Newest", shown.get("New")))
    }  # fmt: skip
    assert {*stored} == {*rows}
    assert list(rows) == sorted(rows)
    losses = {name: -1 if row["direction"] == "lower" else 1 for name, row in stored.items()}
    for name, row in rows.items():
        for head, column in (("Δ", "effect"), ("From (95 %)", "low"), ("To (95 %)", "high")):
            exact, shown = stored[name][column], number(row[head])
            assert (shown is None) == (exact is None), (name, head)
            if shown:
                assert abs(shown[0] - float(exact)) <= shown[1] * 1.001, (name, head)
    changed = {name: row for name, row in rows.items() if row["Δ"] != "–"}
    worst_first = sorted(changed, key=lambda name: losses[name] * float(stored[name]["effect"]))

    slower = sum(row["Verdict"] == "▼ slower" for row in rows.values())
    untold = sum(row["Verdict"][0] in "?–▽△≈" for row in rows.values())
    assert [tile(page, tiles[0]), tile(page, tiles[2])] == [[f"{slower}"], [f"{untold}"]]
    assert [each for each in tile(page, tiles[1]) if each] == (
        [changed[worst_first[0]]["Δ"], worst_first[0]] if changed else ["–"]
    )

    (figure,) = drawn_in(page, visual).values()
    axis = Axis(figure, "x")
    assert list(categories(figure, "y")) == worst_first
    assert all_within(figure, "x")
    bars = {bar["datum"]["category"]: bar for bar in of_type(figure, "rect", "series")}
    whiskers = {mark["datum"]["category"]: mark for mark in of_type(figure, "rule", "low")}
    arrows = {(mark["datum"]["category"], mark["shape"]): mark
              for mark in of_type(figure, "symbol", "at")}  # fmt: skip
    tooltips = tooltips_of(figure)
    assert {*bars} == {*tooltips} == {*changed}
    beyond = set()
    for name, row in changed.items():
        word = row["Verdict"][2:]
        gain, half = number(row["Δ"])
        ends = [number(row[head])[0] for head in ("From (95 %)", "To (95 %)") if row[head] != "–"]
        gain, ends = losses[name] * gain, sorted(losses[name] * end for end in ends)
        bar = bars[name]
        left, right = axis.value(bar["from"]), axis.value(bar["to"])
        near = half + abs(axis._per_pixel)
        assert abs(left - max(-1, min(gain, 0))) <= near, (name, left, gain)
        assert abs(right - min(1, max(gain, 0))) <= near, (name, right, gain)
        assert bar["stroke"] == COLORS.get(word, "var(--unclear)"), name
        assert bar["fill"] == COLORS.get(word, "transparent"), name
        if ends:
            shown = [axis.value(whiskers[name][end]) for end in ("from", "to")]
            clipped = [max(-1, min(1, end)) for end in ends]
            assert sorted(shown) == pytest.approx(clipped, abs=near), name
        beyond |= {(name, "triangle-left")} if min([gain, *ends]) < -1 else set()
        beyond |= {(name, "triangle-right")} if max([gain, *ends]) > 1 else set()
        # The fold and the tooltip have the change as the table has it.
        line = next(each for each in figure["rows"] if each[0] == name)
        texts = dict(zip(figure["heads"], line, strict=True))
        assert texts[word] == row["Δ"], name
        told = tooltips[name][word].replace("\xa0", " ")
        assert told.startswith(row["Δ"]), (name, told)
        assert told.endswith(f"to {row['To (95 %)']}" if ends else row["Δ"]), (name, told)
    assert {*arrows} == beyond
    for (name, shape), arrow in arrows.items():
        side = -1 if shape == "triangle-left" else 1
        assert side * axis.value(arrow["from"]) > 1, name
        of_bar = side * losses[name] * number(changed[name]["Δ"])[0] > 1
        assert arrow["fill"] == (bars[name]["fill"] if of_bar else "var(--ink)"), name
    without = [name for name in rows if name not in changed]
    assert all(name in figure["missing"] for name in without)
    assert bool(figure["missing"]) == bool(without)


# Charts of trials


def has_every_trial(page, records, suite, run):
    rows = [row for row in chosen(records("trials_of_newest_runs"), suite) if row["run"] == run]
    expected = by_panel(rows, "name", lambda r: int(r["trial"]), ("value", "min", "max"))
    figures = drawn_in(page, "trials")
    assert list(figures) == sorted(expected, key=in_order_of_numbers)
    for name, figure in figures.items():
        has_every_point(figure, expected[name], {"Value", "Min", "Max"}, joined=False)
    machines = table(page, "machines")
    assert len(machines) == len(rows)
    for row in machines:
        figure = figures[f"{row['Suite']}: {row['Metric']}"]
        (line,) = [r for r in figure["rows"] if r[0].startswith(f"{row['Trial']}: ")]
        assert line[1] == row["Rate"], row
    samples = table(page, "samples")
    stored = [row for row in chosen(records("samples_of_newest_runs"), suite) if row["run"] == run]
    assert Counter(row["As logged"] for row in samples) == (
        Counter(row["value_text"] for row in stored)
    )
    uncounted = [row for row in rows if row["counts"] != "yes"]
    assert len(table(page, "failures")) == len(uncounted) if uncounted else True


# Health


def has_every_week(page, suite):
    """Check the bars of runs by week against the runs themselves."""
    planned = [run for run in RUNS if suite in ("", run.suite)]
    ended = Counter()
    for run in planned:
        day = START + timedelta(days=run.day)
        ended[f"{day - timedelta(days=day.weekday()):%Y-%m-%d}", run.status] += 1
    found = sorted({week for week, _ in ended})
    weeks = []
    day = datetime.fromisoformat(found[0])
    while f"{day:%Y-%m-%d}" <= found[-1]:
        weeks.append(f"{day:%Y-%m-%d}")
        day += timedelta(days=7)

    (figure,) = drawn_in(page, "weeks").values()
    axis, places = Axis(figure, "y"), categories(figure)
    assert list(places) == weeks
    words = figure["heads"][1:]
    assert [row[0] for row in figure["rows"]] == weeks
    assert figure["rows"] == [
        [week, *(str(ended[week, word]) if ended[week, word] else "–" for word in words)]
        for week in weeks
    ]
    assert {*words} == {status for _, status in ended}
    assert [[week, *map(tooltip.get, words)] for week, tooltip in tooltips_of(figure).items()] == (
        figure["rows"]
    )
    assert all_within(figure, "y")
    bars = of_type(figure, "rect", "series")
    assert {(b["datum"]["category"], b["datum"]["series"]) for b in bars} == {*ended}
    for week in found:
        of_week = sorted((b for b in bars if b["datum"]["category"] == week),
                         key=lambda b: -b["from"][1])  # fmt: skip
        for bar in of_week:
            runs = ended[week, bar["datum"]["series"]]
            assert axis.value(bar["from"]) - axis.value(bar["to"]) == pytest.approx(runs, abs=0.05)
            assert bar["fill"] == STATUSES[bar["datum"]["series"]]
            assert (bar["from"][0] + bar["to"][0]) / 2 == pytest.approx(places[week], abs=1)
        assert axis.value(of_week[0]["to"]) == pytest.approx(0, abs=0.05)
        assert all(below["from"][1] == pytest.approx(above["to"][1], abs=0.5)
                   for below, above in pairwise(of_week))  # fmt: skip
    others = [run for run in planned if run.status != "complete"]
    assert tile(page, "not-complete") == [str(len(others))]
    shown = [(row["Suite"], row["Status"]) for row in table(page, "unfinished")]
    newest_first = sorted(others, key=lambda run: -run.day)
    assert shown == [(run.suite, run.status) for run in newest_first]
    gaps = sum(
        (later - earlier) // 7 - 1
        for name in {run.suite for run in planned}
        for earlier, later in pairwise(sorted({
            run.day - run.day % 7 for run in planned if run.suite == name
        }))
    )  # fmt: skip
    assert tile(page, "weeks-missing") == [str(gaps)]


@pytest.mark.parametrize(
    "suite",
    # Each draws some forty charts, which take seconds.
    ["", *(pytest.param(suite, marks=pytest.mark.systems) for suite in EVERY_SUITE[1:])],
)
def test_every_rate_and_change_is_drawn_where_the_tables_have_it(open_sheet, records, suite):
    page = open_sheet("rates", f"Suite={suite}")

    has_every_change(page, records, "newest-gains", "newest", RATES_TILES)
    has_every_rate(page, records, suite)


@pytest.mark.systems
@pytest.mark.parametrize(
    ("suite", "test"),
    # Sleeper has no scan: the page would choose a test that it has.
    [each for each in product(EVERY_SUITE, METRICS) if each != ("sleeper", "scan")],
)
def test_every_rate_and_change_of_a_test_is_drawn(open_sheet, records, suite, test):
    page = open_sheet("rates", f"Suite={suite}&Test={test}")

    has_every_rate(page, records, suite, test)


@pytest.mark.parametrize("choices", [*(f"Suite={suite}" for suite in EVERY_SUITE), *PAIRS])
def test_every_change_between_two_versions_is_drawn_where_the_table_has_it(
    open_sheet, records, choices
):
    page = open_sheet("compare", choices)

    has_every_change(page, records, "gains", "pairs", COMPARE_TILES)


@pytest.mark.parametrize("suite", EVERY_SUITE)
def test_every_trial_is_drawn_in_its_place(open_sheet, records, suite):
    has_every_trial(open_sheet("run", f"Suite={suite}"), records, suite, "newest")


@pytest.mark.parametrize("suite", EVERY_SUITE)
def test_every_week_is_drawn_in_order_of_time(open_sheet, suite):
    has_every_week(open_sheet("health", f"Suite={suite}"), suite)


def test_the_marks_follow_the_choice_of_another_suite(open_sheet, records):
    page = open_sheet("compare", "Suite=rocksdb")
    page.locator("#compare-suite").select_option("sleeper")
    page.wait_for_url("**Suite=sleeper**")

    has_every_change(unfolded(page, "compare"), records, "gains", "pairs", COMPARE_TILES)
    page.locator("#tab-health").click()
    page.wait_for_url("**sheet=health**")
    has_every_week(unfolded(page, "health"), "sleeper")


def test_every_mark_is_in_its_place_on_a_phone_in_the_dark(open_sheet, records):
    page = open_sheet("rates", "Suite=sleeper", scheme="dark")

    has_every_change(page, records, "newest-gains", "newest", RATES_TILES)
    has_every_rate(page, records, "sleeper")


# The text of each cell of the heat map, and how much of the colour of a verdict is behind it.
HEAT = """() => [...document.querySelectorAll("#heat tbody tr")].map((row) =>
  [...row.cells].map((cell) => [cell.innerText, cell.style.background]))"""


def test_every_cell_of_the_heat_map_has_its_gain_and_as_much_colour(open_sheet, records):
    page = open_sheet("releases", "Suite=rocksdb")
    heads = [text.strip() for text in page.locator("#heat thead th").all_inner_texts()]
    told = {
        (row["series"], row["version"]): float(row["usual_gain"])
        for row in chosen(records("rates_by_version"), "rocksdb")
        if row["usual_gain"]
    }
    gains = {}
    for (name, _), *cells in page.evaluate(HEAT):
        for version, (text, background) in zip(heads[1:], cells, strict=True):
            if text == "–":
                continue
            gain, half = number(text)
            assert abs(gain - told[name, version]) <= 1.01 * half, (name, version)
            color, share = re.search(r"var\((--\w+)\) (\d+)%", background).groups()
            assert int(share) == pytest.approx(45 * min(1, abs(gain) / 0.3), abs=0.6)
            assert color == ("--worse" if gain < 0 else "--better") or int(share) == 0
            gains[name, version] = gain
    assert gains.keys() == told.keys()
    assert min(gains.values()) < -0.3
    assert max(gains.values()) > 0.3
