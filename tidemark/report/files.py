"""The files of a report in the results bucket, and its blocks as JSON, for a terminal."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Sequence

from pydantic import TypeAdapter

from tidemark.model.comment import Comment
from tidemark.report.blocks import Block, Chart, Details, Report, Said
from tidemark.store import keys
from tidemark.store.bucket import Bucket


def dump(report: Report) -> str:
    """Return a report as JSON, without drawings and images: tables and texts are enough.

    Each part is an array of its fields. The form may change with any version of Tidemark.
    """
    sections = (each._replace(blocks=tuple(_undrawn(each.blocks))) for each in report.sections)
    undrawn = report._replace(summary=tuple(_undrawn(report.summary)), sections=tuple(sections))
    return json.dumps(undrawn, default=sorted, ensure_ascii=False, separators=(",", ":"))


def load(text: bytes) -> Report:
    """Return a dumped report; raise pydantic's ValidationError for any other text."""
    return TypeAdapter(Report).validate_json(text)


def _undrawn(blocks: Sequence[Block]) -> Iterator[Block]:
    for block in blocks:
        match block:
            case Chart():
                yield block._replace(spec={})
            case Details():
                yield block._replace(blocks=tuple(_undrawn(block.blocks)))
            case Said():
                yield block._replace(html="", images={})
            case _:
                yield block


def write_images(bucket: Bucket, suite: str, run_id: str, comments: Iterable[Comment]) -> None:
    """Write the images of comments beside the report of a run, whose Markdown shows them."""
    for comment in comments:
        for name, content in comment.images.items():
            bucket.write(keys.report(suite, run_id, name), base64.b64decode(content))


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
