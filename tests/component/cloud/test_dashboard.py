"""The dashboard's page in a browser, over a history of twelve versions."""

from datetime import UTC, datetime

import pytest
from playwright.sync_api import expect

from tests.checks.conformance.figures import mean_rate, tables_of
from tests.component.cloud.browser import AXE, browser
from tests.component.cloud.twelve_versions import (
    ALONE,
    INJECTED,
    VERSIONS,
    WIDE,
    WITHOUT_COMPACTION,
    Tables,
    stored_history,
    wide_history,
)
from tidemark.dashboard.page import build
from tidemark.dashboard.sheets import dashboard

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
AT = {"run_id": WIDE, "started_at": "2026-11-20 00:00:00.000"}
DRAWN = "main:not([aria-busy])"
INGEST = "rocksdb: ingest rate (records/s)"
NEWEST_RUN = "20260323T030000Z-00000b"
ORDERED = ["9.8.4.dev3", "9.8.4rc1", "9.8.4", "9.8.4+1a2b3c4d", "9.8.4.post1", "9.10.0"]
ENDED = {"run_id": "1", "status": "aborted", "started_at": "2026-11-16 03:00:00.000"}
LAPTOP = {"width": 1400, "height": 900}
# The ids of visuals whose table is wider than its box.
TOO_WIDE = """(visuals) => visuals
  .filter((each) => [...each.querySelectorAll(".body > .scroll")]
    .some((box) => box.scrollWidth > box.clientWidth))
  .map(({ id }) => id)"""
# The left and the right end of each mark.
ENDS = """(marks) => marks.map((mark) => mark.getBoundingClientRect())
  .map(({ left, right }) => [left, right])"""
DESKTOP, PHONE = {"width": 1360, "height": 900}, {"width": 390, "height": 844}
WIDTHS = [("light", 390), ("dark", 768), ("light", 1400)]


@pytest.fixture(scope="module")
def tables():
    return Tables(stored_history())


@pytest.fixture(scope="module")
def address(tables, tmp_path_factory):
    file = tmp_path_factory.mktemp("dashboard") / "dashboard.html"
    file.write_text(build(tables, NOW), encoding="utf-8")
    return file.as_uri()


@pytest.fixture(scope="module")
def chromium():
    with browser() as chromium:
        yield chromium


@pytest.fixture(scope="module")
def pages(chromium):
    """A way to show a page, and the list of its unexpected messages and requests."""
    pages, wrong = {}, []

    def page(scheme, viewport, file):
        context = chromium.new_context(color_scheme=scheme, viewport=viewport)
        page = context.new_page()
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on(
            "request",
            lambda request: request.url.startswith((file, "data:")) or wrong.append(request.url),
        )
        return page

    def shown(choices, scheme, viewport, file):
        look = scheme, viewport["width"], file
        if look not in pages:
            pages[look] = page(scheme, viewport, file)
        # From an address of the same page, the browser would not load it: a table would stay
        # sorted, and the page would be the old one until it hears of the new choices.
        pages[look].goto("about:blank")
        pages[look].goto(file + choices)
        pages[look].locator(DRAWN).wait_for()
        return pages[look]

    yield shown, wrong
    for each in pages.values():
        each.context.close()


@pytest.fixture
def open_page(pages, address):
    """Return a way to open the page; no message and no request may come of it."""
    shown, wrong = pages

    def open_page(choices="#", scheme="light", viewport=DESKTOP, file=address):
        return shown(choices, scheme, viewport, file)

    yield open_page
    found = [*wrong]
    wrong.clear()
    assert found == []


def cells(page, visual):
    """Return the rows of a table, once it is drawn, as lists of texts."""
    page.locator(DRAWN).wait_for()
    body = page.locator(f"#{visual} tbody").first
    return body.evaluate("""(body) => [...body.rows].map((row) =>
      [...row.cells].map((cell) => cell.innerText))""")


def tooltip(page):
    return page.locator("#vg-tooltip-element.visible")


def selected_tab(page):
    return page.get_by_role("tab", selected=True)


def test_every_visual_is_drawn(open_page):
    page = open_page()

    assert page.locator(".visual").count() == sum(
        len(sheet.visuals) for sheet in dashboard().sheets
    )
    for visual in page.locator(".visual").all():
        expect(visual.locator(".figure, table, svg").first).to_be_attached(timeout=60_000)


def test_trials_of_two_sizes_are_two_rows_and_two_charts_without_a_common_mean(open_page, several):
    page = open_page("#Suite=sizes", file=several)

    assert [row[1:] for row in cells(page, "versions")] == [
        ["9.0.0", "2026-11-20", "1 × 1,000", "100.0"],
        ["9.0.0", "2026-11-20", "1 × 2,000", "900.0"],
    ]
    assert page.locator("#history figcaption").count() == 2
    assert "500" not in page.locator("main").inner_text()


def test_a_choice_changes_the_numbers_and_the_address(open_page):
    page = open_page()
    page.locator("#rates-test").select_option("ingest")

    titles = page.locator("#history figcaption")
    expect(titles).to_have_text([f"{INGEST}, 1 × 10,000", f"{INGEST}, 1 × 1,000,000"])
    assert len(cells(page, "newest")) == 1
    assert "Test=ingest" in page.url

    shared = open_page("#Test=ingest")
    assert cells(shared, "newest") == cells(page, "newest")


@pytest.mark.parametrize(
    ("choices", "sentence"),
    [
        ("#sheet=compare&New=9.9.9", "New: 9.9.9 is not on this page; there are "),
        ("#Suite=nope", "Suite: nope is not on this page; there are rocksdb"),
        ("#", ""),
    ],
)
def test_an_unknown_version_or_suite_in_the_address_is_said(open_page, choices, sentence):
    said = open_page(choices).locator(".shown .unknown").text_content()

    assert said.startswith(sentence) if sentence else said == ""


def test_a_change_of_level_is_marked_over_versions_and_over_runs_and_leads_to_its_run(open_page):
    page = open_page("#Test=ingest")

    level = "▼ slower, −10.0 %, 1,000.0 → 900.0"
    assert page.locator("#history .level").all_inner_texts() == [
        f"Level since {VERSIONS[-1]}, run {NEWEST_RUN}: {level}"
    ]
    assert page.locator("#run-history .level").all_inner_texts() == [
        f"Level since {NEWEST_RUN}: {level}"
    ]
    for chart in ("history", "run-history"):
        rules = page.locator(f"#{chart} svg .mark-rule.role-mark line")
        assert [each.get_attribute("stroke") for each in rules.all()] == ["var(--worse)"]
    places = page.locator("#run-history svg g.mark-rect.role-mark").last.locator("path")
    places.last.hover()
    for told in (NEWEST_RUN, VERSIONS[-1], "1,000.0 → 900.0"):
        expect(tooltip(page)).to_contain_text(told)
    places.last.click()
    page.wait_for_url("**sheet=run&Run=newest&Suite=rocksdb**")
    expect(selected_tab(page)).to_have_text("Run")
    assert cells(page, "run-facts")[0][:2] == ["rocksdb", NEWEST_RUN]


def test_a_run_is_a_link_to_its_sheet_for_the_keyboard(open_page):
    page = open_page("#Test=ingest")
    page.locator("#changes").get_by_role("link", name=NEWEST_RUN).focus()
    page.keyboard.press("Enter")

    expect(selected_tab(page)).to_have_text("Run")


def test_the_name_of_a_row_stays_when_its_table_is_scrolled_sideways(open_page):
    page = open_page(viewport=PHONE)
    name = page.locator("#newest tbody th").first
    before = name.bounding_box()["x"]

    page.locator("#newest .scroll").evaluate("(box) => { box.scrollLeft = 300 }")

    assert name.bounding_box()["x"] == before


def test_dates_leave_out_earlier_and_later_versions(open_page):
    page = open_page()
    ends = [page.locator(f"#rates-{end}").input_value() for end in ("since", "until")]
    assert ends == ["2026-01-05", "2026-03-23"]

    for end, day in (("since", "2026-02-01"), ("until", "2026-02-23"), ("until", "23/02/2026")):
        page.locator(f"#rates-{end}").fill(day)
        page.locator(f"#rates-{end}").blur()

    # The last day has another form, and so changes nothing.
    page.wait_for_url("**Since=2026-02-01&Until=2026-02-23")
    assert [row[1] for row in cells(page, "versions")] == VERSIONS[4:8]


def test_a_choice_without_rows_says_so(open_page):
    page = open_page("#Since=2030-01-01")

    assert "No rows for this choice." in page.inner_text("#newest")


def test_the_page_of_a_store_without_runs_says_so(open_page, tmp_path):
    file = tmp_path / "empty.html"
    file.write_text(build(Tables({}), NOW), encoding="utf-8")
    page = open_page(file=file.as_uri())

    assert "No results are stored yet; `tidemark run` measures versions." in page.inner_text(
        "header"
    )
    expect(page.locator(".nothing")).to_have_count(page.locator(".visual").count())
    assert page.locator("#rates-since").input_value() == ""


@pytest.fixture(scope="module")
def wide():
    """Tables of two suites with thirty versions of twelve metrics; the last metric halved."""
    return Tables(wide_history())


@pytest.fixture(scope="module")
def several(tmp_path_factory):
    """The page of several suites, each with a history of its own."""
    histories = {
        "sizes": _two_sizes(), "judged": _judged(), "unlike": _unlike(), "longer": _longer(),
        "ordered": _ordered(), "ended": {"runs": [ENDED]},
    }  # fmt: skip
    objects = {}
    for suite, rows in histories.items():
        run = {**AT, "status": "complete", "tasks": 1, "records": 1}
        objects |= tables_of(suite, WIDE, **{"runs": [run], **rows})
    file = tmp_path_factory.mktemp("several") / "several.html"
    file.write_text(build(Tables(objects, ",".join(histories)), NOW), encoding="utf-8")
    return file.as_uri()


def _two_sizes():
    sizes = {"1": (1_000, 100.0), "2": (2_000, 900.0)}
    at = [{**AT, "run_id": run_id} for run_id in sizes]
    rates = [
        {**mean_rate("ingest", "ingest_rate", "9.0.0", rate, "1/s", "higher"), **run, "trial": 1}
        for run, (_, rate) in zip(at, sizes.values(), strict=True)
    ]
    runs = [
        {**run, "status": "complete", "tasks": 1, "records": records}
        for run, (records, _) in zip(at, sizes.values(), strict=True)
    ]
    return {"rates": rates, "runs": runs}


def _two_versions(metric, unit, direction, values):
    return [
        {**mean_rate("ingest", metric, version, value, unit, direction), "trial": 1, **AT}
        for version, value in zip(("9.0.0", "9.1.0"), values, strict=True)
    ]


def _verdict(metric, word, effect, low, high, **more):
    return {
        **AT, "test": "ingest", "metric": metric, "statistic": "mean", "labels": "",
        "baseline": "9.0.0", "version": "9.1.0", "verdict": word, "reason": "", "effect": effect,
        "low": low, "high": high, "trials_base": 1, "trials_new": 1, **more,
    }  # fmt: skip


def _judged():
    """Return a run in which one metric is slower, and one cannot be told."""
    untold = {"reason": "the pairs scatter too much"}
    return {
        "rates": [
            *_two_versions("latency", "ms", "lower", (100.0, 110.0)),
            *_two_versions("ingest_rate", "1/s", "higher", (100.0, 110.0)),
        ],
        "verdicts": [
            _verdict("latency", "slower", 0.1, 0.04, 0.16),
            _verdict("ingest_rate", "cannot tell", 0.1, -0.02, 0.16, **untold),
        ],
    }


def _unlike():
    verdict = _verdict("rate", "slower", -0.2, -0.35, -0.1, unlike_machines=True)
    return {"rates": _two_versions("rate", "1/s", "higher", (100.0, 80.0)), "verdicts": [verdict]}


def _longer():
    change = {
        **AT, "test": "ingest", "metric": "latency", "statistic": "mean", "labels": "",
        "unit": "ms", "direction": "lower", "changed_run": WIDE, "changed_at": AT["started_at"],
        "version": "9.1.0", "version_before": "9.0.0", "level_before": 10.0, "level_after": 138.0,
        "change": 12.8, "verdict": "slower", "cause": "version", "accepted_level": 10.0,
        "title": "ingest latency (ms)",
    }  # fmt: skip
    return {
        "rates": _two_versions("latency", "ms", "lower", (10.0, 138.0)),
        "verdicts": [_verdict("latency", "slower", 12.8, 10.0, 13.5)],
        "changes": [change],
    }


def _ordered():
    rates = [
        {**mean_rate("ingest", "rate", version, 1.0, "1/s", "higher"), "trial": 1, **AT}
        for version in ORDERED[::-1]
    ]
    return {"rates": rates}


@pytest.mark.parametrize("sheet", ["rates", "compare"])
def test_a_sheet_begins_with_its_answer(open_page, several, sheet):
    page = open_page(f"#sheet={sheet}&Suite=judged", file=several)

    verdicts = "▼ slower: ingest latency (+10.0 %); ? cannot tell: ingest rate."
    answer = page.get_by_role("tabpanel").get_by_role("status").first
    assert answer.inner_text() == f"judged 9.1.0 against 9.0.0: {verdicts}"


def test_a_verdict_on_unlike_machines_is_hollow_and_says_so(open_page, several):
    page = open_page("#sheet=compare&Suite=unlike", file=several)

    answer = page.get_by_role("tabpanel").get_by_role("status").first
    assert answer.inner_text().endswith(
        "▽ slower on unlike machines: ingest rate (−20 %). The two were not measured alike."
    )
    counted = [page.inner_text(f"#compare-{name} .figure") for name in ("slower", "untold")]
    assert counted == ["0", "1"]
    bar = page.locator("#gains svg .mark-rect.role-mark path[stroke]").first
    assert bar.get_attribute("fill") == "transparent"
    assert cells(page, "pairs")[0][1:5] == [
        "−20.00 %", "▽ slower on unlike machines", "", "their machines differ",
    ]  # fmt: skip


def test_the_bars_of_changes_have_whiskers_to_the_side_of_worse_and_undecided_ones_are_hollow(
    open_page, several
):
    page = open_page("#sheet=compare&Suite=judged", file=several)
    bars, whiskers = ".mark-rect.role-mark path[stroke]", ".mark-rule.role-mark line"
    fills = [bar.get_attribute("fill") for bar in page.locator(f"#gains svg {bars}").all()]
    marks = page.locator(f"#gains svg :is({bars}, {whiskers})").evaluate_all(ENDS)

    assert fills == ["var(--worse)", "transparent"]
    (worse, zero), (start, better), (far, near), (low, high) = marks
    # Ten per cent more latency is worse, from four to sixteen per cent; ten per cent more rate is
    # better, from minus two to sixteen per cent.
    assert far < worse < near < zero
    assert low < zero == pytest.approx(start, abs=2)
    assert zero < better < high


def test_a_latency_that_became_many_times_as_long_says_so_wherever_its_change_stands(
    open_page, several
):
    page = open_page("#Suite=longer", file=several)

    longer = "13.8 times as long"
    answer = page.get_by_role("tabpanel").get_by_role("status").first
    assert answer.inner_text().endswith(f"▼ slower: ingest latency ({longer}).")
    assert page.inner_text("#worst-change .figure") == longer
    assert page.inner_text("#worst-change .of") == "longer: ingest latency (ms)"
    assert cells(page, "newest")[0][1:3] == [longer, "▼ slower"]
    assert cells(page, "newest")[0][8:10] == ["11.0 times", "14.5 times"]
    assert cells(page, "changes")[0][1:3] == [longer, "▼ slower"]
    page.locator("#newest-gains svg g.mark-rect.role-mark").last.locator("path").first.hover()
    expect(tooltip(page)).to_contain_text(f"{longer}, 11.0 to 14.5 times")


@pytest.mark.systems
def test_slower_metrics_are_counted_for_many_versions_and_metrics(open_page, wide, tmp_path):
    file = tmp_path / "wide.html"
    file.write_text(build(wide, NOW), encoding="utf-8")
    page = open_page(file=file.as_uri())

    assert file.stat().st_size <= 2_000_000
    assert page.inner_text("#slower .figure") == "2"
    assert page.locator(".missing").count() == 0
    assert open_page("#Suite=sleeper", file=file.as_uri()).inner_text("#slower .figure") == "1"


@pytest.mark.systems
def test_rows_without_room_are_counted_and_prevent_a_sum(open_page, wide, tmp_path, monkeypatch):
    monkeypatch.setattr("tidemark.dashboard.data_sets.MOST_ROWS", 60)
    file = tmp_path / "cut.html"
    file.write_text(build(wide, NOW), encoding="utf-8")
    page = open_page(file=file.as_uri())

    assert page.inner_text("#slower .figure") == "2"
    notice = "The oldest rows do not fit on this page: 1,590 of 1,620 of rocksdb, "
    notice += "1,590 of 1,620 of sleeper are left out."
    assert notice in page.inner_text("#newest")
    # Thirty rows of each suite are two pairs of versions and half of a third.
    page = open_page("#sheet=compare&Base=previous&New=newest", file=file.as_uri())
    assert page.inner_text("#compare-slower .figure") == "2"
    page = open_page("#sheet=compare&Base=previous&New=29.0", file=file.as_uri())
    assert page.inner_text("#compare-slower .body") == (
        "No sum: some rows of this choice are left out."
    )
    page = open_page("#sheet=compare&Base=1.0&New=2.0", file=file.as_uri())
    assert page.inner_text(".shown .unknown").startswith(
        "Base (the older one): 1.0 is not on this page; there are base, previous."
    )
    page = open_page("#Since=2030-01-01", file=file.as_uri())
    assert "No rows of this choice are on this page, which lacks older rows." in (
        page.inner_text("#versions")
    )


def test_a_choice_limits_the_other_choices(open_page):
    page = open_page("#sheet=compare&New=9.5.0")
    page.locator("#compare-base").select_option("9.9.0")

    newer = page.locator("#compare-new option")
    expect(newer).to_have_text(["9.10.0", "9.11.0", "newest", "previous"])
    expect(page.locator("#compare-new")).to_have_value("9.10.0")
    assert cells(page, "pairs")[0][6:8] == ["9.9.0", "9.10.0"]


def test_a_choice_that_another_sheet_lacks_stays_chosen(open_page):
    page = open_page("#sheet=health&Test=verify&Suite=gone")

    assert page.locator("#health-suite").input_value() == "gone"
    assert "No rows for this choice." in page.inner_text("#weeks")


def test_a_single_ending_has_its_colour_and_a_legend(open_page, several):
    page = open_page("#sheet=health&Suite=ended", file=several)

    assert page.locator("#weeks svg .mark-rect path[fill='#A35A8B']").count() == 1
    assert page.locator("#weeks .legend li").all_inner_texts() == ["Ended as:", "● aborted"]
    labels = page.locator("#weeks svg .role-axis-label text").all_text_contents()
    assert {*labels} == {"0", "1", "2026-11-16"}


def test_sheets_are_tabs_for_the_keyboard(open_page):
    page = open_page()
    page.get_by_role("tab", name="Rates per version").focus()
    for _ in range(3):
        page.keyboard.press("ArrowRight")

    expect(selected_tab(page)).to_have_text("Run")
    expect(page.get_by_role("tabpanel").locator("h2")).to_contain_text("Measurements of")
    page.wait_for_url("**sheet=run**")
    page.keyboard.press("End")
    expect(selected_tab(page)).to_have_text("Health")
    page.keyboard.press("ArrowRight")
    expect(selected_tab(page)).to_have_text("Rates per version")


def test_every_sheet_is_printed_in_ink_on_white(open_page):
    page = open_page(scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")

    headings = page.locator("h2").all_inner_texts()
    assert len(headings) == page.get_by_role("tab", include_hidden=True).count()
    assert all(heading.is_visible() for heading in page.locator("h2").all())
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(27, 31, 36)"
    page.emulate_media(media="screen", color_scheme="dark")


def test_a_reader_sorts_a_table_and_stays_at_its_column(open_page):
    page = open_page()
    head = page.locator("#versions thead").get_by_role("button", name="Version number")
    head.click()
    head.click()

    expect(page.locator("#versions th[aria-sort=descending]")).to_have_count(1)
    assert [row[1] for row in cells(page, "versions")] == VERSIONS[::-1]
    expect(head).to_be_focused()


def test_a_table_and_a_control_have_the_order_of_versions(open_page, several):
    page = open_page("#Suite=ordered", file=several)

    page.locator("#versions thead").get_by_role("button", name="Version number").click()
    assert [row[1] for row in cells(page, "versions")] == ORDERED
    page = open_page("#sheet=compare&Suite=ordered", file=several)
    offered = page.get_by_label("Base").locator("option").all_inner_texts()
    assert [each for each in offered if each in ORDERED] == ORDERED[:-1]


@pytest.mark.parametrize(
    ("choices", "visual", "texts"),
    [
        ("#Test=ingest", "history", [VERSIONS[0], "Mean", "Min", "Max"]),
        ("#sheet=compare&Test=ingest", "gains", [INGEST, "%"]),
        ("#sheet=health", "weeks", ["2026-01-05", "complete", "1", "incomplete", "–"]),
    ],
)
def test_a_tooltip_describes_the_mark_under_the_pointer(open_page, choices, visual, texts):
    page = open_page(choices)
    page.locator(f"#{visual} svg .role-mark.mark-rect path").last.scroll_into_view_if_needed()
    pointed = page.locator(f"#{visual} svg g.mark-rect.role-mark").last.locator("path").first
    pointed.hover()

    for text in texts:
        expect(tooltip(page)).to_contain_text(text)


def test_markup_in_a_value_is_shown_as_text(open_page):
    page = open_page("#sheet=health")

    assert INJECTED in page.locator("#unfinished tbody").text_content()
    assert page.title() == "Tidemark dashboard"


def test_a_missing_value_is_named_and_is_no_change(open_page):
    page = open_page()
    assert f"No value for {WITHOUT_COMPACTION}." in page.inner_text("#history")
    assert "–" in cells(page, "versions")[2]

    page = open_page(f"#sheet=compare&Base={WITHOUT_COMPACTION}&New=9.3.0&Test=compaction")
    (row,) = cells(page, "pairs")
    assert "–" in row
    assert "%" not in "".join(row)
    assert page.inner_text("#compare-untold .figure") == "1"


def test_one_trial_has_no_spread_and_counts_as_cannot_tell(open_page):
    page = open_page(f"#sheet=compare&Base={ALONE}&New=9.5.0&Test=ingest")

    (row,) = cells(page, "pairs")
    assert "–" in row
    assert row[2:4] == ["? cannot tell", "different runs measured the versions"]
    sizes = f"{ALONE}: 1 × 10,000, 9.5.0: 1 × 1,000,000"
    assert row[4] == f"{sizes}; no run measured both"
    assert page.inner_text("#compare-slower .figure") == "0"
    assert page.inner_text("#compare-untold .figure") == "1"
    (bar,) = page.locator("#gains svg .mark-rect path[stroke='var(--unclear)']").all()
    assert bar.get_attribute("fill") == "transparent"


def test_a_metric_with_a_changed_unit_is_two_metrics(open_page):
    page = open_page()
    names = page.locator("#history figcaption").all_inner_texts()
    assert {f"rocksdb: read latency ({unit}), 1 × 1,000,000" for unit in ("ms", "us")} <= set(names)


def test_an_excluded_trial_is_shown_as_excluded(open_page):
    page = open_page("#sheet=run&Test=ingest")

    assert [row[5] for row in cells(page, "failures")] == ["no: excluded"]


@pytest.mark.parametrize(
    ("scheme", "width"),
    [
        ("dark", 1400),
        # Each opens every sheet, which takes some ten seconds.
        *(pytest.param(*case, marks=pytest.mark.systems) for case in WIDTHS),
    ],
)
def test_axe_finds_nothing(open_page, scheme, width):
    page = open_page(scheme=scheme, viewport={**LAPTOP, "width": width})
    page.evaluate(AXE.read_text(encoding="utf-8"))
    for tab in page.get_by_role("tab").all():
        tab.click()
        page.locator(DRAWN).wait_for()
        found = page.evaluate("axe.run().then(({ violations }) => violations)")

        violations = [(each["id"], each["impact"], each["nodes"][0]["html"]) for each in found]
        assert violations == [], tab.inner_text()


@pytest.mark.systems
def test_every_table_fits_1400_pixels(open_page, several):
    for address in (None, several):
        page = open_page(viewport=LAPTOP, **({"file": address} if address else {}))
        for tab in page.get_by_role("tab").all():
            tab.click()
            page.locator(DRAWN).wait_for()
            wide = page.locator(".shown .visual").evaluate_all(TOO_WIDE)
            assert wide == [], tab.inner_text()


def test_no_sheet_is_wider_than_a_phone(open_page):
    page = open_page(viewport=PHONE)
    for tab in page.get_by_role("tab").all():
        tab.click()
        page.locator(DRAWN).wait_for()

        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


def test_the_three_figures_stand_beside_their_titles_on_a_phone_and_in_a_row_on_a_tablet(open_page):
    phone, tablet = (
        [each.bounding_box() for each in page.locator("#rates [data-kind=Kpi]").all()]
        for width in (PHONE["width"], 768)
        for page in [open_page(viewport={**PHONE, "width": width})]
    )

    assert sum(box["height"] for box in phone) < PHONE["height"] / 2
    assert len({box["y"] for box in tablet}) == 1


@pytest.mark.parametrize(("sheet", "visual"), [("run", "run-facts"), ("health", "not-complete")])
def test_a_sheet_begins_with_its_figures_and_not_with_their_explanation(open_page, sheet, visual):
    page = open_page(f"#sheet={sheet}")

    assert page.locator(f"#{sheet} .grid > *").first.get_attribute("id") == visual


def test_verdicts_are_visible_on_a_phone_without_scrolling(open_page):
    page = open_page(viewport=PHONE)

    verdict = page.locator("#newest thead").get_by_role("button", name="Verdict").bounding_box()
    assert verdict["x"] + verdict["width"] <= PHONE["width"]
    assert page.locator("#newest .scroll").evaluate(
        "(box) => box.querySelectorAll('td')[1].getBoundingClientRect().right"
        " <= box.getBoundingClientRect().right"
    )
