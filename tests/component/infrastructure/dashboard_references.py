"""Checks that every reference in a dashboard's definition exists and has the right type.

Neither CloudFormation's schema nor the API's model sees a broken reference: QuickSight would refuse
the definition at its deployment, or draw an empty visual.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from tidemark.dashboard.data_sets import DATETIME, DECIMAL, INTEGER, STRING, DataSet
from tidemark.model.sentences import listed

Node = Mapping[str, Any]

_NUMBERS = (INTEGER, DECIMAL)
# The types that a column may have, by its use in the names of the API.
_FITTING: Mapping[str, Sequence[str]] = {
    "CategoricalDimensionField": [STRING],
    "CategoryFilter": [STRING],
    "DateDimensionField": [DATETIME],
    "DateTimeFormatConfiguration": [DATETIME],
    "NumberFormatConfiguration": _NUMBERS,
    "NumericalAggregationFunction": _NUMBERS,
    "NumericalMeasureField": _NUMBERS,
    "TimeRangeFilter": [DATETIME],
}
# Fields that hold a column. A SortBy of another kind holds a structure without ColumnName.
_HOLDING = ("Column", "ColumnToMatch", "LinkToDataSetColumn", "SortBy")
# The declaration that a parameter needs, by the structure that refers to it.
_OF_STRINGS, _OF_TIMES = "StringParameterDeclaration", "DateTimeParameterDeclaration"
_DECLARED = {
    "CategoryFilter": _OF_STRINGS,
    "DateTimePicker": _OF_TIMES,
    "Dropdown": _OF_STRINGS,
    "TimeRangeFilter": _OF_TIMES,
}
_REFERRING = ("Parameter", "ParameterName", "SourceParameterName")
# Names that must be unique.
_NAMES = (
    "FilterGroupId", "FilterId", "Identifier", "ParameterControlId", "SheetTextBoxId", "VisualId",
)  # fmt: skip
_GRID_WIDTH = 36


def broken_references(definition: Node, known: Mapping[str, DataSet]) -> Iterator[str]:
    """Yield a sentence with the place of each broken reference, given the known data sets."""
    places = list(_places(definition))
    yield from _repeated_names(places)
    yield from _broken_columns(places, known)
    yield from _broken_parameters(places, definition["ParameterDeclarations"])
    sheets = {sheet["SheetId"]: sheet for sheet in definition["Sheets"]}
    for sheet in sheets.values():
        yield from _broken_layout(sheet)
        yield from _broken_cascades(sheet)
        for visual in _visuals(sheet):
            yield from _broken_fields(visual)
    for group in definition["FilterGroups"]:
        yield from _broken_scope(group, sheets)


@dataclass(frozen=True)
class _Place:
    """A structure of the definition, and the fields that hold it, outermost first."""

    path: tuple[str, ...]
    node: Node

    def __str__(self) -> str:
        return ".".join(self.path)


def _places(node: object, path: tuple[str, ...] = ()) -> Iterator[_Place]:
    """Yield every structure at or below a node."""
    if isinstance(node, dict):
        yield _Place(path, node)
        for name, inner in node.items():
            yield from _places(inner, (*path, name))
    elif isinstance(node, list):
        for number, inner in enumerate(node):
            yield from _places(inner, (*path[:-1], f"{path[-1]}[{number}]"))


def _repeated_names(places: Iterable[_Place]) -> Iterator[str]:
    counts = Counter(
        (kind, place.node[kind])
        for place in places
        for kind in (*_NAMES, *(["FieldId"] if "FieldWells" in place.path else []))
        if kind in place.node
    )
    yield from (f"{kind} {name} is given {n} times" for (kind, name), n in counts.items() if n > 1)


def _broken_columns(places: Iterable[_Place], known: Mapping[str, DataSet]) -> Iterator[str]:
    used = set()
    for place in places:
        for column in (place.node.get(name) for name in _HOLDING):
            if not isinstance(column, dict) or "ColumnName" not in column:
                continue
            used.add(column["DataSetIdentifier"])
            yield from _broken_column(place, column, known)
    yield from (f"data set {name} is not used" for name in sorted(known.keys() - used))


def _broken_column(place: _Place, column: Node, known: Mapping[str, DataSet]) -> Iterator[str]:
    data_set, name = column["DataSetIdentifier"], column["ColumnName"]
    if data_set not in known:
        yield f"{place}: data set {data_set} is not declared; there are {listed(known)}"
        return
    columns = known[data_set].columns
    if name not in columns:
        yield f"{place}: {data_set} has no column {name}; it has {', '.join(columns)}"
        return
    uses = (
        place.path[-1],
        *place.node.get("AggregationFunction", ()),
        *place.node.get("FormatConfiguration", ()),
    )
    for use in uses:
        if columns[name] not in _FITTING.get(use, columns.values()):
            fitting = " or ".join(_FITTING[use])
            yield f"{place}: {use} needs {fitting}; {name} of {data_set} is {columns[name]}"


def _broken_parameters(places: Iterable[_Place], declarations: Iterable[Node]) -> Iterator[str]:
    declared = {
        parameter["Name"]: kind
        for declaration in declarations
        for kind, parameter in declaration.items()
    }
    used = set()
    for place in places:
        for name in (place.node[key] for key in _REFERRING if key in place.node):
            used.add(name)
            needed = next((_DECLARED[part] for part in place.path if part in _DECLARED), None)
            if name not in declared:
                yield f"{place}: parameter {name} is not declared; there are {listed(declared)}"
            elif declared[name] != needed:
                yield f"{place}: parameter {name} needs a {needed}, not a {declared[name]}"
    yield from (f"parameter {name} is not used" for name in sorted(declared.keys() - used))


def _visuals(sheet: Node) -> Iterator[Node]:
    for typed in sheet["Visuals"]:
        yield from typed.values()


def _broken_layout(sheet: Node) -> Iterator[str]:
    """Yield elements in a layout that do not exist, elements without a place, and overlaps."""
    controls = [control for typed in sheet["ParameterControls"] for control in typed.values()]
    existing = {
        *(("VISUAL", visual["VisualId"]) for visual in _visuals(sheet)),
        *(("TEXT_BOX", box["SheetTextBoxId"]) for box in sheet.get("TextBoxes", ())),
        *(("PARAMETER_CONTROL", control["ParameterControlId"]) for control in controls),
    }
    layouts = [
        layout["Configuration"]["GridLayout"]["Elements"]
        for layout in (*sheet["Layouts"], *sheet["SheetControlLayouts"])
    ]
    laid_out = {(it["ElementType"], it["ElementId"]) for elements in layouts for it in elements}
    for kind, name in sorted(laid_out - existing):
        yield f"sheet {sheet['SheetId']}: {kind} {name} is laid out but does not exist"
    for kind, name in sorted(existing - laid_out):
        yield f"sheet {sheet['SheetId']}: {kind} {name} has no place in a layout"
    for elements in layouts:
        for one, other in combinations(elements, 2):
            if all(_overlap(one, other, axis) for axis in ("Column", "Row")):
                yield f"sheet {sheet['SheetId']}: {one['ElementId']} covers {other['ElementId']}"
        for element in elements:
            if element["ColumnIndex"] + element["ColumnSpan"] > _GRID_WIDTH:
                yield f"sheet {sheet['SheetId']}: {element['ElementId']} leaves the grid"


def _overlap(one: Node, other: Node, axis: str) -> bool:
    ends = [each[f"{axis}Index"] + each[f"{axis}Span"] for each in (one, other)]
    return bool(one[f"{axis}Index"] < ends[1] and other[f"{axis}Index"] < ends[0])


def _broken_cascades(sheet: Node) -> Iterator[str]:
    existing = {
        control["ParameterControlId"]
        for typed in sheet["ParameterControls"]
        for control in typed.values()
    }
    for place in _places(sheet["ParameterControls"], ("ParameterControls",)):
        name = place.node.get("SourceSheetControlId")
        if name is not None and name not in existing:
            yield f"sheet {sheet['SheetId']}: {place}: there is no control {name}"


def _broken_fields(visual: Node) -> Iterator[str]:
    """Yield the fields that a visual sorts by or labels but does not have."""
    places = [place for place in _places(visual["ChartConfiguration"]) if "FieldId" in place.node]
    existing = {place.node["FieldId"] for place in places if "FieldWells" in place.path}
    for place in places:
        if place.node["FieldId"] not in existing:
            yield f"visual {visual['VisualId']}: {place}: there is no field {place.node['FieldId']}"


def _broken_scope(group: Node, sheets: Mapping[str, Node]) -> Iterator[str]:
    """Yield wrong targets of a filter group: they do not exist or have another data set."""
    group_id = group["FilterGroupId"]
    columns = [filter_["Column"] for typed in group["Filters"] for filter_ in typed.values()]
    filtered = {column["DataSetIdentifier"] for column in columns}
    if len(filtered) > 1:
        yield f"filter group {group_id}: it has several data sets: {listed(sorted(filtered))}"
    scopes = group["ScopeConfiguration"]["SelectedSheets"]["SheetVisualScopingConfigurations"]
    for scope in scopes:
        if scope["SheetId"] not in sheets:
            yield f"filter group {group_id}: there is no sheet {scope['SheetId']}"
            continue
        visuals = {each["VisualId"]: each for each in _visuals(sheets[scope["SheetId"]])}
        for name in sorted(set(scope.get("VisualIds", ())) - visuals.keys()):
            yield f"filter group {group_id}: sheet {scope['SheetId']} has no visual {name}"
        shown = {
            place.node["DataSetIdentifier"]
            for place in _places(list(visuals.values()), ("",))
            if "DataSetIdentifier" in place.node
        }
        if not filtered & shown:
            yield f"filter group {group_id}: no visual of sheet {scope['SheetId']} has its data set"
