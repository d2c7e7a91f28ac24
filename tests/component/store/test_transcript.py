"""The output of commands over stored runs with two of everything, word for word."""

import re
import shlex
from pathlib import Path

from click.testing import CliRunner

from tests.last_seen import assert_last_seen
from tests.unit.two_of_everything import stored_runs, tables
from tidemark.cli import tidemark
from tidemark.cli.target import Target, stored
from tidemark.model.refusal import Refused
from tidemark.store import keys

DIGESTS = Path(__file__).with_name("transcript.json")
SLEEPER = "20260928T030000Z-00001f"
COMMANDS = f"""
runs sleeper
runs sleeper --format csv
history rocksdb --test ingest
history sleeper --test compaction --format markdown
history sleeper --test compaction --format csv
history sleeper --metric read_latency --plot
history rocksdb --open
history rocksdb --metric speed
history sleeper --test ingest --plot --format csv
history plum
sql "SELECT suite, count(*) AS runs FROM runs GROUP BY suite ORDER BY suite"
sql " "
sql "SELECT version FROM rate"
sql "SELECT versoin FROM rates"
show
show 20261019T030000Z-000021
report 20261019T030000Z-000020
compare {SLEEPER}/0.30.1 {SLEEPER}/0.31.0
compare 0.30.0 0.32.0 --suite sleeper
exclude {SLEEPER}/5 --reason "a backup ran"
show {SLEEPER}
exclude {SLEEPER}/99 --reason "a backup ran"
include {SLEEPER}/5 --reason "it did not"
artefacts {SLEEPER}
export COPY
restore COPY
restore COPY --state FRESH
runs rocksdb --state FRESH
doctor
stop {SLEEPER}
import FILE --dry-run
import FILE
import FILE
history nightly_2 --metric ingest_rate --format markdown
"""
NIGHTLY = "date,version,Ingest rate (rows/s),Read latency (ms)\n" + "".join(
    f"2026-01-{day:02},1.{day},{1000 + day},{5 + day / 8}\n" for day in range(1, 5)
)
# The last digits of a mean of several threads, the effort of a query, and lines of a whole report.
_VARYING = re.compile(
    r"(?<=\.\d{6})\d+|(?<=, )[\d,]+ bytes read in \d+ ms$|(?<=^--all prints )\d+", re.MULTILINE
)


def test_commands_print_what_was_last_seen(tmp_path):
    state = tmp_path / "state"
    runs = stored_runs()
    with stored(Target(state, None), new=True) as store:
        for key, body in tables(runs).items():
            store.bucket.write(key, body)
        for plan, trials, *_ in runs:
            store.bucket.write(keys.plan(plan.run_id), plan.model_dump_json().encode())
            for trial in trials:
                key = keys.trial(plan.run_id, trial.trial)
                store.bucket.write(key, trial.model_dump_json().encode())
    file = tmp_path / "Nightly (2).csv"
    file.write_text(NIGHTLY, encoding="utf-8")
    places = {"FILE": file, "STATE": state, "COPY": tmp_path / "copy", "FRESH": tmp_path / "fresh"}
    parts = {}
    for line in COMMANDS.strip().splitlines():
        words = [str(places.get(word, word)) for word in shlex.split(line)]
        own = [] if "--state" in words else ["--state", str(state)]
        done = CliRunner().invoke(tidemark, [*words, *own], terminal_width=100)
        refused = isinstance(done.exception, Refused)
        said = str(done.exception) if refused else _VARYING.sub("", done.output)
        for name, path in places.items():
            said = said.replace(str(path), name)
        code = "  # refused" if refused else f"  # exit code {done.exit_code}"
        lines = [each.rstrip() for each in said.strip().splitlines()]
        name = f"{len(parts):02} {re.sub('[^a-z.]+', ' ', line)}"
        parts[name] = "\n".join([f"$ tidemark {line}{code}", *filter(None, lines)])
    assert_last_seen(DIGESTS, "transcript", parts)
