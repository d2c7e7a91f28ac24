"""The objects of what a run has measured: its trials, the tests of a trial, and exclusions."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice

from tidemark.model.exclusions import Exclusion, Exclusions
from tidemark.model.plan import Plan
from tidemark.model.results import TestResult, TrialResult
from tidemark.store import keys
from tidemark.store.bucket import Bucket


def read_trial(bucket: Bucket, run_id: str, trial: int) -> TrialResult:
    """Return one recorded trial."""
    return TrialResult.model_validate_json(bucket.read(keys.trial(run_id, trial)))


def read_trials(bucket: Bucket, run_id: str) -> list[TrialResult]:
    """Return the recorded trials of a run, in order."""
    return list(each_trial(bucket, run_id))


def each_trial(bucket: Bucket, run_id: str, skipped: int = 0) -> Iterator[TrialResult]:
    """Yield the recorded trials of a run, in order, without the first ``skipped``."""
    return _below(bucket, keys.trials(run_id), skipped)


def each_profiled(bucket: Bucket, plan: Plan, skipped: int = 0) -> Iterator[TrialResult]:
    """Yield the recorded profiled trials of a run, in order, without the first ``skipped``."""
    return _below(bucket, keys.profiled_trials(plan.run_id), skipped) if plan.profiled else iter(())


def _below(bucket: Bucket, prefix: str, skipped: int) -> Iterator[TrialResult]:
    for key in islice(bucket.keys(prefix), skipped, None):
        yield TrialResult.model_validate_json(bucket.read(key))


def read_exclusions(bucket: Bucket, run_id: str) -> Exclusions:
    """Return the exclusions of a run."""
    return Exclusions(
        {
            key.rsplit("/", 1)[-1].removesuffix(".json"): Exclusion.model_validate_json(
                bucket.read(key)
            )
            for key in bucket.keys(keys.exclusions(run_id))
        }
    )


def read_measured(bucket: Bucket, run_id: str, trial: int) -> dict[str, TestResult]:
    """Return the results of a trial's tests so far, by test; empty once the trial is recorded."""
    # Another process may record the trial and delete the results during this read.
    stored = [bucket.find(key) for key in bucket.keys(keys.measurements(run_id, trial))]
    results = [TestResult.model_validate_json(tagged.body) for tagged in stored if tagged]
    return {result.test: result for result in results}


def record(bucket: Bucket, result: TrialResult) -> bool:
    """Write a trial's result unless it is stored already; tell whether it was written."""
    key = keys.trial(result.run_id, result.trial)
    return bucket.write_once(key, result.model_dump_json().encode())
