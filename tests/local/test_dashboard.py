"""The dashboard's page in a browser, over a history of twelve versions."""

from datetime import UTC, datetime

import pytest

from cdk.definition import read_definition
from lambdas.tables import packed
from local.dashboard import rows
from local.dashboard.building import build
from local.history import histories
from suites import keys
from tests.local.browser import AXE, browser
from tests.local.twelve_versions import (
    ALONE,
    INJECTED,
    VERSIONS,
    WIDE,
    WITHOUT_COMPACTION,
    Tables,
    stored_history,
    wide_history,
)

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
DRAWN = "main:not([aria-busy])"
DESKTOP, PHONE = {"width": 1360, "height": 900}, {"width": 390, "height": 844}


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
    """Pages that are open, by how they look, and what they said or asked for."""
    pages, wrong = {}, []

    def page(scheme, viewport, file):
        context = chromium.new_context(color_scheme=scheme, viewport=viewport)
        page = context.new_page()
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on(
            "request",
            lambda asked: asked.url.startswith((file, "data:")) or wrong.append(asked.url),
        )
        return page

    def shown(choices, scheme, viewport, file):
        look = scheme, viewport["width"], file
        if look not in pages:
            pages[look] = page(scheme, viewport, file)
        pages[look].goto(file + choices)
        pages[look].locator(DRAWN).wait_for()
        return pages[look]

    yield shown, wrong
    for each in pages.values():
        each.context.close()


@pytest.fixture
def opened(pages, address):
    """Open the page; it says nothing on the console, and no request leaves it."""
    shown, wrong = pages

    def opened(choices="#", scheme="light", viewport=DESKTOP, file=address):
        return shown(choices, scheme, viewport, file)

    yield opened
    found = [*wrong]
    wrong.clear()
    assert found == []


def cells(page, visual):
    """Return the rows of a table as lists of texts."""
    rows = page.locator(f"#{visual} tbody").first.locator("tr")
    return [row.locator("th, td").all_inner_texts() for row in rows.all()]


def test_every_visual_is_drawn(opened):
    page = opened()

    assert page.locator(".visual").count() == sum(
        len(sheet["Visuals"]) for sheet in read_definition()["Sheets"]
    )
    for visual in page.locator(".visual").all():
        assert visual.locator(".figure, table, svg").count() > 0, visual.get_attribute("id")


def test_the_numbers_are_those_of_the_history(opened, tables):
    page = opened()
    heads = page.locator("#versions thead th").all_inner_texts()
    shown = {row[1]: dict(zip(heads, row, strict=True)) for row in cells(page, "versions")}

    assert list(shown) == VERSIONS
    assert shown[ALONE]["Tasks × records"] == "1 × 10,000"
    assert shown[VERSIONS[0]]["Tasks × records"] == "1 × 1,000,000"
    for known in histories(tables.saved("rates_by_version").records()):
        for figure in known.figures.values():
            column = f"{figure.metric.replace('_', ' ')} ({figure.unit})"
            small = figure.value < 100
            text = f"{figure.value:.4g}" if small else f"{figure.value:,.1f}"
            assert shown[known.version][column] == text


def test_a_choice_changes_the_numbers_and_stands_in_the_address(opened):
    page = opened()
    page.locator("#rates-test").select_option("ingest")

    assert page.locator("#history figure").count() == 1
    assert len(cells(page, "newest")) == 1
    assert "Test=ingest" in page.url

    shared = opened("#Test=ingest")
    assert cells(shared, "newest") == cells(page, "newest")


def test_dates_leave_out_what_was_measured_before_and_after(opened):
    page = opened()
    ends = [page.locator(f"#rates-{end}").input_value() for end in ("since", "until")]
    assert ends == ["2026-01-05", "2026-03-23"]

    page.locator("#rates-since").fill("2026-02-01")
    page.locator("#rates-until").fill("2026-02-23")

    assert [row[1] for row in cells(page, "versions")] == VERSIONS[4:8]


def test_nothing_is_an_answer(opened):
    page = opened("#Since=2030-01-01")

    assert "Nothing for what is chosen." in page.inner_text("#newest")


def test_a_store_without_runs_is_a_page_that_says_so(opened, tmp_path):
    file = tmp_path / "empty.html"
    file.write_text(build(Tables({}), NOW), encoding="utf-8")
    page = opened(file=file.as_uri())

    assert "Nothing is stored yet: `tidemark run` measures something." in page.inner_text("header")
    assert page.locator(".nothing").count() == page.locator(".visual").count()
    assert page.locator("#rates-since").input_value() == ""


@pytest.fixture(scope="module")
def wide():
    """Tables of two suites with thirty versions of twelve metrics, the last of which halved."""
    return Tables(wide_history())


def test_what_got_slower_is_counted_however_many_versions_and_metrics_there_are(
    opened, wide, tmp_path
):
    file = tmp_path / "wide.html"
    file.write_text(build(wide, NOW), encoding="utf-8")
    page = opened(file=file.as_uri())

    assert file.stat().st_size <= 2_000_000
    assert page.inner_text("#slower .figure") == "2"
    assert page.locator(".missing").count() == 0
    assert opened("#Suite=sleeper", file=file.as_uri()).inner_text("#slower .figure") == "1"


def test_rows_for_which_there_is_no_room_are_told_and_what_lacks_some_is_not_added_up(
    opened, wide, tmp_path, monkeypatch
):
    monkeypatch.setattr(rows, "MOST_ROWS", 60)
    file = tmp_path / "cut.html"
    file.write_text(build(wide, NOW), encoding="utf-8")
    page = opened(file=file.as_uri())

    assert page.inner_text("#slower .figure") == "2"
    told = "There is no room here for the oldest rows: 1,578 of 1,608 of rocksdb, "
    told += "1,578 of 1,608 of sleeper are left out."
    assert told in page.inner_text("#newest")
    # Thirty rows of each suite are two pairs of versions and half of a third.
    page = opened("#sheet=compare&Base=previous&New=29.0", file=file.as_uri())
    assert page.inner_text("#compare-slower .figure") == "2"
    for third in ("Base=28.0&New=newest", "Base=1.0&New=2.0"):
        page = opened(f"#sheet=compare&{third}", file=file.as_uri())
        assert page.inner_text("#compare-slower .body") == (
            "Rows of what is chosen are left out: no sum."
        )


def test_a_choice_leaves_to_others_what_goes_with_it(opened):
    page = opened("#sheet=compare&New=9.5.0")
    page.locator("#compare-base").select_option("9.9.0")

    newer = page.locator("#compare-new option").all_inner_texts()
    assert newer == ["9.10.0", "9.11.0", "newest", "previous"]
    assert page.locator("#compare-new").input_value() == "9.10.0"
    assert cells(page, "pairs")[0][6:8] == ["9.9.0", "9.10.0"]


def test_a_choice_that_another_sheet_does_not_have_stays_chosen(opened):
    page = opened("#sheet=health&Test=verify&Suite=gone")

    assert page.locator("#health-suite").input_value() == "gone"
    assert "Nothing for what is chosen." in page.inner_text("#weeks")


def test_an_ending_has_its_colour_and_a_legend_even_if_it_is_the_only_one(opened, tmp_path):
    run = {"run_id": "1", "status": "aborted", "started_at": "2026-11-16 03:00:00.000"}
    file = tmp_path / "one.html"
    tables = Tables({keys.table("runs", "rocksdb", WIDE): packed([run])})
    file.write_text(build(tables, NOW), encoding="utf-8")
    page = opened("#sheet=health", file=file.as_uri())

    assert page.locator("#weeks svg .mark-rect path[fill='#A35A8B']").count() == 1
    assert page.locator("#weeks .legend li").all_inner_texts() == ["Ended as:", "● aborted"]
    labels = page.locator("#weeks svg .role-axis-label text").all_text_contents()
    assert {*labels} == {"0", "1", "2026-11-16"}


def test_sheets_are_tabs_for_the_keyboard(opened):
    page = opened()
    page.get_by_role("tab", name="Rates per version").focus()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")

    assert page.get_by_role("tab", selected=True).inner_text() == "Run"
    assert page.get_by_role("tabpanel").locator("h2").inner_text().startswith("What did")
    assert "sheet=run" in page.url
    page.keyboard.press("End")
    page.keyboard.press("ArrowRight")
    assert page.get_by_role("tab", selected=True).inner_text() == "Rates per version"


def test_every_sheet_is_printed_in_ink_on_white(opened):
    page = opened(scheme="dark")
    page.emulate_media(media="print", color_scheme="dark")

    headings = page.locator("h2").all_inner_texts()
    assert len(headings) == page.get_by_role("tab", include_hidden=True).count()
    assert all(heading.is_visible() for heading in page.locator("h2").all())
    assert page.evaluate("getComputedStyle(document.body).color") == "rgb(27, 31, 36)"
    page.emulate_media(media="screen", color_scheme="dark")


def test_a_reader_sorts_a_table_and_stays_at_its_column(opened):
    page = opened()
    head = page.locator("#versions thead").get_by_role("button", name="Version number")
    head.click()
    head.click()

    assert [row[1] for row in cells(page, "versions")] == VERSIONS[::-1]
    assert page.evaluate("document.activeElement.textContent") == "Version number"
    assert page.locator("#versions th[aria-sort=descending]").count() == 1


@pytest.mark.parametrize(
    ("choices", "visual", "told"),
    [
        ("#Test=ingest", "history", [VERSIONS[0], "Mean", "Min", "Max"]),
        ("#sheet=compare&Test=ingest", "gains", ["rocksdb: ingest rate (records/s)", "%"]),
        ("#sheet=health", "weeks", ["2026-01-05", "complete", "1", "incomplete", "–"]),
    ],
)
def test_the_pointer_is_told_what_it_points_at(opened, choices, visual, told):
    page = opened(choices)
    page.locator(f"#{visual} svg .role-mark.mark-rect path").last.scroll_into_view_if_needed()
    pointed = page.locator(f"#{visual} svg g.mark-rect.role-mark").last.locator("path").first
    pointed.hover()

    text = page.locator("#vg-tooltip-element").inner_text()
    assert [each for each in told if each not in text] == []


def test_what_a_value_holds_is_a_text_and_nothing_else(opened):
    page = opened("#sheet=health")

    assert INJECTED in page.locator("#unfinished tbody").text_content()
    assert page.title() == "Tidemark dashboard"


def test_what_is_missing_is_said_and_is_no_change(opened):
    page = opened()
    assert f"No value for {WITHOUT_COMPACTION}." in page.inner_text("#history")
    assert "–" in cells(page, "versions")[2]

    page = opened(f"#sheet=compare&Base={WITHOUT_COMPACTION}&New=9.3.0&Test=compaction")
    (row,) = cells(page, "pairs")
    assert "–" in row
    assert "%" not in "".join(row)
    assert page.inner_text("#compare-untold .figure") == "1"


def test_one_trial_has_no_spread_and_is_counted_as_what_cannot_be_told(opened):
    page = opened(f"#sheet=compare&Base={ALONE}&New=9.5.0&Test=ingest")

    (row,) = cells(page, "pairs")
    assert "–" in row
    assert row[2:4] == ["cannot tell", "one trial shows no spread"]
    sizes = f"{ALONE}: 1 × 10,000 records, 9.5.0: 1 × 1,000,000"
    assert row[4] == f"{sizes}; no run measured both"
    assert page.inner_text("#compare-slower .figure") == "0"
    assert page.inner_text("#compare-untold .figure") == "1"
    assert page.locator("#gains svg .mark-rect path[fill='#6E7781']").count() == 1


def test_a_metric_whose_unit_changed_is_two(opened):
    page = opened()
    names = page.locator("#history figcaption").all_inner_texts()
    assert {"rocksdb: read latency (ms)", "rocksdb: read latency (us)"} <= set(names)


def test_a_trial_that_does_not_count_is_shown_as_such(opened):
    page = opened("#sheet=run&Test=ingest")

    assert [row[5] for row in cells(page, "failures")] == ["no: excluded"]


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(opened, scheme):
    page = opened(scheme=scheme)
    page.evaluate(AXE.read_text(encoding="utf-8"))
    for tab in page.get_by_role("tab").all():
        tab.click()
        page.locator(DRAWN).wait_for()
        found = page.evaluate("axe.run().then(({ violations }) => violations)")

        told = [(each["id"], each["impact"], each["nodes"][0]["html"]) for each in found]
        assert told == [], tab.inner_text()


def test_no_sheet_is_wider_than_a_phone(opened):
    page = opened(viewport=PHONE)
    for tab in page.get_by_role("tab").all():
        tab.click()

        assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]


def test_verdicts_are_seen_on_a_phone_without_scrolling(opened):
    page = opened(viewport=PHONE)

    verdict = page.locator("#newest thead").get_by_role("button", name="Verdict").bounding_box()
    assert verdict["x"] + verdict["width"] <= PHONE["width"]
    assert page.locator("#newest .scroll").evaluate(
        "(box) => box.querySelectorAll('td')[1].getBoundingClientRect().right"
        " <= box.getBoundingClientRect().right"
    )
