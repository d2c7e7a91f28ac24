"""``make bench``: print each figure with its limit; exit code 1 if a figure exceeds its limit."""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.checks.bench import (
    function_limits,
    insights_queries,
    insights_speed,
    insights_steps,
    load_rules,
    profiler_overhead,
    profiles,
    scale,
    stored_runs,
    text_speed,
)
from tests.checks.bench.commands import command_times
from tests.checks.bench.imports import BARE, import_times

SMALL = {"suite": "rocksdb", "versions": ["9.0.0", "9.8.4"], "repetitions": 1, "records": 200_000}


def timed_run(state: Path) -> dict[str, Any]:
    """Return the times of one small run over a state folder."""
    command = [sys.executable, "-m", "tests.checks.bench.one_run", str(time.time()), str(state)]
    done = subprocess.run(
        [*command, json.dumps(SMALL)], stdout=subprocess.PIPE, text=True, check=True
    )
    times: dict[str, Any] = json.loads(done.stdout)
    return times


def main() -> int:
    """Measure and print; return the exit code."""
    with tempfile.TemporaryDirectory() as folder:
        cold, warm = timed_run(Path(folder)), timed_run(Path(folder))
    figures = [
        ("tidemark run to first task, cold", cold["to_first_task"], 20.0, "s"),
        ("tidemark run to first task, cached template", warm["to_first_task"], 6.0, "s"),
        ("trial without its longest tasks, worst", max(warm["trial_overheads"]), 2.0, "s"),
        ("last task to printed table", warm["to_table"], 6.0, "s"),
        ("syncs of a run, at their median", 100 * warm["syncs"], 3.0, "% of its time"),
    ]
    for measured in import_times():
        name = f"import of {measured.module} ({measured.seconds * 1000:.0f} ms)"
        limit = 2.0 if measured.module != BARE else 1.0
        figures.append((name, measured.ratio, limit, "× bare"))
    figures += [
        (f"tidemark {one.name} ({one.seconds * 1000:.0f} ms)", one.ratio, one.limit, "× imports")
        for one in command_times()
    ]
    figures += scale.figures()
    figures += insights_steps.figures()
    figures += function_limits.figures()
    figures += load_rules.figures()
    figures += profiles.figures()
    figures += profiler_overhead.figures()
    table = Table()
    for heading in ("Figure", "Measured", "At most", ""):
        table.add_column(heading)
    for name, value, limit, unit in figures:
        verdict = "" if value <= limit else "too much"
        table.add_row(name, f"{value:.2f} {unit}", f"{limit:g} {unit}", verdict)
    Console(width=110).print(table)
    print(insights_queries.summary())
    exceeded = any(value > limit for _, value, limit, _ in figures)
    return max(int(exceeded), stored_runs.main(), insights_speed.main(), text_speed.main())


if __name__ == "__main__":
    sys.exit(main())
