"""The pages of prepared results in a browser: the first screen names the right answer."""

import pytest

from tests.component.cloud.browser import AXE, browser
from tests.component.cloud.twelve_versions import Tables
from tests.plans import STARTED
from tests.unit.prepared_results import HISTORIES, PREPARED
from tidemark.dashboard.page import build
from tidemark.report.page import page

SCREEN, PHONE = {"width": 1400, "height": 900}, {"width": 390, "height": 844}
COMPARED, MEASURED = "mixed", "20 versions"
WITHOUT_CHANGES = {"one missing", "one version", "comments", "a search", MEASURED}
DRAWN = """() => [...document.querySelectorAll(".chart")].every((each) =>
  each.closest("details:not([open])") || each.querySelector("svg"))"""
VIEWS = [(scheme, width) for scheme in ("light", "dark") for width in (390, 768, 1400)]
# `make test` sees each page, scheme and outer width once; each view takes some seconds.
SEEN = {(COMPARED, "light", 1400), (MEASURED, "dark", 390)}


@pytest.fixture(scope="module")
def open_page(tmp_path_factory):
    """Return a way to open a page at its top; no message and no request may come of any."""
    folder, wrong = tmp_path_factory.mktemp("prepared"), []
    with browser() as chromium:
        tab = chromium.new_page(viewport=SCREEN)
        tab.on("console", lambda message: wrong.append(message.text))
        tab.on("pageerror", lambda error: wrong.append(str(error)))
        tab.on("request", lambda sent: sent.url.startswith("file:") or wrong.append(sent.url))

        def open_page(name):
            file = folder / f"{name}.html"
            if not file.exists():
                file.write_text(_page(name), encoding="utf-8")
            if tab.url != file.as_uri():
                tab.goto(file.as_uri())
                tab.wait_for_function(DRAWN)
            return tab

        yield open_page
    assert wrong == []


def _page(name):
    if name in PREPARED:
        return page(PREPARED[name].report())
    return build(Tables(HISTORIES[name].tables(), "rocksdb"), STARTED)


def right(element):
    box = element.bounding_box()
    return box["x"] + box["width"]


def bottom(element):
    box = element.bounding_box()
    return box["y"] + box["height"]


@pytest.mark.parametrize("name", PREPARED)
def test_the_first_screen_names_the_answer(open_page, name):
    tab, prepared = open_page(name), PREPARED[name]
    answer, first = tab.locator("h1 + p"), tab.locator("h1 + p + ul > li:first-child")

    assert tab.get_by_role("heading", level=1).inner_text() == prepared.heading
    assert answer.inner_text().replace("\xa0", " ") == prepared.answer
    assert [each.replace("\xa0", " ") for each in first.all_inner_texts()] == (
        [prepared.first] if prepared.first else []
    )
    step = tab.locator("h1 ~ p, h1 ~ div p").filter(has_text=prepared.step.replace(" %", "\xa0%"))
    assert all(bottom(each) < SCREEN["height"] / 2 for each in (answer, *first.all(), step.first))
    charts = tab.get_by_role("img", name="Δ of each metric with its 95 % interval")
    assert charts.count() == (name not in WITHOUT_CHANGES)
    assert all(chart.bounding_box()["y"] < 0.75 * SCREEN["height"] for chart in charts.all())


@pytest.mark.parametrize("name", HISTORIES)
def test_the_first_screen_of_a_history_names_its_open_regression(open_page, name):
    tab = open_page(name)
    tab.get_by_role("tab", name="History").click()
    told = tab.locator(".shown .open")

    assert told.inner_text().replace("\xa0", " ").split("\n\n") == [
        "rocksdb: ▼ slower, not mended:",
        HISTORIES[name].told,
    ]
    assert bottom(told) < SCREEN["height"] / 2


def test_the_first_screen_of_many_versions_has_the_chart_of_their_rates(open_page):
    chart = open_page(MEASURED).get_by_role("img", name="ingest_rate by version, ± its spread")

    assert bottom(chart) < SCREEN["height"]


def test_a_phone_shows_each_verdict_with_its_change_and_gives_the_chart_its_whole_width(open_page):
    tab = open_page("environment changed")
    tab.set_viewport_size(PHONE)
    tab.reload()
    chart = tab.get_by_role("img", name="Δ of each metric with its 95 % interval")
    chart.locator("svg").wait_for(state="attached")
    verdict, change = tab.get_by_role("table").first.get_by_role("cell").all()[:2]
    end = right(change)
    told = [each.inner_text().replace("\xa0", " ") for each in (verdict, change)]
    name = chart.get_by_text("ingest: ingest_rate").bounding_box()
    ends = chart.get_by_text("20\xa0%", exact=True).count()
    whisker = chart.locator("line[stroke='var(--unclear)']").first.bounding_box()
    tab.set_viewport_size(SCREEN)
    tab.reload()
    chart.locator("svg").wait_for(state="attached")

    assert told == ["▽ slower on unlike machines", "−20.0 %"]
    assert (ends, end <= PHONE["width"]) == (2, True)
    assert 0 < whisker["y"] - name["y"] - name["height"] < name["height"], "the name is above"


# Each pair of texts whose boxes overlap, and each text beyond the right edge.
OVERLAPS = """async () => {
  for (const each of document.querySelectorAll("details")) each.open = true;
  for (const chart of document.querySelectorAll(".chart")) {
    chart.scrollIntoView();
    await new Promise(requestAnimationFrame);
  }
  const boxes = [], texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const { currentNode: text } = texts, range = document.createRange();
    range.selectNodeContents(text);
    for (const box of text.textContent.trim() ? range.getClientRects() : []) {
      let { left, right } = box;
      for (let around = text.parentElement; around; around = around.parentElement) {
        if (getComputedStyle(around).overflowX === "visible") continue;
        const within = around.getBoundingClientRect();
        [left, right] = [Math.max(left, within.left), Math.min(right, within.right)];
      }
      const { top, bottom } = box;
      if (right - left > 1) boxes.push({ left, right, top, bottom, words: text.textContent });
    }
  }
  boxes.sort((one, other) => one.top - other.top);
  const found = boxes.filter(({ right }) => right > innerWidth + 1).map(({ words }) => words);
  boxes.forEach((one, at) => {
    for (const other of boxes.slice(at + 1)) {
      if (other.top > one.bottom - 4) break;
      const width = Math.min(one.right, other.right) - Math.max(one.left, other.left);
      if (width > 2) found.push(`${one.words} on ${other.words}`);
    }
  });
  return found;
}"""


@pytest.mark.parametrize(
    "name",
    [
        "mixed",
        pytest.param("40 metrics with labels", marks=pytest.mark.systems),
        pytest.param("a load of two databases", marks=pytest.mark.systems),
    ],
)
def test_no_text_lies_on_another_on_a_phone(open_page, name):
    tab = open_page(name)
    tab.set_viewport_size(PHONE)
    tab.reload()
    tab.evaluate(OVERLAPS)
    tab.wait_for_function("""() => [...document.querySelectorAll(".chart")].every((each) =>
      each.querySelector("svg"))""")
    found = tab.evaluate(OVERLAPS)
    tab.set_viewport_size(SCREEN)
    tab.reload()

    assert found == []


# The pages stand last, so that each is opened once.
@pytest.mark.parametrize(
    ("name", "scheme", "width"),
    [
        pytest.param(*view, marks=[] if view in SEEN else pytest.mark.systems)
        for name in (COMPARED, MEASURED)
        for view in [(name, *each) for each in VIEWS]
    ],
)
def test_axe_finds_nothing(open_page, name, width, scheme):
    tab = open_page(name)
    tab.set_viewport_size({**SCREEN, "width": width})
    tab.emulate_media(color_scheme=scheme)
    tab.evaluate(AXE.read_text(encoding="utf-8"))
    found = tab.evaluate("axe.run().then(({ violations }) => violations)")
    tab.set_viewport_size(SCREEN)

    assert [(each["id"], each["impact"], each["nodes"][0]["html"]) for each in found] == []
