"""The definition of the dashboard, for QuickSight and for the page of one machine."""

from __future__ import annotations

import json

from tidemark.dashboard.data_sets import DataSet, read_data_set
from tidemark.dashboard.references import Node, broken_references
from tidemark.model.checkout import ROOT
from tidemark.model.refusal import Refused

FILE = ROOT / "cdk" / "dashboard.json"


class BrokenDefinition(Refused):
    """A definition with a broken reference; the message names the place and the reference."""


def read_definition() -> Node:
    """Return the definition from its file, in the form of QuickSight's API.

    Its data sets have the names of files of ``queries/sql``. The placeholder ``${name}`` replaces
    the ARN of a data set.

    Raises
    ------
    Refused
        If a referenced element does not exist or has the wrong type.

    """
    definition: Node = json.loads(FILE.read_text(encoding="utf-8"))
    for broken in broken_references(definition, data_sets(definition)):
        raise BrokenDefinition(f"{FILE.name}: {broken}")
    return definition


def data_sets(definition: Node) -> dict[str, DataSet]:
    """Return the data sets of a definition, by name; raise Refused if one has no file."""
    declared = definition["DataSetIdentifierDeclarations"]
    return {each["Identifier"]: read_data_set(each["Identifier"]) for each in declared}
