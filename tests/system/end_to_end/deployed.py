"""Cloud of this process with the deployed app, and access to its contents."""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from aws.client.deployed import deployed_stack
from onebox.cloud.cloud import Cloud, start_cloud
from tests.system.policies.recording import recorded
from tidemark.client.deployed import Deployed as App
from tidemark.client.deployed import Stack
from tidemark.client.runs import Run, RunClient
from tidemark.one_machine import app
from tidemark.store import keys
from tidemark.store.run_objects import all_trials

REQUEST = {
    "suite": "rocksdb", "versions": ["9.0.0", "9.8.4"], "baseline": "9.0.0", "repetitions": 1,
    "tasks": 2, "layout": "trials",
    "records": 5000, "note": "a note", "trigger": "cli",
}  # fmt: skip

_POLL_SECONDS = 0.2
_MOST_POLLS = 1500


@dataclass
class Deployed:
    """Cloud with the deployed app and a record of its JSONata evaluations."""

    cloud: Cloud
    stack: Stack
    state: Path
    app: App
    evaluations: list[tuple[str, dict, object]] = field(default_factory=list)

    @property
    def client(self) -> RunClient:
        """The client that starts and follows runs."""
        return self.app.runs

    def trials(self, run: Run) -> list[dict[str, Any]]:
        """Return the results of a run's finished trials as JSON has them."""
        return [
            trial.model_dump(mode="json") for trial in all_trials(self.client.bucket, run.run_id)
        ]

    def run(self, fields) -> tuple[Run, str, str]:
        """Measure a run to its end; return the run with the status and cause of its execution."""
        run = self.client.start(fields)
        self.until(lambda: not self.client.active(run))
        return (run, *self.client.status(run))

    def stored(self, key: str) -> bytes:
        """Return an object of the results bucket."""
        s3 = self.cloud.endpoint.client("s3")
        return s3.get_object(Bucket=self.stack.bucket, Key=key)["Body"].read()

    def rows(self, run: Run, table: str) -> list[dict[str, Any]]:
        """Return the rows of a run in a table."""
        text = gzip.decompress(self.stored(keys.table(table, "rocksdb", run.run_id)))
        return [json.loads(line) for line in text.splitlines()]

    def invoke(self, output: str, event: object) -> Any:
        """Invoke the function in an output of the stack; return the answer."""
        answer = self.cloud.endpoint.client("lambda").invoke(
            FunctionName=self.stack.outputs[output], Payload=json.dumps(event)
        )
        assert "FunctionError" not in answer
        return json.loads(answer["Payload"].read())

    def until(self, happened: Callable[[], object]) -> None:
        """Wait until ``happened`` returns a true value."""
        for _ in range(_MOST_POLLS):
            if happened():
                return
            time.sleep(_POLL_SECONDS)
        pytest.fail(f"the event did not happen within {_MOST_POLLS * _POLL_SECONDS:g} s")


@contextmanager
def deploy(
    state: Path, calls: Path, context: Mapping[str, Any] | None = None, **options: Any
) -> Iterator[Deployed]:
    """Deploy the app while the context is open and record the calls of its roles in ``calls``.

    ``context`` replaces settings of cdk.json; ``start_cloud`` takes the ``options``.
    """
    evaluations = []
    lock = threading.Lock()

    def record(expression, bindings, value):
        with lock:
            evaluations.append((expression, dict(bindings), value))

    with (
        start_cloud(app.machine_app(context), state, on_evaluate=record, **options) as cloud,
        recorded(calls) as recorder,
    ):
        stack = app.deploy(cloud)
        recorder.deployed(cloud.endpoint)
        client = deployed_stack(cloud.endpoint.client, stack, poll_seconds=0.1)
        yield Deployed(cloud, stack, state, client, evaluations)
