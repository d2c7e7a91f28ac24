"""The objects of what a run has measured: its trials, exclusions, and the files of its report."""

from __future__ import annotations

import re
import secrets
from collections.abc import Collection, Iterator
from datetime import UTC, datetime
from pathlib import PurePosixPath

from tidemark.model.comment import IMAGE, Comment
from tidemark.model.plan import Plan
from tidemark.model.results import Exclusion, Exclusions, TestResult, TrialResult
from tidemark.model.run_id import is_profiled
from tidemark.store import keys
from tidemark.store.bucket import Bucket


def read_trial(bucket: Bucket, run_id: str, trial: int) -> TrialResult:
    """Return one recorded trial."""
    return TrialResult.model_validate_json(bucket.read(keys.trial(run_id, trial)))


def all_trials(bucket: Bucket, run_id: str) -> Iterator[TrialResult]:
    """Yield the recorded trials of a run, the profiled trials behind the others."""
    return (read_trial(bucket, run_id, number) for number in recorded_trials(bucket, run_id))


def recorded_trials(bucket: Bucket, run_id: str, after: int = 0) -> list[int]:
    """Return the numbers of a run's recorded trials beyond trial ``after``, in order.

    The profiled trials are among them.
    """
    last, profiled = keys.trial(run_id, after), is_profiled(after)
    counted = () if profiled else bucket.keys(keys.trials(run_id), after=last)
    behind = bucket.keys(keys.profiled_trials(run_id), after=last if profiled else "")
    return [int(PurePosixPath(key).stem) for key in (*counted, *behind)]


def finished_tests(bucket: Bucket, run_id: str, trial: int) -> Collection[TestResult]:
    """Return the results of a trial's finished tests, also before the trial is recorded."""
    measured = read_measured(bucket, run_id, trial)
    recorded = trial in recorded_trials(bucket, run_id, after=trial - 1)
    return read_trial(bucket, run_id, trial).tests if recorded else measured.values()


def read_trials(bucket: Bucket, run_id: str) -> list[TrialResult]:
    """Return the recorded trials of a run, in order."""
    return list(_below(bucket, keys.trials(run_id)))


def each_profiled(bucket: Bucket, plan: Plan) -> Iterator[TrialResult]:
    """Yield the recorded profiled trials of a run, in order."""
    return _below(bucket, keys.profiled_trials(plan.run_id)) if plan.profiled else iter(())


def _below(bucket: Bucket, prefix: str) -> Iterator[TrialResult]:
    for key in bucket.keys(prefix):
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


def is_excluded(bucket: Bucket, run_id: str, trial: int | None) -> bool:
    """Tell whether a trial, or the whole run if there is no trial, is itself excluded."""
    stored = bucket.find(keys.exclusion(run_id, trial))
    return bool(stored and Exclusion.model_validate_json(stored.body).excluded)


def exclude(bucket: Bucket, run_id: str, trial: int | None, reason: str, *, excluded: bool) -> None:
    """Exclude or include a trial or the whole run; recording its rates updates the figures."""
    exclusion = Exclusion(excluded=excluded, reason=reason, at=datetime.now(UTC))
    bucket.write(keys.exclusion(run_id, trial), exclusion.model_dump_json().encode())


def read_comments(bucket: Bucket, run_id: str) -> list[Comment]:
    """Return the comments on a run and on comparisons with its versions, the oldest first."""
    found = map(bucket.read, bucket.keys(keys.comments(run_id)))
    return [Comment.model_validate_json(body) for body in found]


def add_comment(bucket: Bucket, run_id: str, comment: Comment) -> None:
    """Store a comment beside a run."""
    name = f"{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(3)}"
    bucket.write_once(keys.comment(run_id, name), comment.model_dump_json().encode())


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


def newest_runs(bucket: Bucket, suite: str) -> Iterator[str]:
    """Yield the ended and the imported runs of a suite, the newest first."""
    for key in reversed(list(bucket.keys(keys.tables("runs", suite)))):
        yield PurePosixPath(key).name.removesuffix(keys.ROWS)


def is_indexed(bucket: Bucket, suite: str, version: str) -> bool:
    """Tell whether a comparison can find a run of a version without the run's id."""
    return any(bucket.keys(keys.runs_of(suite, version)))


def find_report(bucket: Bucket, suite: str, run_id: str, file: str) -> bytes | None:
    """Return a file of a run's report, None if it does not exist."""
    stored = bucket.find(keys.report(suite, run_id, file))
    return stored.body if stored else None


def files_beside(bucket: Bucket, suite: str, run_id: str) -> list[str]:
    """Return the files of comparisons and the images of comments beside a run's report."""
    files = (PurePosixPath(key).name for key in bucket.keys(keys.report(suite, run_id, "")))
    return [file for file in files if keys.AGAINST in file or re.fullmatch(IMAGE, file)]
