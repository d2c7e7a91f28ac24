"""A dashboard as it is drawn: sheets of visuals, read from its QuickSight definition."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from html import unescape
from typing import Any

from cdk.data_sets import DataSet
from local.dashboard.choices import Control, Filter, read_control, read_filter, read_parameters
from local.dashboard.fields import Fields
from local.dashboard.node import Node
from local.dashboard.visuals import Visual, read_visual
from suites.refusal import Refused

_TEXT_BOX = re.compile(r"<text-box>([^<]*)</text-box>")


@dataclass(frozen=True)
class TextBox:
    """A paragraph of a sheet."""

    id: str
    text: str


@dataclass(frozen=True)
class Place:
    """Where something stands in a grid of 36 columns, from 0 on, and how far it reaches."""

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
    """In the order in which they are read."""


@dataclass(frozen=True)
class Dashboard:
    """All that is drawn."""

    parameters: Mapping[str, str]
    """The first value of each."""
    sheets: Sequence[Sheet]
    filters: Mapping[str, Sequence[Filter]]
    """Of each visual, by its id."""
    columns: Mapping[str, Sequence[str]]
    """Of each data set, those that are shown, chosen from, filtered or sorted by."""


def read_dashboard(definition: Mapping[str, Any], data_sets: Mapping[str, DataSet]) -> Dashboard:
    """Return what a definition draws, which refers to nothing that does not exist.

    Raises
    ------
    Refused
        Naming the first thing in the definition that is not drawn here.

    """
    root = Node("", definition)
    root.skip("DataSetIdentifierDeclarations")  # of which the data sets were made
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
    found = [read_control(each, fields) for each in node.nodes("ParameterControls")]
    controls = {control.id: control for control in found}
    placed = _placed(node.only("Layouts"), "VISUAL", "TEXT_BOX")
    layout = node.first("SheetControlLayouts")
    inputs = _placed(layout, "PARAMETER_CONTROL") if layout else controls
    return Sheet(
        node.text("SheetId"),
        node.text("Name"),
        node.text("Title", ""),
        [controls[name] for name in inputs],
        [(place, elements[name]) for name, place in placed.items()],
    )


def _text_box(node: Node) -> TextBox:
    content = _TEXT_BOX.fullmatch(node.text("Content"))
    if content is None:
        raise Refused(f"{node.place}.Content: only plain text within <text-box> is drawn here")
    return TextBox(node.text("SheetTextBoxId"), unescape(content[1]))


def _placed(layout: Node, *kinds: str) -> dict[str, Place]:
    """Return the places of a grid, row by row."""
    found = {}
    for element in layout.node("Configuration").node("GridLayout").nodes("Elements"):
        element.choice("ElementType", *kinds)
        found[element.text("ElementId")] = Place(
            element.number("ColumnIndex"),
            element.number("ColumnSpan"),
            element.number("RowIndex"),
            element.number("RowSpan"),
        )
    return dict(sorted(found.items(), key=lambda item: (item[1].row, item[1].column)))


def _filters(
    groups: Sequence[Node], sheets: Sequence[Sheet], fields: Fields
) -> dict[str, list[Filter]]:
    """Return the filters of each visual: those of its data set in the groups that reach it."""
    visuals = {
        visual.id: (sheet.id, visual.data_set)
        for sheet in sheets
        for _, visual in sheet.elements
        if isinstance(visual, Visual)
    }
    found: dict[str, list[Filter]] = {name: [] for name in visuals}
    for group in groups:
        group.skip("FilterGroupId")
        group.must_be("Status", "ENABLED")
        group.choice("CrossDataset", "SINGLE_DATASET")
        scope = dict(map(_scope, _scopes(group)))
        for each in group.nodes("Filters"):
            filter_ = read_filter(each, fields)
            for name, (sheet, data_set) in visuals.items():
                reached = sheet in scope and name in (scope[sheet] or visuals)
                if reached and filter_.column.data_set == data_set:
                    found[name].append(filter_)
    return found


def _scopes(group: Node) -> list[Node]:
    selected = group.node("ScopeConfiguration").node("SelectedSheets")
    return selected.nodes("SheetVisualScopingConfigurations")


def _scope(node: Node) -> tuple[str, list[str]]:
    """Return a sheet and the visuals of it that are filtered; none are all of them."""
    node.choice("Scope", "ALL_VISUALS", "SELECTED_VISUALS")
    return node.text("SheetId"), node.texts("VisualIds")
