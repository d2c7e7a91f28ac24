"""The parts of a QuickSight definition, in the names of its API.

Source: Amazon QuickSight API reference, DashboardVersionDefinition.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape
from typing import Any, NamedTuple

Json = dict[str, Any]

WIDTH = 36  # columns of a sheet's grid
_MOST_CONTROLS = 4  # in a row, as wide as each other
# The names of fields that are not those of their columns.
_NAMES = {"effect": "change", "effect_gain": "gain", "qualified_verdict": "verdict"}
_VISIBLE = {"Visibility": "VISIBLE"}
_HIDDEN = {"Visibility": "HIDDEN"}
_DAY = {"DateTimeFormat": "YYYY-MM-DD"}


class Element(NamedTuple):
    """A visual or a text box of a sheet, with its size in the grid."""

    id: str
    definition: Json
    rows: int
    columns: int = WIDTH
    is_text: bool = False


# ---- Columns and fields.


def column(data_set: str, name: str) -> Json:
    """Return the column of a data set."""
    return {"DataSetIdentifier": data_set, "ColumnName": name}


def _field(visual: str, data_set: str, name: str, own: str = "") -> Json:
    """Return the field of a column; ``own`` is its name in the visual if it is another."""
    part = own or _NAMES.get(name, name).replace("_", "-")
    return {"FieldId": f"{visual}-{part}", "Column": column(data_set, name)}


def _dimension(field: Json) -> Json:
    return {"CategoricalDimensionField": field}


def _date(field: Json, granularity: str) -> Json:
    date = {**field, "DateGranularity": granularity, "FormatConfiguration": _DAY}
    return {"DateDimensionField": date}


def _measure(field: Json, aggregation: str, **more: Json) -> Json:
    return {
        "NumericalMeasureField": {**field, "AggregationFunction": _aggregated(aggregation), **more}
    }


def _aggregated(aggregation: str) -> Json:
    return {"SimpleNumericalAggregation": aggregation}


def _by_field(field: str, direction: str = "ASC") -> Json:
    return {"FieldSort": {"FieldId": field, "Direction": direction}}


def _by_least(data_set: str, name: str) -> Json:
    """Return the order by the least value of a column that a visual does not show."""
    return {
        "SortBy": column(data_set, name),
        "Direction": "ASC",
        "AggregationFunction": {"NumericalAggregationFunction": _aggregated("MIN")},
    }


# ---- Formats of columns.


def figures() -> Json:
    """Return the format of figures with separated thousands, and as many digits as needed."""
    return _number()


def figures_with(places: int) -> Json:
    """Return the format of figures with some decimal places."""
    return _number(DecimalPlacesConfiguration={"DecimalPlaces": places})


def _number(**more: Json) -> Json:
    separator = {"ThousandsSeparator": {"Symbol": "COMMA", **_VISIBLE}}
    return _numbers(
        {"NumberDisplayFormatConfiguration": {"SeparatorConfiguration": separator, **more}}
    )


def percentages() -> Json:
    """Return the format of shares as percentages with two decimal places."""
    return _numbers(_percentage())


def _percentage(**more: str) -> Json:
    places = {"DecimalPlacesConfiguration": {"DecimalPlaces": 2}}
    return {"PercentageDisplayFormatConfiguration": {**more, **places}}


def _numbers(display: Json) -> Json:
    return {"NumberFormatConfiguration": {"FormatConfiguration": display}}


def times(picture: str) -> Json:
    """Return a format of times, such as ``YYYY-MM-DD``."""
    return {"DateTimeFormatConfiguration": {"DateTimeFormat": picture}}


def formatted(data_set: str, name: str, format_: Json) -> Json:
    """Return the format of a column."""
    return {"Column": column(data_set, name), "FormatConfiguration": format_}


def colored(data_set: str, name: str, colors: Mapping[str, str]) -> Json:
    """Return the colours of a column's values."""
    custom = [{"FieldValue": value, "Color": color} for value, color in colors.items()]
    colors_ = {"CustomColors": custom}
    return {"Column": column(data_set, name), "ColorsConfiguration": colors_}


# ---- Visuals.


def _visual(
    kind: str, name: str, words: tuple[str, str, str], chart: Json, rows: int, columns: int = WIDTH
) -> Element:
    """Return a visual; ``words`` are its title, its subtitle and its text for the blind."""
    title, subtitle, alternative = words
    visual = {
        "VisualId": name,
        "Title": _label(title),
        "Subtitle": _label(subtitle),
        "ChartConfiguration": chart,
        "VisualContentAltText": alternative,
    }
    return Element(name, {kind: visual}, rows, columns)


def _label(text: str) -> Json:
    return {**_VISIBLE, "FormatText": {"PlainText": text}}


def kpi(
    name: str, title: str, subtitle: str, alternative: str, *, data_set: str, sum_of: str
) -> Element:
    """Return the sum of a column as one figure."""
    value = _measure(_field(name, data_set, sum_of, "count"), "SUM")
    return _kpi(name, (title, subtitle, alternative), value)


def worst_change(
    name: str, title: str, subtitle: str, alternative: str, *, data_set: str, gain: str
) -> Element:
    """Return the least gain as one figure."""
    display = {"FormatConfiguration": _percentage(Prefix="gain ")}
    value = _measure(_field(name, data_set, gain), "MIN", FormatConfiguration=display)
    return _kpi(name, (title, subtitle, alternative), value)


def _kpi(name: str, words: tuple[str, str, str], value: Json) -> Element:
    return _visual("KPIVisual", name, words, {"FieldWells": {"Values": [value]}}, 6, WIDTH // 3)


def table(
    name: str,
    title: str,
    subtitle: str,
    alternative: str,
    *,
    data_set: str,
    rows: int,
    columns: Mapping[str, str],
    order: Sequence[str],
    names: Mapping[str, str] = {},
) -> Element:
    """Return a table of a data set's rows.

    ``columns`` are the labels by column, and ``order`` columns, with a minus for descending.
    """
    fields = {each: _field(name, data_set, each, names.get(each, "")) for each in columns}
    labels = [_labelled(fields[each], label) for each, label in columns.items()]
    sorts = [
        _by_field(fields[each.lstrip("-")]["FieldId"], "DESC" if each[0] == "-" else "ASC")
        for each in order
    ]
    chart = {
        "FieldWells": {"TableUnaggregatedFieldWells": {"Values": list(fields.values())}},
        "SortConfiguration": {"RowSort": sorts},
        "FieldOptions": {"SelectedFieldOptions": labels},
    }
    return _visual("TableVisual", name, (title, subtitle, alternative), chart, rows)


def _labelled(field: Json, label: str) -> Json:
    return {"FieldId": field["FieldId"], "CustomLabel": label}


def pivot_of_versions(name: str, title: str, subtitle: str, alternative: str) -> Element:
    """Return the table of the mean of each metric, with a line for each version and size."""
    data_set = "rates_by_version"
    suite, version, tested, sizes, rate, mean = (
        _field(name, data_set, each)
        for each in ("suite", "version", "tested_at", "sizes", "rate", "mean")
    )
    labels = (
        (suite, "Suite"), (version, "Version number"), (tested, "Test date"),
        (sizes, "Tasks × records"), (mean, "Rate"),
    )  # fmt: skip
    order = {"Column": _by_least(data_set, "version_rank")}
    totals = ("RowSubtotal", "ColumnSubtotal", "RowTotal", "ColumnTotal")
    chart = {
        "FieldWells": {
            "PivotTableAggregatedFieldWells": {
                "Rows": [
                    *map(_dimension, (suite, version)), _date(tested, "DAY"), _dimension(sizes)
                ],
                "Columns": [_dimension(rate)],
                "Values": [_measure(mean, "AVERAGE")],
            }
        },
        "SortConfiguration": {
            "FieldSortOptions": [{"FieldId": version["FieldId"], "SortBy": order}]
        },
        "FieldOptions": {"SelectedFieldOptions": [_labelled(*each) for each in labels]},
        "TotalOptions": {f"{each}Options": {"TotalsVisibility": "HIDDEN"} for each in totals},
    }  # fmt: skip
    return _visual("PivotTableVisual", name, (title, subtitle, alternative), chart, 14)


def line_charts(
    name: str,
    title: str,
    subtitle: str,
    alternative: str,
    *,
    data_set: str,
    category: tuple[str, str],
    mean: str = "mean",
    label: str,
    order: str = "",
    points: bool = False,
) -> Element:
    """Return a chart for each series: mean, least and largest figure by category.

    ``category`` is a column with its name in the visual. Without an ``order`` by another column
    its values are in their own. ``points`` have no line.
    """
    categories = _field(name, data_set, *category)
    figures = {
        each: _field(name, data_set, column)
        for each, column in (("AVERAGE", mean), ("MIN", "min"), ("MAX", "max"))
    }
    shown = _by_field(categories["FieldId"])
    independent = {"Scale": "INDEPENDENT"}
    styles = [
        _style(field, points=points, ends=each != "AVERAGE") for each, field in figures.items()
    ]
    chart = {
        "Type": "LINE",
        "FieldWells": {
            "LineChartAggregatedFieldWells": {
                "Category": [_dimension(categories)],
                "Values": [_measure(field, each) for each, field in figures.items()],
                "SmallMultiples": [_dimension(_field(name, data_set, "series"))],
            }
        },
        "SortConfiguration": {
            "CategorySort": [{"ColumnSort": _by_least(data_set, order)} if order else shown]
        },
        "SmallMultiplesOptions": {
            "MaxVisibleColumns": 2, "XAxis": independent, "YAxis": independent
        },
        "XAxisLabelOptions": _axis_label(label, categories),
        "PrimaryYAxisDisplayOptions": {
            "AxisOptions": {"DataOptions": {"NumericAxisOptions": {"Range": {"DataDriven": {}}}}}
        },
        "Series": styles,
    }  # fmt: skip
    return _visual("LineChartVisual", name, (title, subtitle, alternative), chart, 16)


def _style(field: Json, *, points: bool, ends: bool) -> Json:
    line: Json = {"LineStyle": "DOTTED" if ends else "SOLID"}
    if points:
        line = {"LineVisibility": "HIDDEN"}
    marker = "HIDDEN" if ends and not points else "VISIBLE"
    settings = {"LineStyleSettings": line, "MarkerStyleSettings": {"MarkerVisibility": marker}}
    item = {"FieldId": field["FieldId"], "AxisBinding": "PRIMARY_YAXIS", "Settings": settings}
    return {"FieldSeriesItem": item}


def _axis_label(label: str, field: Json) -> Json:
    return {**_VISIBLE, "AxisLabelOptions": [{"CustomLabel": label, "ApplyTo": field}]}


def gain_bars(name: str, title: str, subtitle: str, alternative: str) -> Element:
    """Return a bar for each metric of a pair of versions: its gain, with the interval."""
    data_set = "version_pairs"
    series, gain, verdict = (
        _field(name, data_set, each) for each in ("series", "effect_gain", "qualified_verdict")
    )
    shown = [{"FieldId": each["FieldId"]} for each in (series, verdict, gain)]
    shown[-1]["Label"] = "Gain"
    ends = [
        {
            "Column": column(data_set, end),
            "Label": f"Gain {word} (95 %)",
            "Aggregation": {"NumericalAggregationFunction": _aggregated(aggregation)},
        }
        for end, word, aggregation in (("gain_low", "from", "MIN"), ("gain_high", "to", "MAX"))
    ]
    chart = {
        **_bars(_dimension(series), _measure(gain, "MIN"), verdict, _by_field(gain["FieldId"])),
        "Orientation": "HORIZONTAL",
        "BarsArrangement": "STACKED",
        "ValueLabelOptions": _axis_label("← worse\N{EM SPACE}\N{EM SPACE}better →", gain),
        "Tooltip": {
            "TooltipVisibility": "VISIBLE",
            "SelectedTooltipType": "DETAILED",
            "FieldBasedTooltip": {
                "AggregationVisibility": "HIDDEN",
                "TooltipFields": [
                    *({"FieldTooltipItem": each} for each in shown),
                    *({"ColumnTooltipItem": each} for each in ends),
                ],
            },
        },
        "Legend": {**_VISIBLE, "Title": {**_VISIBLE, "CustomLabel": "Verdict"}},
    }
    return _visual("BarChartVisual", name, (title, subtitle, alternative), chart, 10)


def week_bars(name: str, title: str, subtitle: str, alternative: str) -> Element:
    """Return a bar for each week: its runs, by how they ended."""
    week, runs, status = (_field(name, "runs_by_week", each) for each in ("week", "runs", "status"))
    chart = {
        **_bars(_date(week, "WEEK"), _measure(runs, "SUM"), status, _by_field(week["FieldId"])),
        "Orientation": "VERTICAL",
        "BarsArrangement": "STACKED",
        "CategoryLabelOptions": _axis_label("Week", week),
        "ValueLabelOptions": _axis_label("Runs", runs),
        "Legend": {**_VISIBLE, "Title": {"CustomLabel": "Ended as"}},
    }
    return _visual("BarChartVisual", name, (title, subtitle, alternative), chart, 12)


def _bars(category: Json, value: Json, colors: Json, order: Json) -> Json:
    wells = {"Category": [category], "Values": [value], "Colors": [_dimension(colors)]}
    return {
        "FieldWells": {"BarChartAggregatedFieldWells": wells},
        "SortConfiguration": {"CategorySort": [order]},
    }


def text_box(name: str, text: str) -> Element:
    """Return a paragraph."""
    content = f"<text-box>{escape(text, quote=False)}</text-box>"
    return Element(name, {"SheetTextBoxId": name, "Content": content}, 3, is_text=True)


# ---- Parameters, controls and filters.


def all_or_one(name: str) -> Json:
    """Return a parameter with one value, or with all as long as nobody chooses one."""
    return _declared(
        name, "MULTI_VALUED", {}, ValueWhenUnset={"ValueWhenUnsetOption": "RECOMMENDED_VALUE"}
    )


def one(name: str, first: str) -> Json:
    """Return a parameter with one value, at first ``first``."""
    return _declared(name, "SINGLE_VALUED", {"StaticValues": [first]})


def _declared(name: str, kind: str, defaults: Json, **more: Json) -> Json:
    parameter = {"ParameterValueType": kind, "Name": name, "DefaultValues": defaults, **more}
    return {"StringParameterDeclaration": parameter}


def day(name: str, first: str) -> Json:
    """Return a parameter with a day."""
    defaults = {"StaticValues": [f"{first}T00:00:00Z"]}
    parameter = {"Name": name, "TimeGranularity": "DAY", "DefaultValues": defaults}
    return {"DateTimeParameterDeclaration": parameter}


class Control(NamedTuple):
    """An input of a sheet that sets a parameter.

    The column of a parameter's values has its name in lower case.
    """

    parameter: str
    title: str
    data_set: str = ""
    """The data set with the offered values, '' for a day."""
    within: Sequence[str] = ()
    """The parameters whose values limit the offered ones."""
    has_all: bool = True
    """Whether the control also offers all values at once."""

    def name(self, sheet: str) -> str:
        """Return the id of the control on a sheet."""
        return _control(sheet, self.parameter)

    def definition(self, sheet: str) -> Json:
        """Return the control of a sheet."""
        common = {
            "ParameterControlId": self.name(sheet),
            "Title": self.title,
            "SourceParameterName": self.parameter,
        }
        if not self.data_set:
            return {"DateTimePicker": {**common, "DisplayOptions": _DAY}}
        values = column(self.data_set, self.parameter.lower())
        sources = [
            {
                "SourceSheetControlId": _control(sheet, each),
                "ColumnToMatch": column(self.data_set, each.lower()),
            }
            for each in self.within
        ]
        more: Json = {} if self.has_all else {"DisplayOptions": {"SelectAllOptions": _HIDDEN}}
        if sources:
            more["CascadingControlConfiguration"] = {"SourceControls": sources}
        return {
            "Dropdown": {
                **common,
                "Type": "MULTI_SELECT" if self.has_all else "SINGLE_SELECT",
                "SelectableValues": {"LinkToDataSetColumn": values},
                **more,
            }
        }


def _control(sheet: str, parameter: str) -> str:
    return f"{sheet}-{parameter.lower()}"


def filters(
    name: str,
    data_set: str,
    sheet: str,
    *parameters: str,
    time: str = "",
    equals: Mapping[str, str] = {},
    differs: Mapping[str, str] = {},
    visuals: Sequence[str] = (),
) -> Json:
    """Return the filters of a data set on a sheet, or on some of its visuals.

    Columns must have the values of ``equals``, not those of ``differs``, and the values of
    ``parameters``. The column ``time`` must be between the days that a reader chooses.
    """
    conditions = [
        *((each, "EQUALS", {"CategoryValue": value}) for each, value in equals.items()),
        *((each, "DOES_NOT_EQUAL", {"CategoryValue": value}) for each, value in differs.items()),
        *((each.lower(), "EQUALS", {"ParameterName": each}) for each in parameters),
    ]
    within = [_between_days(name, column(data_set, time))] if time else []
    selected: Json = {"SheetId": sheet, "Scope": "ALL_VISUALS"}
    if visuals:
        selected |= {"Scope": "SELECTED_VISUALS", "VisualIds": list(visuals)}
    scope = {"SelectedSheets": {"SheetVisualScopingConfigurations": [selected]}}
    return {
        "FilterGroupId": name,
        "Filters": [*(_condition(name, data_set, *each) for each in conditions), *within],
        "ScopeConfiguration": scope,
        "Status": "ENABLED",
        "CrossDataset": "SINGLE_DATASET",
    }


def _condition(group: str, data_set: str, name: str, operator: str, value: Json) -> Json:
    custom = {"MatchOperator": operator, **value, "NullOption": "NON_NULLS_ONLY"}
    return {
        "CategoryFilter": {
            "FilterId": f"{group}-{name}",
            "Column": column(data_set, name),
            "Configuration": {"CustomFilterConfiguration": custom},
        }
    }


def _between_days(group: str, time: Json) -> Json:
    return {
        "TimeRangeFilter": {
            "FilterId": f"{group}-time",
            "Column": time,
            "RangeMinimumValue": {"Parameter": "Since"},
            "RangeMaximumValue": {"Parameter": "Until"},
            "IncludeMinimum": True,
            "IncludeMaximum": True,
            "NullOption": "NON_NULLS_ONLY",
            "TimeGranularity": "DAY",
        }
    }


# ---- Sheets.


def sheet(
    name: str, tab: str, title: str, controls: Sequence[Control], elements: Sequence[Element]
) -> Json:
    """Return a sheet with its elements below each other, or beside each other where they fit."""
    texts = [each for each in elements if each.is_text]
    visuals = [each for each in elements if not each.is_text]
    width = WIDTH // max(_MOST_CONTROLS, len(controls))
    placed = [(each.name(name), at * width, width, 0, 1) for at, each in enumerate(controls)]
    places = {each[0]: each for each in _flowing(elements)}
    return {
        "SheetId": name,
        "Name": tab,
        "Title": title,
        "ContentType": "INTERACTIVE",
        "ParameterControls": [each.definition(name) for each in controls],
        "TextBoxes": [each.definition for each in texts],
        "Visuals": [each.definition for each in visuals],
        "Layouts": _grid(
            [
                *(_place("TEXT_BOX", *places[each.id]) for each in texts),
                *(_place("VISUAL", *places[each.id]) for each in visuals),
            ]
        ),
        "SheetControlLayouts": _grid([_place("PARAMETER_CONTROL", *each) for each in placed]),
    }


_Place = tuple[str, int, int, int, int]


def _flowing(elements: Iterable[Element]) -> Iterable[_Place]:
    """Yield the id, column, width, row and height of each element."""
    left, top = 0, 0
    for each in elements:
        yield each.id, left, each.columns, top, each.rows
        left = (left + each.columns) % WIDTH
        top += 0 if left else each.rows


def _place(kind: str, name: str, left: int, width: int, top: int, height: int) -> Json:
    place = {"ColumnIndex": left, "ColumnSpan": width, "RowIndex": top, "RowSpan": height}
    return {"ElementId": name, "ElementType": kind, **place}


def _grid(elements: Sequence[Json]) -> list[Json]:
    return [{"Configuration": {"GridLayout": {"Elements": list(elements)}}}]
