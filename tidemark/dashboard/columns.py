"""The data sets of the dashboard, and the formats and colours of their columns."""

from __future__ import annotations

from tidemark.dashboard.data_sets import DATETIME, STRING
from tidemark.dashboard.model import Column, Format

BY_VERSION, PAIRS, RUNS, TRIALS, SAMPLES, WEEKS, UNFINISHED, CHANGES, BY_RUN = DATA_SETS = (
    "rates_by_version", "version_pairs", "newest_runs", "trials_of_newest_runs",
    "samples_of_newest_runs", "runs_by_week", "unfinished_runs", "level_changes", "rates_by_run",
)  # fmt: skip

# Characters of a time as ``2026-11-20 12:44:55``.
TEXT, NUMBER, PERCENTAGE = Format("text"), Format("number"), Format("percentage", 2)
DAY, MINUTE, SECOND = Format("time", 10), Format("time", 16), Format("time", 19)
_GREY = "#6E7781"
_UNTOLD = (
    "cannot tell", "not comparable", "slower on unlike machines", "faster on unlike machines",
    "same on unlike machines",
)  # fmt: skip

COLORS = {
    Column(PAIRS, "qualified_verdict"): {
        "slower": "#A11D21",
        "faster": "#00785A",
        "same": "#1B1F24",
        **dict.fromkeys(_UNTOLD, _GREY),
    },
    Column(WEEKS, "status"): {
        "complete": "#007A5A",
        "incomplete": "#9A6700",
        "failed": "#D55E00",
        "aborted": "#A35A8B",
        "rejected": _GREY,
    },
}
"""The colours of values, those of verdicts as on the pages of reports in light."""
FORMATS = {
    **{
        Column(data_set, name): NUMBER
        for name in ("mean", "min", "max")
        for data_set in (BY_RUN, BY_VERSION)
    },
    **{
        Column(data_set, name): format_
        for data_set, format_, names in (
            (PAIRS, PERCENTAGE, "effect effect_gain gain_low gain_high low high"),
            (PAIRS, NUMBER, "base_mean new_mean base_stddev new_stddev"),
            (PAIRS, DAY, "last_at"),
            (PAIRS, NUMBER, "base_min base_max new_min new_max"),
            (RUNS, NUMBER, "records task_seconds insights_bytes"),
            (RUNS, Format("number", 4), "cost_usd"),
            (RUNS, SECOND, "started_at ended_at"),
            (TRIALS, NUMBER, "value stddev min max span_seconds"),
            (SAMPLES, NUMBER, "value records"),
            (SAMPLES, SECOND, "logged_at"),
            (UNFINISHED, SECOND, "started_at"),
            (CHANGES, PERCENTAGE, "change"),
            (CHANGES, NUMBER, "level_before level_after accepted_level"),
            (CHANGES, DAY, "changed_at"),
        )
        for name in names.split()
    },
}
"""The formats of columns that are not those of their types."""


def default_format(kind: str) -> Format:
    """Return the default format of one of QuickSight's types."""
    return {STRING: TEXT, DATETIME: MINUTE}.get(kind, NUMBER)
