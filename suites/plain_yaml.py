"""YAML as people write it: plain data, every key once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import yaml
from yaml.constructor import ConstructorError

from suites.refusal import Refused, shown

_LONGEST_COMPLAINT = 300


class _Loader(yaml.SafeLoader):
    """PyYAML's safe loader, which takes the last of two equal keys and fails in many ways."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        mapping = super().construct_mapping(node, deep)
        names = [name.value for name, _ in node.value]
        if len(mapping) < len(names):
            # Equal keys may be written in two ways: 1 and 0x1.
            twice = next((name for name in names if names.count(name) > 1), names[-1])
            raise ConstructorError(None, None, f"{shown(twice)} stands twice", node.start_mark)
        return mapping

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: ANN401 (PyYAML's)
        try:
            value = super().construct_object(node, deep)
            if isinstance(value, int):
                str(value)  # ValueError: Python writes out, and pydantic takes, 4,300 digits.
        except (ValueError, LookupError, AttributeError):
            # A text that its tag does not fit: 2026-13-01, !!bool maybe.
            raise ConstructorError(
                None, None, f"{shown(node.value)} is no {node.tag}", node.start_mark
            ) from None
        return value


def read_yaml(path: Path) -> Any:  # noqa: ANN401 (any value)
    """Return the value that a YAML file holds; Refused, in one sentence, if it is no YAML."""
    try:
        return yaml.load(path.read_text(encoding="utf-8"), _Loader)  # noqa: S506 (a safe loader)
    except (yaml.YAMLError, UnicodeDecodeError, RecursionError) as error:
        words = " ".join(str(error).split())[:_LONGEST_COMPLAINT]
        said = "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in words)
        raise Refused(f"{path.name}: no YAML: {said}") from None
