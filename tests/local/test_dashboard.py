"""The dashboard's page in a browser, over a history of twelve versions."""

from datetime import UTC, datetime

import pytest

from local.dashboard.building import build
from local.history import histories
from tests.local.browser import AXE, browser
from tests.local.twelve_versions import INJECTED, VERSIONS, Tables, stored_history

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
DRAWN = "[...document.querySelectorAll('.chart')].every((chart) => chart.querySelector('svg'))"
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


@pytest.fixture
def opened(chromium, address):
    """Open the page; what it said or asked for that it should not is found in the end."""
    wrong, contexts = [], []

    def opened(choices="", scheme="light", viewport=DESKTOP, url=address):
        context = chromium.new_context(color_scheme=scheme, viewport=viewport)
        contexts.append(context)
        page = context.new_page()
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on(
            "request",
            lambda asked: asked.url.startswith((url, "data:")) or wrong.append(asked.url),
        )
        page.goto(url + choices)
        page.wait_for_function(DRAWN)
        return page

    yield opened
    for context in contexts:
        context.close()
    assert wrong == []


def cells(page, visual):
    """Return the rows of a table as lists of texts."""
    rows = page.locator(f"#{visual} tbody").first.locator("tr")
    return [row.locator("th, td").all_inner_texts() for row in rows.all()]


def test_every_visual_is_drawn(opened):
    page = opened()

    for visual in page.locator(".visual").all():
        assert visual.locator(".figure, table, svg").count() > 0, visual.get_attribute("id")


def test_the_numbers_are_those_of_the_history(opened, tables):
    page = opened()
    heads = page.locator("#versions thead th").all_inner_texts()
    shown = {row[1]: dict(zip(heads, row, strict=True)) for row in cells(page, "versions")}

    assert list(shown) == VERSIONS
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
    page.locator("#rates-since").fill("2026-02-01")
    page.locator("#rates-until").fill("2026-02-23")

    assert [row[1] for row in cells(page, "versions")] == VERSIONS[4:8]


def test_nothing_is_an_answer(opened):
    page = opened("#Since=2030-01-01")

    assert "Nothing is stored for what is chosen." in page.inner_text("#newest")


def test_a_reader_sorts_a_table_and_stays_at_its_column(opened):
    page = opened()
    head = page.locator("#versions thead").get_by_role("button", name="Version number")
    head.click()
    head.click()

    assert [row[1] for row in cells(page, "versions")] == VERSIONS[::-1]
    assert page.evaluate("document.activeElement.textContent") == "Version number"
    assert page.locator("#versions th[aria-sort=descending]").count() == 1


def test_the_pointer_is_told_what_it_points_at(opened):
    page = opened("#Test=ingest")
    page.locator("#history svg .role-mark.mark-rect path").first.hover()

    told = page.locator("#vg-tooltip-element").inner_text()
    assert VERSIONS[0] in told
    assert "Mean" in told


def test_what_a_value_holds_is_a_text_and_nothing_else(opened):
    page = opened("#sheet=health")

    assert INJECTED in page.locator("#unfinished tbody").text_content()
    assert page.title() == "Tidemark dashboard"


def test_what_is_missing_is_said(opened):
    page = opened()

    assert "No value for 9.2.0." in page.inner_text("#history")
    assert "–" in cells(page, "versions")[2]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [DESKTOP, PHONE], ids=["desktop", "phone"])
def test_axe_finds_nothing(opened, scheme, viewport):
    page = opened(scheme=scheme, viewport=viewport)
    page.evaluate(AXE.read_text(encoding="utf-8"))

    found = page.evaluate("axe.run().then(({ violations }) => violations)")
    assert [(each["id"], each["impact"], each["nodes"][0]["html"]) for each in found] == []


def test_the_page_is_no_wider_than_a_phone(opened):
    page = opened(viewport=PHONE)

    assert page.evaluate("document.documentElement.scrollWidth") == PHONE["width"]
