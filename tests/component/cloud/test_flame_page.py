"""The page of flame graphs in a browser."""

import pytest
from playwright.sync_api import expect

from tests.component.cloud.browser import AXE, browser
from tidemark.figures.profiles.call_tree import call_tree
from tidemark.report.flame_page import Graph, flame_graph_scripts, flame_page

BASE = call_tree({"low;Compact;Next": 60, "low;Compact;gone": 20, "one;<write>": 20})
NEW = call_tree({"low;Compact;Next": 90, "low;Compact;Add": 90, "one;<write>": 20})


@pytest.fixture(scope="module")
def page(tmp_path_factory):
    """The page of both versions, in a browser; no message and no request may come of it."""
    file = tmp_path_factory.mktemp("flame") / "flame.html"
    graphs = [
        Graph("2.0", "2.0, coloured", "The width is the share.", NEW, BASE),
        Graph("1.0", "1.0, coloured", "The width is the share.", BASE, NEW, -1),
    ]
    file.write_text(
        flame_page("2.0 against 1.0", ["Next grew."], ["Read."], graphs, flame_graph_scripts())
    )
    wrong = []
    with browser() as chromium:
        page = chromium.new_page(viewport={"width": 1280, "height": 900})
        page.on("console", lambda message: wrong.append(message.text))
        page.on("pageerror", lambda error: wrong.append(str(error)))
        page.on(
            "request",
            lambda request: request.url.startswith("file:") or wrong.append(request.url),
        )
        page.goto(file.as_uri())
        page.locator("svg g.frame").first.wait_for()
        yield page
    assert wrong == []


def frames(page, graph):
    return page.locator(f".flame >> nth={graph}").locator("g.frame title").all_text_contents()


def test_each_graph_draws_the_frames_of_its_version_with_share_and_change(page):
    assert sorted(frames(page, 0)) == [
        "<write>: 10.00 % of all samples, −10.00 points",
        "Add: 45.00 % of all samples, +45.00 points",
        "Compact: 90.00 % of all samples, +10.00 points",
        "Next: 45.00 % of all samples, −15.00 points",
        "all: 100.00 % of all samples, +0.00 points",
        "low: 90.00 % of all samples, +10.00 points",
        "one: 10.00 % of all samples, −10.00 points",
    ]
    assert "gone: 20.00 % of all samples, −20.00 points" in frames(page, 1)


def test_a_search_tells_the_share_of_each_version_and_marks_the_frames(page):
    page.fill("#term", "next")

    assert page.inner_text("#details") == "“next”: 45.00 % of 2.0, 60.00 % of 1.0"
    marked = page.locator('rect[fill="#cc79a7"]')
    assert marked.count() == 2
    page.click("text=Show all")
    expect(page.locator("#details")).to_be_empty()
    assert marked.count() == 0


def test_keys_move_between_frames_and_zoom(page):
    graph = page.locator(".chart").first
    graph.focus()
    for key in ("ArrowDown", "ArrowDown", "ArrowDown", "ArrowRight"):
        page.keyboard.press(key)
    assert page.inner_text("#details").startswith("Next: 45.00 %")
    page.keyboard.press("Enter")
    assert len(frames(page, 0)) == 4
    page.keyboard.press("Escape")
    assert len(frames(page, 0)) == 7
    assert page.inner_text("#details").startswith("all: 100.00 %")


def test_a_zoom_is_that_of_both_graphs_and_stands_with_the_search_in_the_address(page):
    page.locator(".flame >> nth=0").locator("g.frame[name*=Compact] rect").click()
    page.fill("#term", "next")

    assert page.evaluate("location.hash") == "#zoom=low%3BCompact&search=next"
    for graph in (0, 1):
        drawn = page.locator(f".flame >> nth={graph}").locator("g.frame")
        zoomed = drawn.locator("xpath=self::*[contains(@name,'Compact')]").locator("rect")
        whole = drawn.first.locator("rect")
        assert zoomed.get_attribute("width") == whole.get_attribute("width")
    shared = page.url
    page.goto("about:blank")
    page.goto(shared)
    expect(page.locator("#term")).to_have_value("next")
    expect(page.locator("#details")).to_have_text("“next”: 45.00 % of 2.0, 60.00 % of 1.0")
    assert "<write>: 10.00 % of all samples, −10.00 points" not in frames(page, 0)
    page.click("text=Show all")
    assert page.evaluate("location.hash") == ""
    assert len(frames(page, 0)) == 7


def test_an_inverted_graph_has_each_function_with_its_callers(page):
    page.check("#inverted")

    assert sorted(frames(page, 0)) == [
        "<write>: 10.00 % of all samples, −10.00 points",
        "Add: 45.00 % of all samples, +45.00 points",
        "Compact: 45.00 % of all samples, +45.00 points",
        "Compact: 45.00 % of all samples, −15.00 points",
        "Next: 45.00 % of all samples, −15.00 points",
        "all: 100.00 % of all samples, +0.00 points",
        "low: 45.00 % of all samples, +45.00 points",
        "low: 45.00 % of all samples, −15.00 points",
        "one: 10.00 % of all samples, −10.00 points",
    ]
    page.uncheck("#inverted")
    assert len(frames(page, 0)) == 7


def test_the_pointer_shows_the_figures_of_its_frame(page):
    page.locator(".flame >> nth=0").locator("g.frame[name*=Add]").hover()

    expect(page.locator("#hover")).to_have_text("Add: 45.00 % of all samples, +45.00 points")
    page.mouse.move(5, 5)
    expect(page.locator("#hover")).to_be_hidden()


@pytest.mark.parametrize("media", ["screen", "print"])
def test_the_page_is_accessible_and_as_wide_as_its_window(page, media):
    page.emulate_media(media=media)

    page.evaluate(AXE.read_text(encoding="utf-8"))
    found = page.evaluate("axe.run()")
    assert [rule["id"] for rule in found["violations"]] == []
    assert page.evaluate("document.documentElement.scrollWidth") <= 1280
    assert page.locator("#search").is_visible() is (media == "screen")
