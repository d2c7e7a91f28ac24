"""Queries in the sources of infrastructure: CloudFormation, CDK and Terraform."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import yaml

from cwli.program import Refused
from cwli.sources.code import queries_of_python
from cwli.sources.script import queries_of_script
from cwli.sources.terraform import is_dashboard, queries_of, queries_of_dashboard
from cwli.sources.written import Written, inserted, known, text_of

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
        yield from queries_of(file, text)
    elif file.suffix in (*_TEMPLATES, ".json") and is_dashboard(text):
        yield from queries_of_dashboard(file, text)
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
        raise Refused(f"{file}: this is no valid YAML or JSON: {error}") from None


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
