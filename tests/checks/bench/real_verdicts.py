"""``python -m tests.checks.bench.real_verdicts``: how often verdicts on real runs are right.

One run measures one RocksDB under five names, four of them slowed by a known percentage. Its whole
repetitions, drawn again and again with replacement, make the runs until decided that are counted.
The program prints a table for docs/verdicts.md. It takes an hour on a machine without other work.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from rich.console import Console

from aws.client.deployed import deployed_stack
from local.cloud.cloud import start_cloud
from tests.checks.bench.drawn_verdicts import tables
from tests.checks.bench.slowed_rocksdb import write_system
from tidemark.cli.live import follow
from tidemark.model.results import TrialResult

REPETITIONS, RECORDS = 60, 1_000_000


def measured(repetitions: int, records: int) -> list[TrialResult]:
    """Return the trials of one run of all slowed versions on this machine."""
    console = Console(stderr=True)
    with tempfile.TemporaryDirectory() as folder:
        system, state = Path(folder) / "system", Path(folder) / "state"
        write_system(system)
        fields = {"suite": "rocksdb", "repetitions": repetitions, "records": records}
        with start_cloud(state, context={"systems": str(system)}) as cloud:
            client = deployed_stack(cloud.endpoint.client, cloud.deploy(), poll_seconds=0.1).runs
            run = client.start(fields)
            follow(client, run, 1, console)
            return list(client.results.trials(run.run_id))


if __name__ == "__main__":
    repetitions, records = map(int, sys.argv[1:] or (REPETITIONS, RECORDS))
    sys.stdout.writelines(tables(measured(repetitions, records)))
