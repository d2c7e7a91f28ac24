"""The model of a dashboard: sheets of visuals, read from its QuickSight definition."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Any

from tidemark.dashboard.controls import Control, Filter, read_control, read_filter, read_parameters
from tidemark.dashboard.data_sets import DataSet
from tidemark.dashboard.fields import Fields
from tidemark.dashboard.node import Node
from tidemark.dashboard.visuals import Visual, read_visual
from tidemark.model.refusal import Refused

_TEXT_BOX = re.compile(r"<text-box>([^<]*)</text-box>")


@dataclass(frozen=True)
class TextBox:
    """A paragraph of a sheet."""

    id: str
    text: str


@dataclass(frozen=True)
class Place:
    """The place and the size of an element in a grid of 36 columns, counted from 0."""

    column: int
    columns: int
    row: int
    rows: int


@dataclass(frozen=True)
class Sheet:
    """A page of the dashboard."""

    id: str
    name: str
    title: str
    controls: Sequence[Control]
    elements: Sequence[tuple[Place, Visual | TextBox]]
    """The visuals and text boxes with their places, in reading order."""


@dataclass(frozen=True)
class Dashboard:
    """The whole dashboard."""

    parameters: Mapping[str, str]
    """The first value of each parameter."""
    sheets: Sequence[Sheet]
    filters: Mapping[str, Sequence[Filter]]
    """The filters of each visual, by its id."""
    columns: Mapping[str, Sequence[str]]
    """The columns of each data set that visuals, controls, filters or orders use."""


def read_dashboard(definition: Mapping[str, Any], data_sets: Mapping[str, DataSet]) -> Dashboard:
    """Return the dashboard of a definition whose references all exist.

    Raises
    ------
    Refused
        If the definition has a part that is not supported; the sentence names the first.

    """
    root = Node("", definition)
    root.skip("DataSetIdentifierDeclarations")  # the data sets come from these
    fields = Fields(data_sets, root.nodes("ColumnConfigurations"))
    sheets = [_sheet(each, fields) for each in root.nodes("Sheets")]
    dashboard = Dashboard(
        read_parameters(root.nodes("ParameterDeclarations")),
        sheets,
        _filters(root.nodes("FilterGroups"), sheets, fields),
        fields.used,
    )
    root.refuse_unread()
    return dashboard


def _sheet(node: Node, fields: Fields) -> Sheet:
    node.must_be("ContentType", "INTERACTIVE")
    elements: dict[str, Visual | TextBox] = {}
    for each in node.nodes("Visuals"):
        visual = read_visual(each, fields)
        elements[visual.id] = visual
    for each in node.nodes("TextBoxes"):
        box = _text_box(each)
        elements[box.id] = box
    all_controls = [read_control(each, fields) for each in node.nodes("ParameterControls")]
    controls = {control.id: control for control in all_controls}
    places = _read_places(node.only("Layouts"), "VISUAL", "TEXT_BOX")
    layout = node.first("SheetControlLayouts")
    inputs = _read_places(layout, "PARAMETER_CONTROL") if layout else controls
    return Sheet(
        node.text("SheetId"),
        node.text("Name"),
        node.text("Title", ""),
        [controls[name] for name in inputs],
        [(place, elements[name]) for name, place in places.items()],
    )


def _text_box(node: Node) -> TextBox:
    content = _TEXT_BOX.fullmatch(node.text("Content"))
    if content is None:
        raise Refused(f"{node.place}.Content: only plain text within <text-box> is supported")
    return TextBox(node.text("SheetTextBoxId"), unescape(content[1]))


def _read_places(layout: Node, *kinds: str) -> dict[str, Place]:
    """Return the places of a grid by the id of the element, row by row."""
    places = {}
    for element in layout.node("Configuration").node("GridLayout").nodes("Elements"):
        element.choice("ElementType", *kinds)
        places[element.text("ElementId")] = Place(
            element.number("ColumnIndex"),
            element.number("ColumnSpan"),
            element.number("RowIndex"),
            element.number("RowSpan"),
        )
    return dict(sorted(places.items(), key=lambda item: (item[1].row, item[1].column)))


def _filters(
    groups: Sequence[Node], sheets: Sequence[Sheet], fields: Fields
) -> dict[str, list[Filter]]:
    """Return the filters of each visual: all over its data set in the groups for the visual."""
    visuals = {
        visual.id: (sheet.id, visual.data_set)
        for sheet in sheets
        for _, visual in sheet.elements
        if isinstance(visual, Visual)
    }
    filters: dict[str, list[Filter]] = {name: [] for name in visuals}
    for group in groups:
        group.skip("FilterGroupId")
        group.must_be("Status", "ENABLED")
        group.choice("CrossDataset", "SINGLE_DATASET")
        scope = dict(map(_scope, _scopes(group)))
        for each in group.nodes("Filters"):
            filter_ = read_filter(each, fields)
            for name, (sheet, data_set) in visuals.items():
                in_scope = sheet in scope and name in (scope[sheet] or visuals)
                if in_scope and filter_.column.data_set == data_set:
                    filters[name].append(filter_)
    return filters


def _scopes(group: Node) -> list[Node]:
    selected = group.node("ScopeConfiguration").node("SelectedSheets")
    return selected.nodes("SheetVisualScopingConfigurations")


def _scope(node: Node) -> tuple[str, list[str]]:
    """Return a sheet and its filtered visuals; an empty list stands for all visuals."""
    node.choice("Scope", "ALL_VISUALS", "SELECTED_VISUALS")
    return node.text("SheetId"), node.texts("VisualIds")
