"""The lines of a metric in the form of ``rows=* ms=*``, and the log queries that read them.

A star stands for any text. The value is at the mark ``{value}``, or else at the last star; it has
no space in it. Any other name in braces is a label.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tidemark.model.metric import Metric

_MARK = re.compile(r"(\*|\{[a-z][a-z0-9_]*\})")
_VALUE = "{value}"
VALUES = "_values"
"""The end of the name of a query that gives all values of the lines."""
# The queries give these names to parts of a line.
_TAKEN = {"text", "number"}
# Statistics whose figures of tasks are merged otherwise than by their mean.
_FUNCTIONS = {"max": "max", "min": "min", "total": "sum", "per_second": "sum"}
_SPECIAL = re.compile(r"[\\^$.|?*+()\[\]{}/]")


def labels_of(line: str) -> list[str]:
    """Return the labels in the form of a line."""
    return [mark[1:-1] for mark in _MARK.findall(line) if mark not in {"*", _VALUE}]


def misfit_of(line: str) -> str:
    """Return why a text is no form of a line, '' if it is one."""
    marks, labels = _MARK.findall(line), labels_of(line)
    if marks.count(_VALUE) > 1 or not {"*", _VALUE} & {*marks}:
        return "expected * in place of the value, once, or {value}"
    if not re.search(r"\w", _MARK.sub("", line)):
        return "every line has this form; expected a word of the line before the value"
    if twice := {*labels} & _TAKEN or {each for each in labels if labels.count(each) > 1}:
        return f"{{{min(twice)}}} is taken; expected another name"
    return ""


def queries_of(metric: Metric) -> Mapping[str, str]:
    """Return the queries of a metric's lines by name: the figures of each task, and all values."""
    assert metric.log
    assert metric.samples
    function = _FUNCTIONS.get(metric.statistics[0], "avg")
    by, columns = (
        ", ".join([*names, *metric.labels])
        for names in (["@logStream"], ["@timestamp", "@logStream", "value"])
    )
    figures = [
        f"# {metric.name} [{metric.unit}] of each task, from lines in the form of {metric.log}",
        "fields @message",
        f"| parse @message /{_pattern(metric.log, 'text')}/",
        "| filter ispresent(text)",
        r"| parse text /^(?<number>\d+(\.\d+)?)$/",
        f"| stats {function}(number) as value, count(number) as n by {by}",
    ]
    values = [
        f"# Every {metric.name} [{metric.unit}], from lines in the form of {metric.log}",
        "fields @message",
        f"| parse @message /{_pattern(metric.log, 'value')}/",
        "| filter ispresent(value)",
        f"| display {columns}",
        "| sort @timestamp asc",
        "| limit 10000",
    ]
    return {
        name: "".join(f"{line}\n" for line in lines)
        for name, lines in ((metric.query, figures), (metric.samples, values))
    }


def _pattern(line: str, value: str) -> str:
    """Return the regular expression of lines, whose group ``value`` has the value."""
    texts, marks = _MARK.split(line)[::2], _MARK.findall(line)
    places = [at for at, mark in enumerate(marks) if mark == _VALUE]
    places += [at for at, mark in enumerate(marks) if mark == "*"][-1:]
    # A word of the line may end a longer one: ms=* is the form of neither max_ms=3 nor gc-ms=3.
    # Before a colon may be the name of a logger, as in INFO:root:ms=3.
    begin = r"(?:^|[^\w.\/-])" if re.match(r"\w", texts[0]) else ""
    pattern = f"{begin}{_plain(texts[0])}"
    for at, (mark, text) in enumerate(zip(marks, texts[1:], strict=True)):
        few = "?" if text or at + 1 < len(marks) else ""
        if at == places[0]:
            pattern += rf"(?<{value}>\S+{few})"
        else:
            pattern += f".*{few}" if mark == "*" else f"(?<{mark[1:-1]}>.+{few})"
        pattern += _plain(text)
    return pattern


def _plain(text: str) -> str:
    return _SPECIAL.sub(r"\\\g<0>", text)
