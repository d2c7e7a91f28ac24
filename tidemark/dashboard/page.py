"""The dashboard as one HTML page that needs no network."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from html import escape
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import quote

from tidemark.client.tables import Tables
from tidemark.dashboard.data_sets import read_data_set
from tidemark.dashboard.model import Chart, Control, Dashboard, Place, Sheet, Table, TextBox, Visual
from tidemark.dashboard.rows import LeftOut, Rows, read_rows, shrink_to_page
from tidemark.dashboard.sheets import dashboard
from tidemark.dashboard.visual_charts import specification
from tidemark.model.numerals import RULES
from tidemark.model.sentences import plural
from tidemark.pages import shell
from tidemark.pages.vega import vega
from tidemark.report.blocks import Link
from tidemark.report.marks import CHANGES, MARKS, MOST_NAMES

_FOLDER = Path(__file__).parent
_SCRIPTS = ("numbers.js", "figures.js", "tables.js", "answers.js", "charts.js", "page.js")
# A browser shows <input type="date"> in the form of its own language.
_DAY = ' pattern="\\d{4}-\\d{2}-\\d{2}" placeholder="YYYY-MM-DD" title="a day as YYYY-MM-DD"'
# The columns of a comparison, from which a sheet has its answer.
_ANSWERING = {
    "suite", "base_version", "new_version", "rate", "effect", "qualified_verdict", "unlike",
}  # fmt: skip


def page(
    dashboard: Dashboard,
    rows: Mapping[str, Rows],
    notes: Sequence[str],
    vega: str,
    flame_graphs: Sequence[Link] = (),
) -> str:
    """Return the page over the rows of each data set, with notes about them.

    ``vega`` is the script that draws charts, and ``flame_graphs`` are pages to link to.
    """
    body = Template(_file("page.html")).substitute(
        notes="".join(f"<p>{escape(sentence)}</p>" for sentence in notes),
        flame_graphs=_links(flame_graphs),
        tabs="\n".join(map(_tab, dashboard.sheets)),
        sheets="\n".join(_sheet(sheet, rows) for sheet in dashboard.sheets),
        dashboard=shell.json_for_script(_script_data(dashboard, rows)),
    )
    script = "\n".join(map(_file, _SCRIPTS))
    return shell.page("Tidemark dashboard", _file("page.css"), body, vega, script)


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
        "words": {"marks": MARKS, "changes": CHANGES, "most_names": MOST_NAMES},
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
        content["specification"] = specification(visual.shown)
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


def _sheet(sheet: Sheet, rows: Mapping[str, Rows]) -> str:
    return Template(_file("sheet.html")).substitute(
        id=escape(sheet.id),
        name=escape(sheet.name),
        title=escape(sheet.title or sheet.name),
        controls="\n".join(map(_control, sheet.controls)),
        elements="\n".join(_element(place, each, rows) for place, each in sheet.elements),
    )


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
    return page(dashboard(), shrink_to_page(rows), said, vega(), flame_graphs)


def notes(rows: Mapping[str, Rows], now: datetime, damaged: Collection[str] = ()) -> Iterator[str]:
    """Yield the sentences that a reader needs to understand the rows."""
    yield f"Results up to {now:%Y-%m-%d %H:%M} UTC."
    if damaged:
        yield f"{plural(len(damaged), 'damaged object')} left out: {' '.join(damaged)}"
    if not any(each.rows for each in rows.values()):
        yield "No results are stored yet; `tidemark run` measures versions."
