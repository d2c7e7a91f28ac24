"""Queries in the sources of Terraform: in resources, and in the locals and files that they name.

Locals that a query inserts, and joins of texts, are resolved if they are literal.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

from cwli.sources.written import (
    Written,
    filled,
    in_one,
    inserted,
    known,
    plain,
    text_of,
    written,
)

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
_INLINE = re.compile(r"<<|\"|jsonencode\(\s*\{")
_WIDGETS = re.compile(r"\bwidgets\"?\s*[=:]\s*+(?!\[)")
_FILE = re.compile(r'\s*(?:template)?file\(\s*"(?:\$\{path\.\w+\}/)?([^"$]+)"')
# The last name of a local value, or of a member of one.
_LOCAL = re.compile(r"(?:local|each)\b[\w.\[\]\"-]*?([\w-]+)\"?\]?\s*$", re.MULTILINE)
_INSERTED_LOCAL = re.compile(r"\$\{\s*local\.(?:[\w-]+\.)*([\w-]+)\s*\}")
_NAMED = re.compile(rf"(?<![\w.\"-])\"?([\w-]+)\"?\s*=\s*{_VALUE}", re.DOTALL)
_WHOLE = re.compile(rf"\s*{_VALUE}\s*", re.DOTALL)
_JOIN = re.compile(r"join\(\s*\"((?:[^\"\\]|\\.)*)\"\s*,\s*\[(.*?)\]\s*\)", re.DOTALL)
_TRIMMED = re.compile(r"(?:chomp|trimspace|trim)\(\s*")
_ITEM = re.compile(rf"\s*(?:{_VALUE}|(?P<local>local\.[\w.-]+))\s*(?:,|$)", re.DOTALL)
_MODULE = re.compile(r'\bsource\s*=\s*"[^"\n]*query[-_]definition')
_LOG_WIDGET = re.compile(r'"type"\s*:\s*"log"')

_MOST_INSERTIONS = 10


def queries_of(file: Path, text: str) -> Iterator[Written]:
    """Yield the queries of a file of Terraform, each where its text is."""
    for match in filter(_is_of_resource, _ARGUMENT.finditer(text)):
        if match["document"] is None and match["text"] is None:
            yield from list(_elsewhere(file, match)) or [_combined(file, match)]
        else:
            yield _of_value(file, match)
    for match in filter(_is_of_resource, _BODY.finditer(text)):
        yield from _of_body(file, match)


def _of_body(file: Path, match: re.Match[str]) -> Iterator[Written]:
    """Yield the queries of a dashboard whose body is in another file."""
    if body := _file_named(file, match):
        yield from queries_of_dashboard(body, text_of(body))
        return
    end = _BLOCK.search(match.string, match.end())
    inner = match.string[match.end() : end.start() if end else None]
    if not _INLINE.match(inner) or _WIDGETS.search(inner):
        yield written(file, match, "name", None)


def is_dashboard(text: str) -> bool:
    """Tell whether a JSON text, or a template of one, is the body of a dashboard with queries."""
    return _LOG_WIDGET.search(text) is not None


def queries_of_dashboard(file: Path, text: str) -> Iterator[Written]:
    """Yield the queries of the body of a dashboard, or of a template of it."""
    matches = (match for match in _ARGUMENT.finditer(text) if match["text"] is not None)
    return (_of_value(file, match) for match in matches)


def _is_of_resource(match: re.Match[str]) -> bool:
    block = _block(match)
    return _RESOURCES[match["name"]] in block or (
        match["name"] == "query_string" and block.startswith("module") and _is_of_module(match)
    )


def _is_of_module(match: re.Match[str]) -> bool:
    """Tell whether the module around an argument makes query definitions, by its source."""
    *_, block = _BLOCK.finditer(match.string, 0, match.start())
    after = _BLOCK.search(match.string, match.end())
    inner = match.string[block.start() : after.start() if after else None]
    return _MODULE.search(inner) is not None


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
    group = "text" if match["document"] is None else "document"
    found = written(file, match, group, _text(match))
    text = _filled(_text(match), file)
    return found._replace(text=known(text), spans=found.spans and text == _text(match))


def _text(match: re.Match[str]) -> str:
    if match["document"] is not None:
        return textwrap.dedent(match["document"])
    return plain(match["text"], keep=False) or ""


@cache
def _locals(folder: Path) -> dict[str, str]:
    """Return the texts of the locals of a folder that have a name of their own."""
    texts: dict[str, list[str]] = {}
    for path in sorted(folder.glob("*.tf")):
        for match in _NAMED.finditer(text_of(path)):
            if _block(match) == "locals":
                texts.setdefault(match[1], []).append(_text(match))
    return {name: values[0] for name, values in texts.items() if len(values) == 1}


def _filled(text: str | None, file: Path) -> str | None:
    """Return a text with the locals that it inserts, and those that they insert."""
    for _ in range(_MOST_INSERTIONS):
        if text is None or not _INSERTED_LOCAL.search(text):
            break
        text = filled(_INSERTED_LOCAL, text, partial(_local_of, file.parent))
    return text


def _local_of(folder: Path, match: re.Match[str]) -> str:
    return _locals(folder).get(match[1], inserted("x"))


def _combined(file: Path, match: re.Match[str]) -> Written:
    """Return the query of an argument that joins literal texts or trims one."""
    found = written(file, match, "name", None)
    at = match.end()
    if trimmed := _TRIMMED.match(match.string, at):
        whole = _WHOLE.match(match.string, trimmed.end())
        return _of_value(file, whole) if whole else found
    join = _JOIN.match(match.string, at)
    items = list(_ITEM.finditer(join[2])) if join else []
    if join is None or "".join(item[0] for item in items).rstrip() != join[2].rstrip():
        return found
    parts = [inserted(item["local"]) if item["local"] else _text(item) for item in items]
    text = in_one(parts, plain(join[1], keep=False) or "")
    return found._replace(text=known(_filled(text, file)), spans=False)
