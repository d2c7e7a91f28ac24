"""Picture of the README: ``python -m tests.checks.picture STATE BASE NEW``.

STATE is the state folder of a finished run that measured both versions.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

from tests.component.cloud.browser import browser
from tidemark.model.checkout import ROOT

PICTURE = ROOT / "docs" / "comparison.png"
# The table of results needs this width; the picture is 1,000 pixels wide.
_WIDTH, _HEIGHT, _SCALE = 1250, 580, 0.8
# The picture shows the title, the summary, the results and the first chart.
_CROP = """() => {
  const chart = document.querySelector("figure");
  for (const section of document.querySelectorAll("section")) {
    const results = section.querySelector("h2").textContent === "Results";
    if (!results && !section.contains(chart)) section.remove();
  }
  for (const part of document.querySelectorAll("figure, details")) {
    if (part !== chart) part.remove();
  }
  document.querySelector("main").style.padding = "1rem 1rem 0";
  // At this scale the shadows of scrolling regions leave hair lines.
  document.querySelectorAll(".scroll").forEach((region) => { region.style.background = "none"; });
}"""


def write(state: Path, base: str, new: str) -> None:
    """Write the comparison of two versions in a state folder as ``docs/comparison.png``."""
    with tempfile.TemporaryDirectory() as folder, browser() as chromium:
        page_file = Path(folder) / "comparison.html"
        tidemark = Path(sys.executable).with_name("tidemark")
        options = ["--state", str(state), "--format", "html", "--output", str(page_file)]
        subprocess.run(
            [str(tidemark), "compare", base, new, *options], stdout=subprocess.DEVNULL, check=True
        )
        page = chromium.new_page(
            viewport={"width": _WIDTH, "height": _HEIGHT}, device_scale_factor=_SCALE
        )
        page.goto(page_file.as_uri())
        page.wait_for_selector("figure svg")
        page.evaluate(_CROP)
        page.screenshot(path=PICTURE, full_page=True)


if __name__ == "__main__":
    write(Path(sys.argv[1]), *sys.argv[2:])
