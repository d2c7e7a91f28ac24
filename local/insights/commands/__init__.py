"""The commands of Logs Insights: each family with how it is read, resolved and written as SQL."""

from __future__ import annotations

from collections.abc import Callable

from local.insights.commands.counts import CountFrequent, Fillmissing
from local.insights.commands.fields import Display, Fields
from local.insights.commands.filters import Filter, FilterIndex, Unmask
from local.insights.commands.joins import AppendCols, Join
from local.insights.commands.json_field import JsonField
from local.insights.commands.lists import Expand, Unnest
from local.insights.commands.lookup import CidrLookUp, LookUp
from local.insights.commands.order import Dedup, Limit, Sort, Tail
from local.insights.commands.outliers import Outlier
from local.insights.commands.parsing import read_parse
from local.insights.commands.sessions import Sessionize
from local.insights.commands.source import Source
from local.insights.commands.stats import Stats
from local.insights.commands.totals import AddTotals
from local.insights.commands.windows import Accum, Autoregress, Filldown
from local.insights.expressions import Reader
from local.insights.syntax import Command, Span

COMMANDS: dict[str, Callable[[Reader, Span], Command]] = {
    "fields": Fields.read,
    "display": Display.read,
    "filter": Filter.read,
    "where": Filter.read,
    "filterindex": FilterIndex.read,
    "source": Source.read,
    "parse": read_parse,
    "json": JsonField.read,
    "stats": Stats.read,
    "sort": Sort.read,
    "order": Sort.read,
    "limit": Limit.read,
    "head": Limit.read,
    "tail": Tail.read,
    "dedup": Dedup.read,
    "unmask": Unmask.read,
    "unnest": Unnest.read,
    "expand": Expand.read,
    "join": Join.read,
    "appendcols": AppendCols.read,
    "lookup": LookUp.read,
    "cidrlookup": CidrLookUp.read,
    "addtotals": AddTotals.read,
    "accum": Accum.read,
    "autoregress": Autoregress.read,
    "filldown": Filldown.read,
    "fillmissing": Fillmissing.read,
    "outlier": Outlier.read,
    "sessionize": Sessionize.read,
    "countfrequent": CountFrequent.read,
    "count_frequent": CountFrequent.read,
}
"""How each command is read, by its word in small letters."""

REFUSED = {
    "pattern": "how Logs Insights finds patterns is not public; parse and stats group by your own",
    "diff": "it compares patterns, and how Logs Insights finds those is not public",
    "anomaly": "its model is not public",
    "logcompare": "it compares patterns, and how Logs Insights finds those is not public",
    "relevantfields": "how Logs Insights scores fields is not public",
}
"""Why a command is not supported, by its word in small letters."""
