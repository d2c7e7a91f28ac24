"""Speed of queries over files, against search tools, mawk and DuckDB over the same files.

``python -m tests.checks.bench.text_speed`` prints ratios of CPU times and of times; exit code 1 if
one is too large. ``--lines 500000`` makes it a tenth as large. Both programs of a pair run whole
and in turns, and must give the same answer; the least of several rounds counts.
"""

from __future__ import annotations

import argparse
import csv
import os
import shlex
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from tests.checks.bench.insights_speed import MOST_MIB, Figure, report
from tests.checks.bench.text_logs import (
    FILES,
    LINES,
    SEARCHED,
    json_log,
    many_logs,
    service_log,
)

ROUNDS = 5
SETTLED = 1_764_100_000
"""A time after the lines of the log [s since 1970-01-01 UTC]."""
TIDEMARK = str(Path(sys.executable).with_name("tidemark"))
PROGRAMS = {
    "rg": "`cargo install ripgrep --locked` installs it",
    "mawk": "Debian's package mawk has it",
    "grep": "Debian's package grep has it",
}
"""The programs that the queries are measured against, and how to install them."""
Rows = list[tuple[str, ...]]


class Usage(NamedTuple):
    """The time and memory that a process and its children took."""

    cpu_seconds: float
    seconds: float
    peak_mib: float


@dataclass(frozen=True)
class Pair:
    """A query and the command line of a shell with the same answer.

    ``limit`` is the largest accepted ratio of both, ``aim`` the one to reach. ``rows`` makes rows
    as the query gives them of the lines that the command line prints. ``log`` returns the file or
    folder with a number of lines, ``options`` are the query's, and ``reason`` says why a
    ratio stays above 1.2.
    """

    name: str
    query: str
    rival: str
    limit: float
    aim: float
    rows: Callable[[Iterable[str]], Rows]
    log: Callable[[int], Path] = service_log
    options: tuple[str, ...] = ()
    reason: str = ""


def _cells(lines: Iterable[str]) -> Rows:
    return [tuple(row) for row in csv.reader(lines)]


def _words(lines: Iterable[str]) -> Rows:
    return [tuple(line.split()) for line in lines]


def _by_minute(lines: Iterable[str]) -> Rows:
    """Return the rows of ``uniq -c`` over minutes such as 2026-11-23T09:45."""
    counted = (line.split() for line in lines)
    return [(f"{minute.replace('T', ' ')}:00.000", number) for number, minute in counted]


_DUCKDB = (
    "import csv, os, sys, duckdb; duckdb.sql('SET enable_progress_bar = FALSE'); "
    "text = sys.argv[1].replace('$LOG', os.environ['LOG']); "
    "rows = duckdb.sql(text).fetchall(); "
    "csv.writer(sys.stdout, lineterminator='\\n').writerows(rows)"
)
_READ = (
    "read_csv('{}', columns = {{'line': 'VARCHAR'}}, delim = '\x01', quote = '', escape = '', "
    "header = FALSE, auto_detect = FALSE)"
)


def _duckdb(select: str, read: str = _READ.format("$LOG")) -> str:
    """Return the command line that prints the rows of a SELECT over lines as CSV."""
    return shlex.join([sys.executable, "-c", _DUCKDB, select.replace("lines", read)])


_BY_FIELDS = """
{
    key = substr($6, 8) SUBSEP substr($8, 8)
    n[key]++; ms[key] += substr($9, 12); sent[key] += substr($10, 7); paths[key] += length($7) - 5
}
END {
    for (key in n) {
        split(key, k, SUBSEP); print k[1], k[2], n[key], ms[key], sent[key], paths[key]
    }
}
"""
_GROUPS = (
    r"method=(?<method>\S+) path=(?<path>\S+) status=(?<status>\d+) latency_ms=(?<ms>\d+) "
    r"bytes=(?<bytes>\d+)"
)
_WORKER = r"\[worker-(.*?)\]"
_LARGEST = (
    'parse @message "path=/orders/*/items" as order '
    "| stats count(*) as n by order | sort n desc, order desc | limit 5"
)
PAIRS = (
    Pair(
        "a text in few lines, with fields",
        f'fields @message | filter @message like "{SEARCHED}"',
        f"rg -F '{SEARCHED}' $LOG",
        3.0,
        3.0,
        lambda lines: [(line,) for line in lines],
    ),
    Pair(
        "selective like, glob and stats",
        'filter @message like "upload of" '
        '| parse @message "upload of * bytes took * ms" as size, ms '
        "| stats count(*), sum(size), sum(ms)",
        "grep -F 'upload of' $LOG | mawk -v OFMT=%.0f '{ size += $(NF - 4); ms += $(NF - 1) } "
        "END { print NR, size, ms }'",
        3.0,
        1.5,
        _words,
    ),
    Pair(
        "regular expression, counted by bin",
        "filter @message like /timeout after [0-9]{3,} ms/ | stats count(*) by bin(1m)",
        "rg 'timeout after [0-9]{3,} ms' $LOG | cut -c 1-16 | uniq -c",
        3.0,
        2.0,
        _by_minute,
    ),
    Pair(
        "five groups of a regular expression, in all lines",
        f"parse @message /{_GROUPS}/ "
        "| stats count(*), sum(ms), sum(bytes), sum(strlen(path)) by method, status",
        f"mawk -v OFMT=%.0f '{_BY_FIELDS}' $LOG",
        2.0,
        1.5,
        _words,
    ),
    Pair(
        "dedup: the newest event of each worker",
        'parse @message "[worker-*]" as worker | display worker | dedup worker',
        "mawk '{ last[substr($3, 9, length($3) - 9)] = NR } "
        "END { for (worker in last) print last[worker], worker }' $LOG "
        "| sort -rn | cut -d ' ' -f 2",
        5.0,
        3.0,
        _words,
    ),
    Pair(
        "dedup with messages, against DuckDB",
        'parse @message "[worker-*]" as worker | display worker, @message | dedup worker',
        _duckdb(
            f"SELECT regexp_extract(line, '{_WORKER}', 1), arg_max(line, left(line, 24)) "
            "FROM lines GROUP BY 1"
        ),
        1.5,
        1.2,
        _cells,
    ),
    Pair(
        "the largest of a million groups, against DuckDB",
        _LARGEST,
        _duckdb(
            "SELECT regexp_extract(line, 'path=/orders/(.*?)/items', 1) AS item, count(*) AS n "
            "FROM lines GROUP BY 1 ORDER BY n DESC, item::BIGINT DESC LIMIT 5"
        ),
        1.8,
        1.5,
        _cells,
    ),
    Pair(
        "the largest of a million groups",
        _LARGEST,
        'mawk \'{ split($7, parts, "/"); n[parts[3]]++ } '
        "END { for (order in n) print order, n[order] }' $LOG "
        "| sort -k 2,2nr -k 1,1nr | head -5",
        1.5,
        1.0,
        _words,
    ),
    Pair(
        "JSON: three fields, against DuckDB",
        "filter status >= 500 | stats count(*), sum(latency_ms) by request.method",
        _duckdb(
            "SELECT json ->> '$.request.method', count(*), sum((json ->> '$.latency_ms')::BIGINT) "
            "FROM lines WHERE (json ->> '$.status')::INTEGER >= 500 GROUP BY 1",
            "read_ndjson_objects('$LOG')",
        ),
        2.0,
        1.2,
        _cells,
        json_log,
        reason="numbers are tested as AWS has them, and true is 1",
    ),
    Pair(
        "a window of an unsorted file, against DuckDB",
        "stats count(*)",
        _duckdb(
            "SELECT count(*) FROM lines WHERE left(line, 23)::TIMESTAMP "
            "BETWEEN '2025-11-24 17:00:00' AND '2025-11-24 17:29:59.999'"
        ),
        1.6,
        1.2,
        _cells,
        options=("--start", "2025-11-24T17:00:00Z", "--end", "2025-11-24T17:29:59Z"),
    ),
    Pair(
        "sort with a limit, against DuckDB",
        'parse @message "latency_ms=* " as ms | sort ms desc | limit 10 | display ms',
        _duckdb(
            "SELECT regexp_extract(line, 'latency_ms=(.*?) ', 1) AS ms FROM lines "
            "ORDER BY ms::BIGINT DESC, line DESC LIMIT 10"
        ),
        1.2,
        1.2,
        _cells,
    ),
    Pair(
        "pattern: the lines without their numbers, against DuckDB",
        "pattern @message | stats sum(@sampleCount)",
        _duckdb(
            "SELECT sum(n) FROM (SELECT t, count(*) AS n FROM (SELECT regexp_replace("
            "regexp_replace(line, '[0-9a-f]{16}', 'i'), '[0-9]+', 'n', 'g') AS t FROM lines) "
            "GROUP BY t)"
        ),
        2.0,
        1.2,
        _cells,
        reason="four forms of variables are searched, where DuckDB searches two",
    ),
    Pair(
        f"{FILES:,} files, against DuckDB",
        "stats count(*) by bin(1h)",
        _duckdb(
            "SELECT replace(left(line, 13), 'T', ' ') || ':00:00.000', count(*) FROM lines "
            "GROUP BY 1",
            _READ.format("$LOG/*.log"),
        ),
        2.5,
        2.0,
        _cells,
        many_logs,
    ),
    Pair(
        f"a text in {FILES:,} files, against rg",
        'filter @message like "upload of" | stats count(*)',
        "rg -c --no-filename 'upload of' $LOG | mawk '{ n += $1 } END { print n }'",
        15.0,
        10.0,
        _words,
        many_logs,
    ),
    Pair(
        "start: a file of one line, against DuckDB",
        "stats count(*)",
        _duckdb("SELECT count(*) FROM lines"),
        1.2,
        1.0,
        _cells,
        lambda _: service_log(1),
    ),
)


def figures(lines: int = LINES, rounds: int = ROUNDS) -> Iterator[Figure]:
    """Yield the figures of each pair: the ratios of both times, and the memory of the query."""
    for pair in PAIRS:
        text = pair.log(lines)
        # A young file is read another way, as a rotation may truncate it.
        os.utime(text, (SETTLED, SETTLED))
        query, rival = _least(pair, text, rounds)
        cpu, seconds = query.cpu_seconds / rival.cpu_seconds, query.seconds / rival.seconds
        each = f"{query.cpu_seconds:.2f} s to {rival.cpu_seconds:.2f} s"
        reason = f"; {pair.reason}" if pair.reason else ""
        yield Figure(f"{pair.name}: CPU ({each}{reason})", cpu, pair.limit, "×", pair.aim)
        each = f"{query.seconds:.2f} s to {rival.seconds:.2f} s"
        yield Figure(f"{pair.name}: time ({each})", seconds, pair.limit, "×", pair.aim)
        yield Figure(f"{pair.name}: memory", query.peak_mib, MOST_MIB, "MiB")


def _least(pair: Pair, text: Path, rounds: int) -> tuple[Usage, Usage]:
    """Return the least usage of the query and of its rival; both must have the same answer."""
    query: list[Usage] = []
    rival: list[Usage] = []
    for _ in range(rounds):
        command = [TIDEMARK, "query", pair.query, str(text), "--format", "csv", *pair.options]
        mine, used = _run(command, text)
        query.append(used)
        theirs, used = _run(["sh", "-c", pair.rival], text)
        rival.append(used)
        expected = sorted(pair.rows(theirs.splitlines()))
        found = sorted(tuple(row) for row in list(csv.reader(mine.splitlines()))[1:])
        assert found == expected, f"{pair.name}: {found[:3]} is not {expected[:3]}"
    return _of_each(query), _of_each(rival)


def _of_each(used: Sequence[Usage]) -> Usage:
    """Return the least times and the largest memory."""
    return Usage(
        min(each.cpu_seconds for each in used),
        min(each.seconds for each in used),
        max(each.peak_mib for each in used),
    )


def _run(command: Sequence[str], text: Path) -> tuple[str, Usage]:
    """Return what a command prints, and what it took with its children."""
    # An installed program has its bytecode.
    environment = {
        **os.environ,
        "LC_ALL": "C.UTF-8",
        "LOG": str(text),
        "PYTHONDONTWRITEBYTECODE": "",
    }
    with tempfile.TemporaryFile("w+") as output:
        began = time.perf_counter()
        process = subprocess.Popen(
            command, stdout=output, stderr=subprocess.DEVNULL, env=environment
        )
        _, status, used = os.wait4(process.pid, 0)
        seconds = time.perf_counter() - began
        process.returncode = os.waitstatus_to_exitcode(status)
        assert process.returncode == 0, f"{command} ends with {process.returncode}"
        output.seek(0)
        cpu_seconds = used.ru_utime + used.ru_stime
        return output.read(), Usage(cpu_seconds, seconds, used.ru_maxrss / 1024)


def main(arguments: Sequence[str] = ()) -> int:
    """Measure and print; return the exit code."""
    parser = argparse.ArgumentParser(prog="tests.checks.bench.text_speed")
    parser.add_argument("--lines", type=int, default=LINES, help="the lines of the log")
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    options = parser.parse_args(arguments)
    for name, package in PROGRAMS.items():
        if not shutil.which(name):
            print(f"{parser.prog}: {name} is not installed; {package}", file=sys.stderr)
            return 2
    return report(figures(options.lines, options.rounds))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
