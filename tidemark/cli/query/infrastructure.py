"""Queries in the sources of infrastructure: CloudFormation, CDK and Terraform."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from tidemark.cli.query.terraform import is_dashboard, queries_of, queries_of_dashboard
from tidemark.cli.query.written import Written, known, plain, text_of, written
from tidemark.model.refusal import Refused

_CODE = (".ts", ".js", ".py")
# The templates that Terraform fills in.
_TEMPLATES = (".tpl", ".tftpl")
SUFFIXES = (".cwli", ".yaml", ".yml", ".json", ".template", ".tf", *_TEMPLATES, *_CODE)
"""The suffixes of files that may hold queries."""
_DASHBOARD = "AWS::CloudWatch::Dashboard"
_PROPERTIES = {"AWS::Logs::QueryDefinition": "QueryString", _DASHBOARD: "DashboardBody"}
_LITERAL = (
    r'"""(?:[^\\]|\\.)*?"""|`(?:[^`\\]|\\.)*`|"(?:[^"\\\n]|\\.)*"'
    r"|'''(?:[^\\]|\\.)*?'''|'(?:[^'\\\n]|\\.)*'"
)
# A literal is a whole value if no other literal, operator or call follows.
_END = r"(?=\s*(?:[,;)\]}]|$))"
_QUOTE = "[\"']"
# The properties of CfnQueryDefinition and LogQueryWidget, in TypeScript and in Python; a type of
# TypeScript is no query.
_ASSIGNED = re.compile(
    rf"\bquery_?(?:[sS]tring{_QUOTE}?\s*[:=](?!\s*str(?:ing)?\b)"
    rf"\s*(?:(?P<text>r?(?>{_LITERAL})){_END})?"
    rf"|[lL]ines{_QUOTE}?\s*[:=]"
    rf"\s*(?:\[(?P<lines>(?:\s*(?>{_LITERAL})\s*(?:,|(?=\])))*)\s*\]{_END})?)",
    re.DOTALL,
)
_OF_LOGS = re.compile(r"aws[-_](?:logs|cloudwatch)\b")


def holds_queries(query: str) -> bool:
    """Tell whether a query of the command line is a folder or a source of infrastructure."""
    path = Path(query)
    try:
        return path.is_dir() or (path.suffix in SUFFIXES[1:] and not re.search(r"\s", query))
    except (OSError, ValueError):  # too long for a path, or with a NUL
        return False


def queries_at(path: Path) -> list[Written]:
    """Return the queries in a file or in the files below a folder.

    Raises
    ------
    Refused
        If there are none, or if a file cannot be read.
    """
    files = _files_at(path)
    # Several resources may name the same text.
    queries = list(dict.fromkeys(query for file in files for query in _queries_in(file)))
    if not queries:
        raise Refused(
            f"{path}: this holds no queries; expected files that end in {', '.join(SUFFIXES)}"
        )
    return queries


def _files_at(path: Path) -> list[Path]:
    if not path.is_dir():
        return [path]
    return sorted(file for file in path.rglob("*") if _is_source(file, path))


def _is_source(path: Path, folder: Path) -> bool:
    parts = path.relative_to(folder).parts
    hidden = any(part.startswith(".") or part == "node_modules" for part in parts)
    return path.suffix in SUFFIXES and not hidden and path.is_file()


def _queries_in(file: Path) -> Iterator[Written]:
    text = text_of(file)
    if file.suffix == ".cwli":
        yield Written(file, 0, text, spans=True)
    elif file.suffix == ".tf":
        yield from queries_of(file, text)
    elif file.suffix in (*_TEMPLATES, ".json") and is_dashboard(text):
        yield from queries_of_dashboard(file, text)
    elif file.suffix in _TEMPLATES:
        return
    elif file.suffix not in _CODE:
        yield from _of_template(file, text)
    elif _OF_LOGS.search(text):
        yield from (_of_code(file, match) for match in _ASSIGNED.finditer(text))


def _of_code(file: Path, match: re.Match[str]) -> Written:
    keep = file.suffix == ".py"
    if match["lines"]:
        # LogQueryWidget joins its lines in this way.
        lines = (_inner(each, keep=keep) or "" for each in re.findall(_LITERAL, match["lines"]))
        return written(file, match, "lines", "\n| ".join(lines))
    return written(file, match, "text", _inner(match["text"], keep=keep))


def _inner(literal: str | None, *, keep: bool) -> str | None:
    """Return the text of a literal of Python or TypeScript."""
    if literal is None:
        return None
    raw = literal.startswith("r")
    literal = literal.removeprefix("r")
    marks = 3 if literal.startswith(('"""', "'''")) else 1
    text = literal[marks:-marks]
    return text if raw else plain(text, keep=keep)


def _of_template(file: Path, text: str) -> Iterator[Written]:
    if not any(name in text for name in _PROPERTIES.values()):
        return
    try:
        documents = list(yaml.compose_all(text, Loader=yaml.CSafeLoader))
    except yaml.YAMLError as error:
        raise Refused(f"{file}: this is no valid YAML or JSON: {error}") from None
    for kind, node in _properties(documents):
        found = _of_property(file, node)
        is_body = kind == _DASHBOARD and isinstance(node, yaml.ScalarNode)
        yield from _of_dashboard(found, node.value) if is_body else [found]


def _properties(nodes: list[yaml.Node]) -> Iterator[tuple[str, yaml.Node]]:
    """Yield the types of the resources that hold queries, and the properties that do."""
    for mapping in _mappings(nodes):
        kind = _member(mapping, "Type")
        for type_, name in _PROPERTIES.items():
            value = _member(_member(mapping, "Properties"), name)
            if kind and value and kind.value == type_:
                yield type_, value


def _of_dashboard(body: Written, text: str) -> Iterator[Written]:
    """Yield the queries of a dashboard, which is JSON; none if it cannot be read as such."""
    try:
        documents = list(yaml.compose_all(text, Loader=yaml.CSafeLoader))
    except yaml.YAMLError:
        yield body._replace(text=None)
        return
    for widget in _mappings(documents):
        if (query := _member(widget, "query")) and isinstance(query, yaml.ScalarNode):
            line = body.lines_before + query.start_mark.line * body.spans
            yield Written(body.file, line, known(query.value), spans=False)


def _member(node: yaml.Node | None, name: str) -> yaml.Node | None:
    """Return a value of a mapping; None if it is absent or the node is no mapping."""
    pairs = node.value if isinstance(node, yaml.MappingNode) else []
    return next((value for key, value in pairs if key.value == name), None)


def _mappings(nodes: list[yaml.Node]) -> Iterator[yaml.MappingNode]:
    """Yield the mappings within nodes, each once, however often an alias names it."""
    seen: set[int] = set()
    while nodes:
        node = nodes.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, yaml.SequenceNode):
            nodes += reversed(node.value)
        elif isinstance(node, yaml.MappingNode):
            nodes += [value for _, value in reversed(node.value)]
            yield node


def _of_property(file: Path, node: yaml.Node) -> Written:
    if not isinstance(node, yaml.ScalarNode):
        return Written(file, node.start_mark.line, None, spans=False)
    lines_before = node.start_mark.line + (node.style in ("|", ">"))
    return Written(file, lines_before, known(node.value), spans=node.style == "|")
