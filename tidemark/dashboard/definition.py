"""The definition of the dashboard, for QuickSight and for the page of one machine."""

from __future__ import annotations

from functools import cache

from tidemark.dashboard import sheets
from tidemark.dashboard.data_sets import DataSet, read_data_set
from tidemark.dashboard.quicksight import Json


@cache
def read_definition() -> Json:
    """Return the definition in the form of QuickSight's API."""
    return sheets.definition()


def data_sets(definition: Json) -> dict[str, DataSet]:
    """Return the data sets of a definition, by name; raise Refused if one has no file."""
    declared = definition["DataSetIdentifierDeclarations"]
    return {each["Identifier"]: read_data_set(each["Identifier"]) for each in declared}
