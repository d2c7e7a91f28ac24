"""Prepared results as pages and as pictures: ``python -m tests.checks.prepared FOLDER``.

A picture is the first screen of its page: whoever looks at it alone says which result it shows.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

from tests.component.cloud.browser import browser
from tests.component.cloud.twelve_versions import Tables
from tests.plans import STARTED
from tests.unit.prepared_results import HISTORIES, PREPARED
from tidemark.dashboard.page import build
from tidemark.report.page import page

_WIDTH, _HEIGHT = 1400, 900


def pages() -> Iterator[tuple[str, str, str]]:
    """Yield the name of each result, its page, and the address of its answer on the page."""
    for name, prepared in PREPARED.items():
        yield name, page(prepared.report()), ""
    for name, history in HISTORIES.items():
        yield name, build(Tables(history.tables(), "rocksdb"), STARTED), "#sheet=releases"


def write(folder: Path) -> None:
    """Write each page, and a picture of its first screen beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    with browser() as chromium:
        tab = chromium.new_page(viewport={"width": _WIDTH, "height": _HEIGHT})
        for name, text, address in pages():
            file = folder / f"{name.replace(' ', '-')}.html"
            file.write_text(text, encoding="utf-8")
            tab.goto(file.as_uri() + address)
            tab.wait_for_load_state("networkidle")
            tab.screenshot(path=file.with_suffix(".png"))


if __name__ == "__main__":
    write(Path(sys.argv[1]))
