"""Writer of the text files of a report or a comparison, in the results bucket."""

from __future__ import annotations

from collections.abc import Callable, Iterable

from tidemark.store.bucket import Bucket

Vega = Callable[[], str]
"""A function that returns the script for the charts of a page."""


def write_texts(
    bucket: Bucket, key: Callable[[str], str], texts: Iterable[tuple[str, str]]
) -> dict[str, str]:
    """Write texts one after the other, Markdown last; return the key of each.

    A page may be large, so no two texts are in memory at once. An outcome names a report by its
    Markdown, which is there only if the rest is.
    """
    written = {}
    for name, text in texts:
        written[name] = key(name)
        bucket.write(written[name], text.encode())
    return written
