"""The links of the dashboard's page to the flame graphs that are saved in the state folder."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from tidemark.report.blocks import Link
from tidemark.store import keys


def flame_links(state: Path, folder: Path) -> Iterator[Link]:
    """Yield a link to each page of the newest run with flame graphs of each suite.

    The links are those of a page in ``folder``.
    """
    for suite in sorted((state / "reports").glob("*")):
        pages = sorted(suite.glob(f"*/{keys.FLAME_GRAPHS}*.html"))
        for page in pages:
            if page.parent == pages[-1].parent:
                name = page.stem.removeprefix(keys.FLAME_GRAPHS)
                yield Link(
                    f"{suite.name}: {name.replace(keys.AGAINST, ' against ')}",
                    Path(os.path.relpath(page, folder)).as_posix(),
                )
