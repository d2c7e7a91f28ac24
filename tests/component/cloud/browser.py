"""A browser for the tests of pages: Debian's Chromium, driven by Playwright."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tidemark.model.checkout import ROOT

CHROMIUM = Path(os.environ.get("CHROMIUM", "/usr/bin/chromium"))
AXE = ROOT / "node_modules" / "axe-core" / "axe.min.js"
# As root, Chromium has no sandbox; the other flags prevent requests to its maker.
_FLAGS = ("--no-sandbox", "--disable-background-networking", "--disable-component-update")


@contextmanager
def browser() -> Iterator[Browser]:
    """Yield a browser; fail with an instruction if none is installed."""
    assert CHROMIUM.exists(), (
        f"{CHROMIUM} does not exist: `make {CHROMIUM}` installs Debian's chromium"
    )
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=_FLAGS)
        yield chromium
        chromium.close()
