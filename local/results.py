"""What runs left in the results bucket, read and marked from outside the cloud."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from local.stack import Stack
from suites import keys
from suites.plan import Plan
from suites.refusal import Refused


@dataclass(frozen=True)
class Progress:
    """How many of a run's trials are recorded."""

    recorded: int
    planned: int


class Results:
    """The results of one deployed stack. ``client`` gives a boto3 client by the service's name."""

    def __init__(self, client: Callable[[str], Any], stack: Stack) -> None:
        self._client = client
        self._s3 = client("s3")
        self._lambda = client("lambda")
        self._stack = stack

    def plan(self, run_id: str) -> Plan | None:
        """Return a run's plan, None as long as there is none."""
        body = self._read(keys.plan(run_id))
        return Plan.model_validate_json(body) if body else None

    def outcome(self, run_id: str) -> dict[str, Any] | None:
        """Return how a run ended, None if it has not."""
        body = self._read(keys.outcome(run_id))
        return json.loads(body) if body else None

    def claims(self) -> dict[str, str]:
        """Return the runs that go on, or whose execution died, and the ARN of the execution."""
        found = [json.loads(body) for key in self._keys(keys.CLAIMS) if (body := self._read(key))]
        return {claim["run_id"]: claim["execution_arn"] for claim in found}

    def recorded(self, run_id: str, after: int = 0) -> list[int]:
        """Return the numbers of a run's finished trials beyond trial ``after``, in order."""
        stored = self._keys(keys.trials(run_id), keys.trial(run_id, after))
        return [int(Path(key).stem) for key in stored]

    def trial(self, run_id: str, number: int) -> dict[str, Any]:
        """Return the result of a finished trial."""
        trial: dict[str, Any] = json.loads(self._read(keys.trial(run_id, number)) or "")
        return trial

    def trials(self, run_id: str) -> Iterator[dict[str, Any]]:
        """Yield the results of a run's finished trials."""
        return (self.trial(run_id, number) for number in self.recorded(run_id))

    def progress(self, run_id: str) -> Progress | None:
        """Return what a run has measured, None if nothing was planned."""
        plan = self.plan(run_id)
        return Progress(len(self.recorded(run_id)), len(plan.trials)) if plan else None

    def report(self, suite: str, run_id: str, file: str) -> bytes | None:
        """Return a file of a run's report, None if there is none."""
        return self._read(keys.report(suite, run_id, file))

    def comparisons(self, suite: str, run_id: str) -> list[str]:
        """Return the files of the comparisons that stand with a run's report, in order."""
        stored = self._keys(keys.report(suite, run_id, ""))
        return [file for key in stored if keys.AGAINST in (file := Path(key).name)]

    def is_marked(self, run_id: str, trial: int | None) -> bool:
        """Return whether a trial, or the whole run, is excluded by itself."""
        body = self._read(keys.exclusion(run_id, trial))
        return bool(body and json.loads(body)["excluded"])

    def mark(self, run_id: str, trial: int | None, reason: str, *, excluded: bool) -> None:
        """Exclude a trial, or the whole run, from every figure, or include it again."""
        said = {"excluded": excluded, "reason": reason, "at": datetime.now(UTC).isoformat()}
        self._s3.put_object(
            Bucket=self._stack.bucket,
            Key=keys.exclusion(run_id, trial),
            Body=json.dumps(said).encode(),
        )
        self._invoke("RecordRatesFunction", run_id=run_id)
        self.rebuild_report(run_id)
        # No run has ended, of which the reports in QuickSight would learn.
        if machine := self._stack.outputs.get("RefreshStateMachine"):
            self._client("stepfunctions").start_execution(stateMachineArn=machine)

    def rebuild_report(self, run_id: str) -> None:
        """Make a run's report again from what is stored."""
        self._invoke("PublishReportFunction", run_id=run_id)

    def is_compared(self, suite: str, version: str) -> bool:
        """Return whether a comparison finds a run of a version by that version alone."""
        return any(self._keys(keys.runs_of(suite, version)))

    def compare(self, suite: str, base: str, new: str) -> dict[str, str]:
        """Make the comparison of two versions; return the key of each form, ``md`` and ``html``.

        Raises
        ------
        Refused
            If a side is not stored.

        """
        return self._invoke("PublishComparisonFunction", suite=suite, base=base, new=new)

    def read(self, key: str) -> bytes:
        """Return an object's body; AssertionError if there is none."""
        body = self._read(key)
        assert body is not None, f"{key} is not there"
        return body

    def end(self, execution_arn: str) -> None:
        """Have the run of an execution ended that is gone, soon."""
        self._lambda.invoke(
            FunctionName=self._stack.outputs["EndRunFunction"],
            InvocationType="Event",
            Payload=json.dumps({"detail": {"executionArn": execution_arn, "status": "GONE"}}),
        )

    def _invoke(self, output: str, **event: str) -> dict[str, Any]:
        answer = self._lambda.invoke(
            FunctionName=self._stack.outputs[output], Payload=json.dumps(event)
        )
        said: dict[str, Any] = json.loads(answer["Payload"].read())
        if "FunctionError" in answer:
            if said["errorType"] == "Refused":
                raise Refused(said["errorMessage"])
            raise RuntimeError(f"{output} failed: {said['errorType']}: {said['errorMessage']}")
        return said

    def _keys(self, prefix: str, after: str = "") -> Iterator[str]:
        pages = self._s3.get_paginator("list_objects_v2")
        for page in pages.paginate(Bucket=self._stack.bucket, Prefix=prefix, StartAfter=after):
            for entry in page.get("Contents", []):
                yield entry["Key"]

    def _read(self, key: str) -> bytes | None:
        try:
            answer = self._s3.get_object(Bucket=self._stack.bucket, Key=key)
        except self._s3.exceptions.NoSuchKey:
            return None
        body = answer["Body"].read()
        assert isinstance(body, bytes)
        return body
