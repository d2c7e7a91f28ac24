"""A reader of YAML files that hold plain data with unique keys."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from yaml.composer import Composer
from yaml.constructor import ConstructorError

from tidemark.model.refusal import Place, Problem, Refused
from tidemark.model.sentences import shown

_LONGEST_COMPLAINT = 300
_MOST_PROBLEMS = 50
_PLAIN = {
    "found character that cannot start any token": (0, 1, "no value begins with {} outside quotes"),
    "found unknown escape character": (1, 1, "no escape is \\ with {}; use single quotes"),
    "found incompatible YAML document": (0, 9, "{} is not read; expected %YAML 1.1 or 1.2"),
}
"""By libyaml's message: the offset of the refused characters from the mark, their number, and a
sentence that names them."""


class _Loader(Composer, yaml.CSafeLoader):
    """PyYAML's safe loader, with a ConstructorError for equal keys and for unfit tags.

    libyaml reads a file ten times as fast as PyYAML's own scanner. The composer is PyYAML's: that
    of libyaml crashes the process on a file of thousands of nested brackets.
    """

    def __init__(self, text: str) -> None:
        yaml.CSafeLoader.__init__(self, text)
        Composer.__init__(self)

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        mapping = super().construct_mapping(node, deep)
        names = [name.value for name, _ in node.value]
        if len(mapping) < len(names):
            # Equal keys may be written in two ways: 1 and 0x1.
            keys = [name for name, _ in reversed(node.value)]
            twice = next((key for key in keys if names.count(key.value) > 1), keys[0])
            sentence = f"{shown(twice.value)} is given twice"
            raise ConstructorError(None, None, sentence, twice.start_mark)
        return mapping

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: ANN401 (PyYAML's)
        try:
            value = super().construct_object(node, deep)
            if isinstance(value, int):
                str(value)  # ValueError: Python and pydantic take 4,300 digits.
        except (ValueError, LookupError, AttributeError):
            # The tag does not fit the text: 2026-13-01, !!bool maybe.
            raise ConstructorError(
                None, None, f"{shown(node.value)} is not a {node.tag}", node.start_mark
            ) from None
        return value


@dataclass(frozen=True)
class Document:
    """The value of a YAML file, and the lines of its parts."""

    value: Any
    _name: str
    _node: yaml.Node | None

    def line(self, place: Place) -> int:
        """Return the line of the value at a place, or of the innermost value around it."""
        node, line = self._node, 1
        for part in place:
            node, line = _part(node, part, line)
        return line

    def refusal(self, problems: Iterable[Problem]) -> Refused:
        """Return the refusal of the file: a line for each problem, in the order of the file."""
        found = sorted(problems, key=lambda one: self.line(one.place))
        few = found[:_MOST_PROBLEMS]
        lines = [f"{self._name}:{self.line(one.place)}: {one.sentence}" for one in few]
        more = len(found) - len(few)
        return Refused("\n".join([*lines, *([f"{self._name}: {more} more"] if more else [])]))


def _part(node: yaml.Node | None, part: int | str, line: int) -> tuple[yaml.Node | None, int]:
    """Return a part of a node and its line, or no node and the given line."""
    if isinstance(node, yaml.SequenceNode) and isinstance(part, int) and part < len(node.value):
        found = node.value[part]
        return found, found.start_mark.line + 1
    for name, value in node.value if isinstance(node, yaml.MappingNode) else ():
        if name.value == str(part):
            return value, name.start_mark.line + 1
    return None, line


def read_yaml(path: Path, name: str) -> Document:
    """Return the content of a YAML file; refuse a file that is not valid YAML.

    ``name`` is the name of the file in the refusal.
    """
    text = ""
    try:
        text = path.read_text(encoding="utf-8-sig")  # marks do not count a byte order mark
        loader = _Loader(text)
        node = loader.get_single_node()
        return Document(None if node is None else loader.construct_document(node), name, node)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        place, words = _complaint(error, text)
        words = " ".join(words.split())[:_LONGEST_COMPLAINT]
        printable = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in words)
        raise Refused(f"{name}{place}: not valid YAML: {printable}") from None


def _complaint(error: Exception, text: str) -> tuple[str, str]:
    """Return the line of an error as it follows a file's name, '' for none, and its words."""
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return "", str(error)
    mark = error.problem_mark
    words = ", ".join(part for part in (error.context, error.problem) if part)
    if "undefined alias" in words:
        words += "; write a text that begins with * in quotes"
    if error.problem in _PLAIN:
        behind, length, sentence = _PLAIN[error.problem]
        start = mark.index + behind
        words = sentence.format(shown(text[start : start + length]))
    return f":{mark.line + 1}", words
