"""Times of opening the dashboard's page in Chromium: ``python -m tests.checks.bench.opened_pages``.

A page is interactive once its first screen is drawn and a key is answered. The pages are from
20,000 stored runs, and of as many versions and metrics as fit.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from playwright.sync_api import Browser, ViewportSize

from tests.checks.bench.commands import TIDEMARK
from tests.component.cloud.browser import browser
from tests.component.cloud.twelve_versions import Tables, wide_history
from tidemark.dashboard.page import build
from tidemark.model.checkout import ROOT

MOST_SECONDS = 1.0
MOST_MEGABYTES = 2.0
_OPENINGS = 5
_SHEETS = ("rates", "compare", "run", "health")
_SCREEN = ViewportSize(width=1400, height=900)
_NOW = datetime(2026, 11, 21, 12, tzinfo=UTC)
# Each is the time since the browser was told to open the page [ms].
_DRAWN = """() => {
  const charts = [...document.querySelectorAll(".shown .chart")]
    .filter((chart) => chart.getBoundingClientRect().top < innerHeight);
  const filled = document.querySelector(".shown .body > *");
  return filled && charts.every((chart) => chart.querySelector("svg")) && performance.now();
}"""
_TURNED = """(sheet) => new Promise((done) => {
  const selected = document.querySelector("[role=tab][aria-selected=true]");
  selected.dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight" }));
  const before = selected.getAttribute("aria-controls");
  const look = () => document.querySelector(".shown").id !== before
    ? requestAnimationFrame(() => done(performance.now())) : requestAnimationFrame(look);
  look();
})"""


def figures(dashboards: Mapping[str, Path]) -> Iterator[tuple[str, float, float, str]]:
    """Yield name, measured value, limit and unit for each page and each of its sheets."""
    with browser() as chromium:
        for name, file in dashboards.items():
            yield f"dashboard of {name}", file.stat().st_size / 1e6, MOST_MEGABYTES, "MB"
            for sheet in _SHEETS:
                seconds = _interactive(chromium, f"{file.as_uri()}#sheet={sheet}")
                yield f"dashboard of {name}, {sheet} interactive", seconds, MOST_SECONDS, "s"


def many_runs(state: Path) -> Path:
    """Return the page of a state folder, which is written into it."""
    file = state / "dashboard.html"
    command = [TIDEMARK, "dashboard", "--state", str(state), "--output", str(file)]
    subprocess.run(command, cwd=ROOT, capture_output=True, check=True)
    return file


def wide(folder: Path) -> Path:
    """Return the page of two suites with thirty versions of twelve metrics each."""
    file = folder / "wide.html"
    file.write_text(build(Tables(wide_history()), _NOW), encoding="utf-8")
    return file


def _interactive(chromium: Browser, address: str) -> float:
    """Return the median time after which a page is interactive [s]; it asks nobody for anything."""
    return statistics.median(_opened(chromium, address) for _ in range(_OPENINGS))


def _opened(chromium: Browser, address: str) -> float:
    tab = chromium.new_page(viewport=_SCREEN)
    asked: list[str] = []
    tab.on("request", lambda sent: asked.append(sent.url))
    tab.goto(address, wait_until="commit")
    tab.wait_for_function(_DRAWN, polling="raf")
    milliseconds = tab.evaluate(_TURNED)
    tab.close()
    others = [each for each in asked if not each.startswith(("data:", address.partition("#")[0]))]
    assert not others, f"the page asked for {others}"
    return float(milliseconds) / 1000


def main() -> int:
    """Measure the page of many versions and metrics alone; return 1 if it exceeds a limit."""
    with tempfile.TemporaryDirectory() as folder:
        pages = {"many metrics": wide(Path(folder))}
        pages |= {each: Path(each) for each in sys.argv[1:]}
        measured = list(figures(pages))
    for name, value, limit, unit in measured:
        print(f"{name}: {value:.2f} {unit}, limit {limit:g} {unit}")
    return int(any(value > limit for _, value, limit, _ in measured))


if __name__ == "__main__":
    sys.exit(main())
