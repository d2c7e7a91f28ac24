"""The tooltip of a chart: what it shows beyond the chart's own fields."""

from __future__ import annotations

from tidemark.dashboard.fields import Column, Fields
from tidemark.dashboard.node import Node
from tidemark.model.refusal import Refused

_ENDS = 2


def read_interval(node: Node, fields: Fields) -> tuple[Column, ...]:
    """Return the columns of the lower and the upper end of an interval, none without a tooltip.

    QuickSight draws no whiskers: its readers find both ends in the tooltip.
    """
    node.must_be("TooltipVisibility", "VISIBLE")
    node.must_be("SelectedTooltipType", "DETAILED")
    content = node.node("FieldBasedTooltip")
    content.must_be("AggregationVisibility", "HIDDEN")
    found = [_column(each, fields) for each in content.nodes("TooltipFields")]
    columns = tuple(column for column in found if column)
    if len(columns) not in (0, _ENDS):
        raise Refused(
            f"{node.place}: has {len(columns)} ColumnTooltipItems; "
            f"expected {_ENDS}, the ends of an interval"
        )
    return columns


def _column(item: Node, fields: Fields) -> Column | None:
    """Return the column of an item, None for a field of the chart."""
    kind, shown = item.kind("FieldTooltipItem", "ColumnTooltipItem")
    shown.skip("FieldId", "Label", "Aggregation")
    return fields.column(shown.node("Column")) if kind == "ColumnTooltipItem" else None
