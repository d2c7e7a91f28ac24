"""Random queries of the commands that `reference` supports, over fields that may be missing."""

from __future__ import annotations

from hypothesis import strategies as st

# The lookup tables `words` and `networks`, as lines.
WORDS = (("10", "ten"), ("x", "ex"), ("10", "again"), ("1", "one"))
NETWORKS = (("10.0.0.0/8", "wide"), ("10.1.0.0/16", "narrow"), ("fe80::/10", "link"))
FIELDS = ("n", "s", "m.k", "m.l.0", "flag", "gone")
numbers = st.sampled_from(["0", "1", "2", "2.5", "10", "-1"])
texts = st.sampled_from(["'x'", "'10'", "'NaN'", "'a9'", "''"])
fields = st.sampled_from(FIELDS)
values = fields | numbers | texts


def _larger(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.one_of(
        st.builds("({} {} {})".format, inner, st.sampled_from(["+", "-", "*", "/"]), inner),
        st.builds("{}({})".format, st.sampled_from(["abs", "strlen", "ispresent"]), inner),
        st.builds("coalesce({}, {})".format, inner, inner),
        st.builds("concat({}, '-', {})".format, inner, inner),
    )


expressions = st.recursive(values, _larger, max_leaves=4)
signs = st.sampled_from(["=", "!=", "<", "<=", ">", ">="])
comparisons = st.one_of(
    st.builds("{} {} {}".format, expressions, signs, expressions),
    st.builds("{} in [{}, {}]".format, fields, numbers, texts),
    st.builds("{} not in [{}, {}]".format, fields, numbers, texts),
    st.builds("{} like {}".format, fields, st.sampled_from(["'a'", "'a10'", "'10'"])),
    st.builds("{} not like /[0-9]/".format, fields),
)
conditions = st.recursive(
    comparisons,
    lambda inner: st.one_of(
        st.builds("({} and {})".format, inner, inner),
        st.builds("({} or {})".format, inner, inner),
        st.builds("(not {})".format, inner),
    ),
    max_leaves=3,
)
aggregates = st.one_of(
    st.just("count(*)"),
    st.builds(
        "{}({})".format,
        st.sampled_from(["count", "sum", "avg", "min", "max", "count_distinct"]),
        expressions,
    ),
    st.builds("rate({}, {})".format, fields, st.sampled_from(["1ms", "2s"])),
    st.builds("histogram({}, {})".format, fields, st.integers(1, 4)),
)
flags = st.sampled_from(["true", "false"])
totals = st.builds(
    "addtotals fieldname=e {} n, s".format, st.sampled_from(["", "col=true", "row=false col=true"])
)
outliers = st.builds(
    "outlier action={} param={} uselower={} mark={} n".format,
    st.sampled_from(["remove", "transform"]),
    st.sampled_from(["0", "0.5", "2.5"]),
    flags,
    flags,
)


def joins(known: st.SearchStrategy[str], inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    join = "join type={} left=a right=b where a.{}=b.{} ({}) | fields b.{} as e, a.n as f".format
    return st.builds(join, st.sampled_from(["inner", "left"]), fields, known, inner, known)


row_commands = st.one_of(
    st.builds("fields {} as e".format, expressions),
    st.builds("filter {}".format, conditions),
    st.just("parse s '*-*' as left, right"),
    st.just("parse s /(?<letter>[a-z])(?<digit>[0-9])?/"),
    st.just("parse s /([a-z])(?:[0-9])?(-?)/ as letter, line multi"),
    st.just("parse s csv as left, right"),
    st.just("fields concat('a=', s) as t | parse t logfmt as e | fields e.a as f"),
    st.builds("sort {} {}".format, fields, st.sampled_from(["asc", "desc"])),
    st.builds("accum {} as e".format, fields),
    st.builds("autoregress {} p=1-2".format, fields),
    st.builds("fields {0} as e | filldown e".format, fields),
    st.builds("unnest {} into e".format, fields | st.just("m.l")),
    st.just("expand m.l"),
    st.builds("json field=m '{}' as e".format, st.sampled_from(["k", "gone"])),
    st.builds("sessionize {} maxspan {}ms as e".format, fields, st.integers(1, 4)),
    totals,
    outliers,
    joins(fields, st.sampled_from(["filter n > 0", "fields s as t | sort n"])),
    joins(st.sampled_from(["n", "s", "flag"]), st.just("stats sum(n) as n by s, flag")),
    st.builds(
        "appendcols override={} max={} (fields {} as e | sort n)".format,
        flags,
        st.integers(1, 3),
        expressions,
    ),
    st.builds("lookup words word as {} OUTPUT meaning as e".format, fields),
    st.builds(
        "cidrlookup networks s {} network as e".format, st.sampled_from(["OUTPUT", "OUTPUTNEW"])
    ),
)
last_commands = st.one_of(
    st.builds(
        "stats {} as x by bin(2ms) as k offset {}ms | fillmissing with 0 for x".format,
        st.sampled_from(["count(*)", "sum(n)"]),
        st.integers(1, 5),
    ),
    st.builds(
        "stats {} as n, {} as s by {} as k | {}".format, aggregates, aggregates, fields, totals
    ),
    st.builds("countFrequent {}".format, fields),
    st.builds("stats {} as x, {} as y by {} as k".format, aggregates, aggregates, expressions),
    st.builds("stats {} as x".format, aggregates),
    st.builds("sort {} {}".format, fields, st.sampled_from(["asc", "desc"])),
    st.builds("dedup {}".format, fields),
    st.just("limit 3"),
)
queries = st.builds(
    lambda rows, last: " | ".join([*rows, last]), st.lists(row_commands, max_size=3), last_commands
)
