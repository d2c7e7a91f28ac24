"""The dashboard's definition, as QuickSight takes it and one machine draws it."""

from __future__ import annotations

import json
from pathlib import Path

from cdk.data_sets import DataSet, read_data_set
from cdk.references import Node, broken_references
from suites.refusal import Refused

FILE = Path(__file__).with_name("dashboard.json")


class Broken(Refused):
    """A definition that refers to what does not exist; says where, and to what."""


def read_definition() -> Node:
    """Return the definition as its file has it, in the words of QuickSight's API.

    Its data sets are named after files of ``queries/sql``; in place of the ARN of each stands its
    name, as ``${name}``.

    Raises
    ------
    Refused
        If something that it refers to does not exist, or does not fit.

    """
    definition: Node = json.loads(FILE.read_text(encoding="utf-8"))
    for broken in broken_references(definition, data_sets(definition)):
        raise Broken(f"{FILE.name}: {broken}")
    return definition


def data_sets(definition: Node) -> dict[str, DataSet]:
    """Return the data sets of a definition, by name; Refused if one is no file."""
    declared = definition["DataSetIdentifierDeclarations"]
    return {each["Identifier"]: read_data_set(each["Identifier"]) for each in declared}
