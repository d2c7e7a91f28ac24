"""Queries in the sources of Terraform: in resources, and in the locals and files that they name."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from pathlib import Path

from tidemark.cli.query.written import Written, known, plain, text_of, written

# The kind and the labels of a block.
_BLOCK = re.compile(
    r'^\s*((?:resource|data|module|locals|variable|output|provider)(?:\s+"[^"\n]*")*)\s*\{',
    re.MULTILINE,
)
_RESOURCES = {
    "query_string": '"aws_cloudwatch_query_definition"',
    "query": '"aws_cloudwatch_dashboard"',
    "dashboard_body": '"aws_cloudwatch_dashboard"',
}
# A heredoc or a text.
_VALUE = r'(?:<<-?(?P<mark>\w+)\n(?P<document>.*?)\n\s*(?P=mark)\b|"(?P<text>(?:[^"\\]|\\.)*)")'
# The argument of these resources, also in JSON. A body in the same file has queries of its own.
_ARGUMENT = re.compile(rf"\b(?P<name>query(?:_string)?)(?:\s*=|\"\s*:)\s*{_VALUE}?", re.DOTALL)
_BODY = re.compile(r"\b(?P<name>dashboard_body)\s*=\s*")
_FILE = re.compile(r'\s*(?:template)?file\(\s*"(?:\$\{path\.\w+\}/)?([^"$]+)"')
# The last name of a local value, or of a member of one.
_LOCAL = re.compile(r"(?:local|each)\b[\w.\[\]\"-]*?([\w-]+)\"?\]?\s*$", re.MULTILINE)
_LOG_WIDGET = re.compile(r'"type"\s*:\s*"log"')


def queries_of(file: Path, text: str) -> Iterator[Written]:
    """Yield the queries of a file of Terraform, each where its text is."""
    for match in filter(_is_of_resource, _ARGUMENT.finditer(text)):
        if match["document"] is None and match["text"] is None:
            yield from list(_elsewhere(file, match)) or [written(file, match, "text", None)]
        else:
            yield _of_value(file, match)
    for match in filter(_is_of_resource, _BODY.finditer(text)):
        if body := _file_named(file, match):
            yield from queries_of_dashboard(body, text_of(body))


def is_dashboard(text: str) -> bool:
    """Tell whether a JSON text, or a template of one, is the body of a dashboard with queries."""
    return _LOG_WIDGET.search(text) is not None


def queries_of_dashboard(file: Path, text: str) -> Iterator[Written]:
    """Yield the queries of the body of a dashboard, or of a template of it."""
    matches = (match for match in _ARGUMENT.finditer(text) if match["text"] is not None)
    return (_of_value(file, match) for match in matches)


def _is_of_resource(match: re.Match[str]) -> bool:
    return _RESOURCES[match["name"]] in _block(match)


def _block(match: re.Match[str]) -> str:
    """Return the kind and the labels of the last block that begins before a place."""
    blocks: list[str] = _BLOCK.findall(match.string, 0, match.start())
    return blocks[-1] if blocks else ""


def _elsewhere(file: Path, match: re.Match[str]) -> Iterator[Written]:
    """Yield the queries that an argument names: a file, or locals of the same folder."""
    if query := _file_named(file, match):
        yield Written(query, 0, known(text_of(query)), spans=True)
    elif local := _LOCAL.match(match.string, match.end()):
        value = re.compile(rf'(?<![\w."-])"?{local[1]}"?\s*=\s*{_VALUE}', re.DOTALL)
        for path in sorted(file.parent.glob("*.tf")):
            values = value.finditer(text_of(path))
            yield from (_of_value(path, each) for each in values if _block(each) == "locals")


def _file_named(file: Path, match: re.Match[str]) -> Path | None:
    """Return the file whose content is the value after a place, None if there is none."""
    name = _FILE.match(match.string, match.end())
    path = file.parent / name[1] if name else None
    return path if path and path.is_file() else None


def _of_value(file: Path, match: re.Match[str]) -> Written:
    if match["document"] is not None:
        return written(file, match, "document", textwrap.dedent(match["document"]))
    return written(file, match, "text", plain(match["text"], keep=False))
