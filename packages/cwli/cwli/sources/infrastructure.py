"""Queries in the sources of infrastructure: CloudFormation, CDK and Terraform.

Locals of Terraform that a query inserts, and joins of texts, are resolved if they are literal.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator
from functools import cache, partial
from pathlib import Path

import yaml

from cwli.program import Refused
from cwli.sources.code import queries_of_python, queries_of_script
from cwli.sources.written import Written, filled, in_one, inserted, known, plain, text_of, written

# The templates that Terraform fills in.
_TEMPLATES = (".tpl", ".tftpl")
_CODE = (".ts", ".tsx", ".mts", ".cts", ".js", ".jsx", ".mjs", ".cjs", ".py")
SUFFIXES = (".cwli", ".yaml", ".yml", ".json", ".template", ".tf", *_TEMPLATES, *_CODE)
"""The suffixes of files that may hold queries."""
# Other languages of the CDK, whose queries are named and not checked.
_UNREAD = (".java", ".cs", ".go", ".kt", ".scala")
_CONSTRUCT = re.compile(r"\b(?:New)?(?:(?:Cfn)?QueryDefinition|LogQueryWidget)(?:\(|\.Builder)")
_OF_LOGS = re.compile(r"aws[-_](?:logs|cloudwatch)\b|aws-cdk-lib")
_DASHBOARD = "AWS::CloudWatch::Dashboard"
_PROPERTIES = {"AWS::Logs::QueryDefinition": "QueryString", _DASHBOARD: "DashboardBody"}
# The kind and the labels of a block of Terraform.
_TF_BLOCK = re.compile(
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
    return path.suffix in (*SUFFIXES, *_UNREAD) and not hidden and path.is_file()


def _queries_in(file: Path) -> Iterator[Written]:
    text = text_of(file)
    if file.suffix == ".cwli":
        yield Written(file, 0, text, spans=True)
    elif file.suffix in _UNREAD:
        for match in _CONSTRUCT.finditer(text):
            yield Written(file, text.count("\n", 0, match.start()), None, spans=False)
    elif file.name.endswith(".tf.json"):
        yield from _of_terraform_json(file, text)
    elif file.suffix == ".tf":
        yield from _queries_of_terraform(file, text)
    elif file.suffix in (*_TEMPLATES, ".json") and _is_dashboard(text):
        yield from _queries_of_dashboard(file, text)
    elif file.suffix in _TEMPLATES:
        return
    elif file.suffix not in _CODE:
        yield from _of_template(file, text)
    elif _OF_LOGS.search(text):
        yield from (queries_of_python if file.suffix == ".py" else queries_of_script)(file, text)


def _of_template(file: Path, text: str) -> Iterator[Written]:
    if not any(name in text for names in _PROPERTIES.items() for name in names):
        return
    documents = _documents(file, text)
    for kind, node in _properties(documents):
        value, place = _resolved(node)
        found = _of_text(file, place, value)
        yield from _of_dashboard(found, value) if kind == _DASHBOARD and value else [found]


def _documents(file: Path, text: str) -> list[yaml.Node]:
    try:
        return list(yaml.compose_all(text, Loader=yaml.CSafeLoader))
    except yaml.YAMLError as error:
        raise Refused(f"{file}: this is not valid YAML or JSON: {error}") from None


def _of_terraform_json(file: Path, text: str) -> Iterator[Written]:
    """Yield the queries of Terraform in JSON, as the CDK for Terraform writes it."""
    for mapping in _mappings(_documents(file, text)):
        definitions = _member(mapping, "aws_cloudwatch_query_definition")
        for definition in _mappings([definitions] if definitions else []):
            if query := _member(definition, "query_string"):
                yield _of_text(file, query, _resolved(query)[0])
        dashboards = _member(mapping, "aws_cloudwatch_dashboard")
        for dashboard in _mappings([dashboards] if dashboards else []):
            if body := _member(dashboard, "dashboard_body"):
                value, place = _resolved(body)
                found = _of_text(file, place, value)
                yield from _of_dashboard(found, value) if value else [found]


def _properties(nodes: list[yaml.Node]) -> Iterator[tuple[str, yaml.Node]]:
    """Yield the types of the resources that hold queries, and the properties that do.

    A resource without such a property, which a macro may add, stands in its place.
    """
    for mapping in _mappings(nodes):
        kind = _member(mapping, "Type")
        for type_, name in _PROPERTIES.items():
            if isinstance(kind, yaml.ScalarNode) and kind.value == type_:
                yield type_, _member(_member(mapping, "Properties"), name) or mapping


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
    """Return a value of a mapping; None if it is absent or the node is not a mapping."""
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


def _of_text(file: Path, node: yaml.Node, text: str | None) -> Written:
    style = node.style if isinstance(node, yaml.ScalarNode) else None
    lines_before = node.start_mark.line + (style in ("|", ">"))
    return Written(file, lines_before, known(text), spans=style == "|")


def _resolved(node: yaml.Node) -> tuple[str | None, yaml.Node]:
    """Return the text of a property, None if it is computed, and the node where the text stands."""
    function, value = _call(node)
    if not function:
        return (node.value if isinstance(node, yaml.ScalarNode) else None), node
    arguments = value.value if isinstance(value, yaml.SequenceNode) else [value]
    match function, arguments:
        case "Sub", [yaml.ScalarNode() as text, *variables]:
            return _substituted(text.value, variables), text
        case "Join", [yaml.ScalarNode() as separator, yaml.SequenceNode() as parts]:
            return separator.value.join(map(_part, parts.value)), node
    return None, node


def _call(node: yaml.Node) -> tuple[str, yaml.Node]:
    """Return the function of CloudFormation that a node calls, '' for none, and its argument."""
    if node.tag.startswith("!"):
        return node.tag.removeprefix("!"), node
    if isinstance(node, yaml.MappingNode) and len(node.value) == 1:
        ((key, value),) = node.value
        return str(key.value).removeprefix("Fn::"), value
    return "", node


def _part(node: yaml.Node) -> str:
    """Return a part of a joined text; a computed part is an inserted value."""
    text, _ = _resolved(node)
    return inserted("x") if text is None else text


def _substituted(text: str, variables: list[yaml.Node]) -> str:
    """Return a text of Fn::Sub with its literal variables; ``${!A}`` stands for text."""
    values = {
        str(key.value): _part(value)
        for mapping in variables
        if isinstance(mapping, yaml.MappingNode)
        for key, value in mapping.value
    }
    return re.sub(r"\$\{\s*([^{}!]+?)\s*\}", lambda name: values.get(name[1], name[0]), text)


def _queries_of_terraform(file: Path, text: str) -> Iterator[Written]:
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
        yield from _queries_of_dashboard(body, text_of(body))
        return
    end = _TF_BLOCK.search(match.string, match.end())
    inner = match.string[match.end() : end.start() if end else None]
    if not _INLINE.match(inner) or _WIDGETS.search(inner):
        yield written(file, match, "name", None)


def _is_dashboard(text: str) -> bool:
    """Tell whether a JSON text, or a template of one, is the body of a dashboard with queries."""
    return _LOG_WIDGET.search(text) is not None


def _queries_of_dashboard(file: Path, text: str) -> Iterator[Written]:
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
    *_, block = _TF_BLOCK.finditer(match.string, 0, match.start())
    after = _TF_BLOCK.search(match.string, match.end())
    inner = match.string[block.start() : after.start() if after else None]
    return _MODULE.search(inner) is not None


def _block(match: re.Match[str]) -> str:
    """Return the kind and the labels of the last block that begins before a place."""
    blocks: list[str] = _TF_BLOCK.findall(match.string, 0, match.start())
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
