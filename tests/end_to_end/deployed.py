"""A cloud of this process with the app deployed in it, and what is seen there."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from local.cloud.cloud import Cloud, start_cloud
from local.following import Run, RunClient
from local.stack import Stack
from suites import keys
from tests.policies.recording import recorded

ASKED = {
    "suite": "rocksdb", "versions": ["9.0.0", "9.8.4"], "baseline": "9.0.0", "repetitions": 1,
    "tasks": 2,
    "records": 5000, "note": "a note", "trigger": "cli",
}  # fmt: skip

_POLL_SECONDS = 0.1
_MOST_POLLS = 3000


@dataclass
class Deployed:
    """A cloud with the app in it, and every JSONata evaluation made there."""

    cloud: Cloud
    stack: Stack
    state: Path
    client: RunClient
    evaluations: list[tuple[str, dict, object]] = field(default_factory=list)

    def run(self, asked) -> tuple[Run, str, str]:
        """Start a run; return it with its execution's status and cause at its end."""
        run = self.client.start(asked)
        self.until(lambda: not self.client.active(run))
        return (run, *self.client.status(run))

    def stored(self, key: str) -> bytes:
        """Return an object of the results bucket."""
        s3 = self.cloud.endpoint.client("s3")
        return s3.get_object(Bucket=self.stack.bucket, Key=key)["Body"].read()

    def rows(self, run: Run, table: str) -> list[dict[str, Any]]:
        """Return the rows that a table holds of a run."""
        text = gzip.decompress(self.stored(keys.table(table, "rocksdb", run.run_id)))
        return [json.loads(line) for line in text.splitlines()]

    def invoke(self, output: str, event: object) -> Any:
        """Invoke the function that an output of the stack names; return its answer."""
        answer = self.cloud.endpoint.client("lambda").invoke(
            FunctionName=self.stack.outputs[output], Payload=json.dumps(event)
        )
        assert "FunctionError" not in answer
        return json.loads(answer["Payload"].read())

    def until(self, happened: Callable[[], object]) -> None:
        """Wait for something to happen."""
        for _ in range(_MOST_POLLS):
            if happened():
                return
            time.sleep(_POLL_SECONDS)
        pytest.fail(f"it did not happen within {_MOST_POLLS * _POLL_SECONDS:g} s")


@contextmanager
def deploy(state: Path, calls: Path, **options: Any) -> Iterator[Deployed]:
    """Have the app deployed while the context is open; what its roles call is left in ``calls``.

    ``options`` are those of ``start_cloud``.
    """
    evaluations = []
    lock = threading.Lock()

    def record(expression, bindings, value):
        with lock:
            evaluations.append((expression, dict(bindings), value))

    with (
        start_cloud(state, on_evaluate=record, **options) as cloud,
        recorded(calls) as recorder,
    ):
        stack = cloud.deploy()
        recorder.deployed(cloud.endpoint)
        client = RunClient(cloud.endpoint.client, stack)
        yield Deployed(cloud, stack, state, client, evaluations)
