"""The dashboard as one HTML page that needs no network, with the rows that it has room for."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from html import escape
from pathlib import Path
from string import Template
from typing import Any
from urllib.parse import quote

from tidemark.client.tables import Tables
from tidemark.dashboard.data_sets import DECIMAL, INTEGER, DataSet, read_data_set
from tidemark.dashboard.model import Chart, Control, Dashboard, Place, Sheet, Table, TextBox, Visual
from tidemark.dashboard.sheets import dashboard
from tidemark.dashboard.visual_charts import specification
from tidemark.model.numerals import RULES
from tidemark.model.sentences import plural
from tidemark.pages import shell
from tidemark.report.blocks import Link
from tidemark.report.marks import CHANGES, MARKS, MOST_NAMES

MOST_ROWS = 5_000
"""The most rows of a data set, because more would take a long time to query."""
MOST_BYTES = 900_000
"""The most bytes of all data sets, so that the page with its scripts stays below 2 MB."""

# The page keeps the newest rows. These data sets need another order to begin with them.
_NEWEST_FIRST = {"rates_by_version": "version_rank DESC,", "runs_by_week": "week DESC,"}

Value = str | int | float | None


@dataclass(frozen=True)
class LeftOut:
    """The oldest rows of a suite, which do not fit on the page."""

    suite: str
    rows: int
    stored: int
    """The number of all stored rows of the suite."""


@dataclass(frozen=True)
class Rows:
    """The newest rows of each suite in a data set."""

    columns: Sequence[str]
    rows: Sequence[Sequence[Value]]
    """The newest of each suite, then the second of each, and so on."""
    stored: Mapping[str, int]
    """The number of rows of each suite in the data set."""

    @property
    def left_out(self) -> Sequence[LeftOut]:
        """The omitted rows of each suite that is not complete."""
        suite = self.columns.index("suite")
        kept = Counter(row[suite] for row in self.rows)
        return [
            LeftOut(name, stored - kept[name], stored)
            for name, stored in self.stored.items()
            if stored > kept[name]
        ]

    def packed(self) -> dict[str, Any]:
        """Return each column as its distinct values and, for each row, the index of its value.

        The packed form is short, because most values repeat.
        """
        packed = {}
        for place, column in enumerate(self.columns):
            cells = [row[place] for row in self.rows]
            places = {value: number for number, value in enumerate(dict.fromkeys(cells))}
            packed[column] = {"values": list(places), "rows": [places[value] for value in cells]}
        return packed


def read_rows(tables: Tables, data_set: DataSet, columns: Sequence[str]) -> Rows:
    """Return some columns, ``suite`` among them, of the newest rows of each suite in a data set."""
    query, order = data_set.sql.rsplit("\nORDER BY", 1)
    newest_first = _NEWEST_FIRST.get(data_set.name, "") + order
    # Names are our own. The order by place takes the same number of rows from each suite.
    answer = tables.ask(
        "SELECT * FROM (SELECT *, count(*) OVER (PARTITION BY suite) AS stored,"  # noqa: S608
        f" row_number() OVER (PARTITION BY suite ORDER BY {newest_first}) AS place"
        f" FROM (\n{query}\n)) ORDER BY place, suite LIMIT {MOST_ROWS}"
    )
    places = [(answer.columns.index(name), data_set.columns[name]) for name in columns]
    rows = [[_value(row[place], kind) for place, kind in places] for row in answer.rows]
    suite, stored = answer.columns.index("suite"), answer.columns.index("stored")
    return Rows(columns, rows, {str(row[suite]): int(row[stored] or 0) for row in answer.rows})


def shrink_to_page(rows: Mapping[str, Rows]) -> dict[str, Rows]:
    """Return as many of the newest rows of data sets as the page can hold.

    While there are too many, the largest data set loses its oldest tenth.
    """
    kept = dict(rows)
    sizes = {name: _size(each) for name, each in kept.items()}
    while sum(sizes.values()) > MOST_BYTES:
        largest = max(sizes, key=lambda name: sizes[name])
        newest = kept[largest].rows
        kept[largest] = replace(kept[largest], rows=newest[: len(newest) * 9 // 10])
        sizes[largest] = _size(kept[largest])
    return kept


def _size(rows: Rows) -> int:
    return len(shell.json_for_script(rows.packed()).encode())


def _value(text: str | None, kind: str) -> Value:
    """Return a value for JSON, None for a number that is not finite."""
    if text is None or kind not in (INTEGER, DECIMAL):
        return text
    if kind == INTEGER:
        return int(text)
    number = float(text)
    return number if math.isfinite(number) else None


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
    flame_graphs: Sequence[Link] = (),
) -> str:
    """Return the page over the rows of each data set, with notes about them.

    ``flame_graphs`` are pages to link to.
    """
    body = Template(_file("page.html")).substitute(
        notes="".join(f"<p>{escape(sentence)}</p>" for sentence in notes),
        flame_graphs=_links(flame_graphs),
        tabs="\n".join(map(_tab, dashboard.sheets)),
        sheets="\n".join(_sheet(sheet, rows) for sheet in dashboard.sheets),
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
    return page(dashboard(), shrink_to_page(rows), said, flame_graphs)


def notes(rows: Mapping[str, Rows], now: datetime, damaged: Collection[str] = ()) -> Iterator[str]:
    """Yield the sentences that a reader needs to understand the rows."""
    yield f"Results up to {now:%Y-%m-%d %H:%M} UTC."
    if damaged:
        yield f"{plural(len(damaged), 'damaged object')} left out: {' '.join(damaged)}"
    if not any(each.rows for each in rows.values()):
        yield "No results are stored yet; `tidemark run` measures versions."
