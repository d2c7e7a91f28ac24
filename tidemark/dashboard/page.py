"""The dashboard as one HTML page that needs no network, with the rows that it has room for."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from html import escape
from pathlib import Path
from string import Template
from types import MappingProxyType
from typing import Any
from urllib.parse import quote

from tidemark.client.events import open_by_suite
from tidemark.client.tables import Tables
from tidemark.dashboard.data_sets import (
    EVENTS,
    LeftOut,
    Rows,
    read_data_set,
    read_rows,
    shrink_to_page,
)
from tidemark.dashboard.model import Chart, Control, Dashboard, Place, Sheet, Table, TextBox, Visual
from tidemark.dashboard.sheets import dashboard
from tidemark.model.numerals import RULES
from tidemark.model.sentences import plural
from tidemark.pages import shell, vega_lite
from tidemark.pages.vega_lite import Json, as_it_is, figures
from tidemark.report.blocks import Link
from tidemark.report.marks import CHANGES, COLORS, MARKS, MOST_NAMES, marked

_FOLDER = Path(__file__).parent
_SCRIPTS = ("numbers.js", "figures.js", "tables.js", "answers.js", "charts.js", "page.js")
# A browser shows <input type="date"> in the form of its own language.
_DAY = ' pattern="\\d{4}-\\d{2}-\\d{2}" placeholder="YYYY-MM-DD" title="a day as YYYY-MM-DD"'
# The columns of a comparison, from which a sheet has its answer.
_ANSWERING = {
    "suite", "base_version", "new_version", "rate", "effect", "qualified_verdict", "unlike",
}  # fmt: skip
_AXIS = {"labelPadding": 6, "titleColor": "var(--quiet)"}
_TICKS = 5
_BAR = 22  # from the middle of a bar to its label
# The data hold the colours themselves.
_COLOR = as_it_is("color")
_TOOLTIP = {"field": "tooltip", "type": "nominal"}


def page(
    dashboard: Dashboard,
    rows: Mapping[str, Rows],
    notes: Sequence[str],
    flame_graphs: Sequence[Link] = (),
    regressions: Mapping[str, Sequence[str]] = MappingProxyType({}),
) -> str:
    """Return the page over the rows of each data set, with notes about them.

    ``flame_graphs`` are pages to link to, and ``regressions`` the open ones of each suite in words.
    """
    body = Template(_file("page.html")).substitute(
        notes="".join(f"<p>{escape(sentence)}</p>" for sentence in notes),
        flame_graphs=_links(flame_graphs),
        tabs="\n".join(map(_tab, dashboard.sheets)),
        sheets="\n".join(_sheet(sheet, rows, regressions) for sheet in dashboard.sheets),
        dashboard=shell.json_for_script(_script_data(dashboard, rows)),
    )
    script = "\n".join(map(_file, _SCRIPTS))
    return shell.page("Tidemark dashboard", _file("page.css"), body, shell.drawing(script))


def _links(pages: Sequence[Link]) -> str:
    if not pages:
        return ""
    items = "".join(
        f'<li><a href="{quote(each.file)}">{escape(each.words)}</a></li>' for each in pages
    )
    return f"<details><summary>Flame graphs of the newest runs</summary><ul>{items}</ul></details>"


def _file(name: str) -> str:
    return (_FOLDER / name).read_text(encoding="utf-8")


def _script_data(dashboard: Dashboard, rows: Mapping[str, Rows]) -> dict[str, Any]:
    return {
        "data": {name: each.packed() for name, each in rows.items()},
        "leftOut": {
            name: [left_out.suite for left_out in each.left_out] for name, each in rows.items()
        },
        "parameters": dashboard.parameters,
        "rules": RULES._asdict(),
        "words": {
            "marks": MARKS,
            "colors": COLORS,
            "changes": CHANGES,
            "most_names": MOST_NAMES,
        },
        "sheets": [
            {
                "id": sheet.id,
                "answer": _answering(sheet),
                "controls": [asdict(each) for each in sheet.controls],
                "visuals": [_visual(each, sheet, dashboard) for each in sheet.visuals],
            }
            for sheet in dashboard.sheets
        ],
    }


def _answering(sheet: Sheet) -> str | None:
    """Return the id of the table whose rows are the answer of a sheet, None without one."""
    tables = ((each.id, each.shown) for each in sheet.visuals)
    return next(
        (
            name
            for name, shown in tables
            if isinstance(shown, Table)
            and {field.column.name for field in shown.fields} >= _ANSWERING
        ),
        None,
    )


def _visual(visual: Visual, sheet: Sheet, dashboard: Dashboard) -> dict[str, Any]:
    content = asdict(visual.shown)
    if isinstance(visual.shown, Chart):
        content["specification"] = _specification(visual.shown)
    return {
        "id": visual.id,
        "kind": type(visual.shown).__name__,
        "title": visual.title,
        "alternative": visual.alternative,
        "data_set": visual.data_set,
        "filters": [asdict(each) for each in dashboard.filters(sheet, visual)],
        **content,
    }


def _tab(sheet: Sheet) -> str:
    return (
        f'<button type="button" role="tab" id="tab-{escape(sheet.id)}"'
        f' aria-controls="{escape(sheet.id)}">{escape(sheet.name)}</button>'
    )


def _sheet(sheet: Sheet, rows: Mapping[str, Rows], regressions: Mapping[str, Sequence[str]]) -> str:
    of_history = any(each.data_set == EVENTS for each in sheet.visuals)
    return Template(_file("sheet.html")).substitute(
        id=escape(sheet.id),
        name=escape(sheet.name),
        title=escape(sheet.title or sheet.name),
        regressions="\n".join(_open(*each) for each in regressions.items() if of_history),
        controls="\n".join(map(_control, sheet.controls)),
        elements="\n".join(_element(place, each, rows) for place, each in sheet.elements),
    )


def _open(suite: str, sentences: Sequence[str]) -> str:
    """Return the open regressions of a suite, which a choice of another suite hides."""
    items = "".join(f"<li>{_with_code(each)}</li>" for each in sentences)
    name = escape(suite)
    return (
        f'<div class="open" data-suite="{name}"><p>{name}: '
        f'<b class="slower">{marked("slower")}</b>, not mended:</p><ul>{items}</ul></div>'
    )


def _with_code(sentence: str) -> str:
    return re.sub("`([^`]*)`", r"<code>\1</code>", shell.words(sentence))


def _control(control: Control) -> str:
    name, label = escape(control.id), escape(control.label)
    field = f'<select id="{name}"></select>' if control.column else f'<input id="{name}"{_DAY}>'
    return f'<p><label for="{name}">{label}</label>{field}</p>'


def _element(place: Place, element: Visual | TextBox, rows: Mapping[str, Rows]) -> str:
    style = (
        f"--column: {place.column + 1}; --columns: {place.columns}; "
        f"--row: {place.row + 1}; --rows: {place.rows}"
    )
    if isinstance(element, TextBox):
        return f'<p class="box" style="{style}">{shell.words(element.text)}</p>'
    return Template(_file("visual.html")).substitute(
        id=escape(element.id),
        kind=type(element.shown).__name__,
        style=style,
        title=escape(element.title),
        subtitle=escape(element.subtitle),
        left_out=_left_out_note(rows[element.data_set].left_out),
    )


def _left_out_note(left_out: Sequence[LeftOut]) -> str:
    if not left_out:
        return ""
    parts = ", ".join(f"{each.rows:,} of {each.stored:,} of {each.suite}" for each in left_out)
    sentence = f"The oldest rows do not fit on this page: {parts} are left out."
    return f'<p class="missing">{escape(sentence)}</p>'


def build(
    tables: Tables,
    now: datetime,
    damaged: Collection[str] = (),
    flame_graphs: Sequence[Link] = (),
) -> str:
    """Return the HTML page of the dashboard over the rows that the tables hold ``now``.

    ``damaged`` has a sentence about each object that the tables have left out by then, and
    ``flame_graphs`` the pages to which it links.
    """
    rows = {
        name: read_rows(tables, read_data_set(name), columns)
        for name, columns in dashboard().columns().items()
    }
    said = list(notes(rows, now, damaged))
    return page(dashboard(), shrink_to_page(rows), said, flame_graphs, open_by_suite(tables))


def notes(rows: Mapping[str, Rows], now: datetime, damaged: Collection[str] = ()) -> Iterator[str]:
    """Yield the sentences that a reader needs to understand the rows."""
    yield f"Results up to {now:%Y-%m-%d %H:%M} UTC."
    if damaged:
        yield f"{plural(len(damaged), 'damaged object')} left out: {' '.join(damaged)}"
    if not any(each.rows for each in rows.values()):
        yield "No results are stored yet; `tidemark run` measures versions."


# ---- Charts as Vega-Lite.


def _specification(chart: Chart) -> Json:
    """Return the specification of a chart; the page adds its height and two data sets.

    A row of ``points`` has ``category``, ``value``, ``series``, ``color``, ``fill`` (transparent if
    hollow), ``shape`` (null for none), ``line`` (false for none) and ``dash``; with an interval it
    has ``low`` and ``high``. A row of ``changes`` has ``category`` and ``color``. A row of
    ``beyond`` is an arrow, with ``category``, ``at``, ``shape``, ``color`` and ``fill``. A row of
    ``tooltips`` has ``category``, ``tooltip`` and ``href``, the address of what the category leads
    to, null for none. The page sets the parameter ``categories``, all in order, and with an
    interval ``far``, at which the axis ends on both sides. It leaves out the layers ``whiskers``,
    ``beyond`` and ``changes`` without rows, because Vega warns of them.
    """
    layers = _bars(chart) if chart.mark == "bar" else _lines(chart)
    return vega_lite.chart(
        axis=_AXIS, data={"name": "points"}, layer=[*layers, _pointer_layer(chart)]
    )


def _lines(chart: Chart) -> list[Json]:
    position = {"x": _category(chart), "y": _value(chart)}
    series = {"color": _COLOR, "detail": {"field": "series", "type": "nominal"}}
    lines: Json = {
        "transform": [{"filter": "datum.line"}],
        "mark": {"type": "line", "strokeWidth": 2},
        "encoding": {**position, **series, "strokeDash": as_it_is("dash")},
    }
    points: Json = {
        "transform": [{"filter": "datum.shape"}],
        "mark": {"type": "point", "filled": True, "size": 60, "opacity": 1},
        "encoding": {**position, **series, "shape": as_it_is("shape")},
    }
    # Vega warns of a layer without rows.
    no_lines = chart.styles and not any(style.line for style in chart.styles.values())
    # The first layer with a category has the order of all.
    return [points, _changes(chart)] if no_lines else [lines, points, _changes(chart)]


def _changes(chart: Chart) -> Json:
    """Return the layer of the categories from which on the level is another."""
    return {
        "name": "changes",
        "data": {"name": "changes"},
        "mark": {"type": "rule", "strokeWidth": 2, "strokeDash": [4, 3]},
        "encoding": {"x": _category(chart), "color": _COLOR},
    }


def _pointer_layer(chart: Chart) -> Json:
    """Return the layer for the pointer: the whole place of each category, above all marks."""
    select = {"type": "point", "on": "pointerover", "clear": "pointerout"}
    opacity = {"condition": {"param": "pointed", "empty": False, "value": 0.1}, "value": 0}
    return {
        "data": {"name": "tooltips"},
        "params": [{"name": "pointed", "select": select}],
        "mark": {"type": "rect", "color": "var(--ink)"},
        "encoding": {
            _along(chart): _category(chart),
            "tooltip": _TOOLTIP,
            "opacity": opacity,
            "href": {"field": "href", "type": "nominal"},
        },
    }


def _along(chart: Chart) -> str:
    return "y" if chart.horizontal else "x"


def _bars(chart: Chart) -> list[Json]:
    along, across = _along(chart), "x" if chart.horizontal else "y"
    offset = {} if chart.stacked else {f"{along}Offset": {"field": "series", "type": "nominal"}}
    value = {**_value(chart), "stack": "zero" if chart.stacked else None}
    bars: Json = {
        "mark": {"type": "bar", "cornerRadiusEnd": 2, "strokeWidth": 1.5},
        "encoding": {
            along: _category(chart),
            across: value,
            "fill": as_it_is("fill"),
            "stroke": _COLOR,
            **offset,
        },
    }
    return [bars, _whiskers(chart, across), _beyond(chart, across)] if chart.interval else [bars]


def _whiskers(chart: Chart, across: str) -> Json:
    return {
        "name": "whiskers",
        "transform": [{"filter": "isValid(datum.low)"}],
        "mark": {"type": "rule", "strokeWidth": 2, "color": "var(--ink)"},
        "encoding": {
            _along(chart): _category(chart),
            across: {**_value(chart), "field": "low"},
            f"{across}2": {"field": "high"},
        },
    }


def _beyond(chart: Chart, across: str) -> Json:
    """Return the layer of the arrows of bars and whiskers that go on where the axis ends."""
    return {
        "name": "beyond",
        "data": {"name": "beyond"},
        "mark": {"type": "point", "size": 80, "opacity": 1, "strokeWidth": 1.5},
        "encoding": {
            _along(chart): _category(chart),
            across: {**_value(chart), "field": "at"},
            "shape": as_it_is("shape"),
            "fill": as_it_is("fill"),
            "stroke": _COLOR,
        },
    }


def _category(chart: Chart) -> Json:
    axis: Json = {"labelAngle": 0, "labelOverlap": "greedy", "labelSeparation": 4}
    if chart.horizontal:
        # A label above its bar leaves the whole width of a phone to the bars.
        axis = {"labelAlign": "left", "labelOffset": -_BAR, "labelPadding": -6, "labelLimit": 0}
    return {
        "field": "category",
        "type": "ordinal",
        "sort": None,
        "title": chart.axes.category or None,
        "scale": {
            "type": "band",
            # By itself, Vega puts a category without a value behind all others.
            "domain": {"expr": "categories"},
            **({"paddingInner": 0.5} if chart.mark == "bar" else {}),
        },
        "axis": axis,
    }


def _value(chart: Chart) -> Json:
    format_ = chart.values[0].format
    whole = format_.kind == "number" and format_.places == 0
    axis = {
        "tickCount": {"expr": _whole_steps(chart)} if whole else _TICKS,
        "domain": False,
        # Specifiers of d3-format.
        "format": "~%" if format_.kind == "percentage" else ",~r",
        # Around zero, the title says which side is worse.
        **({"labelExpr": "replace(datum.label, '\\u2212', '')"} if chart.interval else {}),
    }
    scale: Json = {"zero": chart.axes.from_zero, "nice": True}
    if chart.interval:  # around zero
        scale = {"domainMin": {"expr": "-far"}, "domainMax": {"expr": "far"}, "nice": False}
    return figures(chart.axes.value or None, axis, field="value", scale=scale)


def _whole_steps(chart: Chart) -> str:
    """Return the number of ticks at whole numbers, as an expression of Vega.

    Up to two, Vega draws halves in spite of a tickMinStep of one.
    """
    scale = "x" if chart.horizontal else "y"
    return f"max(1, min({_TICKS}, span(domain('{scale}'))))"
