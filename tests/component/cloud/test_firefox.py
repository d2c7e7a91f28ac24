"""Every kind of page in Firefox: its answer, its charts, and that it asks nobody for anything."""

from datetime import UTC, datetime

import pytest

from tests.component.cloud.firefox import firefox
from tests.component.cloud.twelve_versions import Tables, stored_history
from tests.unit.prepared_results import PREPARED
from tidemark.dashboard.page import build
from tidemark.figures.profiles.call_tree import call_tree
from tidemark.report.flame_page import Graph, flame_graph_scripts, flame_page
from tidemark.report.page import page

pytestmark = pytest.mark.systems

NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
REQUESTS = "return performance.getEntriesByType('resource').map(({ name }) => name)"
ALL_DRAWN = "[...document.querySelectorAll('.chart')].every((chart) => chart.querySelector('svg'))"


@pytest.fixture(scope="module")
def tab(tmp_path_factory):
    with firefox(tmp_path_factory.mktemp("firefox")) as tab:
        yield tab


@pytest.fixture
def shown(tab, tmp_path):
    """Return a way to show a page until a condition holds; no request may come of it."""

    def shown(html, condition=ALL_DRAWN):
        file = tmp_path / "page.html"
        file.write_text(html, encoding="utf-8")
        tab.goto(file.as_uri())
        tab.wait_for(condition)
        assert tab.run(REQUESTS) == []
        return tab

    return shown


def text(tab, selector):
    found = tab.run(f"return document.querySelector('{selector}').innerText")
    return found.replace("\xa0", " ")


@pytest.mark.parametrize("name", PREPARED)
def test_a_report_names_its_answer_and_draws_its_charts(shown, name):
    tab = shown(page(PREPARED[name].report()))

    assert text(tab, "h1 + p, h1 + ul > li:first-child") == PREPARED[name].answer


def test_the_dashboard_begins_with_its_answer_and_turns_its_sheets_by_keyboard(shown):
    tab = shown(
        build(Tables(stored_history()), NOW), "document.querySelector('main:not([aria-busy]) svg')"
    )
    assert text(tab, ".shown .answer").startswith("rocksdb 9.11.0 against 9.10.0: ? cannot tell")
    press = "document.querySelector('[role=tab]').dispatchEvent"
    tab.run(f"{press}(new KeyboardEvent('keydown', {{ key: 'End' }}))")

    assert text(tab, "[role=tab][aria-selected=true]") == "Health"


def test_flame_graphs_are_drawn(shown):
    tree = call_tree({"low;compact": 60, "low;read": 40})
    graphs = [Graph("2.0", "2.0", "The width is the share.", tree, tree)]
    html = flame_page("2.0 against 1.0", [], [], graphs, flame_graph_scripts())

    tab = shown(html, "document.querySelector('svg g.frame')")

    assert tab.run("return document.querySelectorAll('svg g.frame').length") == 4
