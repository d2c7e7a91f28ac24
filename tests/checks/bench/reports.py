"""Times of the newest run's report and of a comparison of two versions, among many runs.

Every run measures the baseline and another version. ``RUNS_OF_VERSION`` consecutive runs measure
the same other version.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from typing import Any

from moto.s3.models import s3_backends

from aws.bucket import S3Bucket
from onebox.app import ACCOUNT
from onebox.cloud.endpoint import Endpoint
from onebox.cloud.objects import FileKey
from tests.unit.measured_runs import measured, planned
from tidemark.report.comparison.publishing import publish_comparison
from tidemark.report.run_report.publishing import publish_report
from tidemark.store import keys
from tidemark.store.bucket import Bucket

_SUITE = "rocksdb"
_BASELINE, _NEW = "9.0.0", "9.8.4"
_ROUNDS = 5
RUNS_OF_VERSION = 50


def store(bucket: str, run_ids: Iterable[str]) -> None:
    """Store the keys of two versions for each run, and the newest run's plan and trials."""
    newest_first = sorted(run_ids, reverse=True)
    plan = planned([_BASELINE, _NEW], name=newest_first[0])
    trials = [trial.model_copy(update={"run_id": plan.run_id}) for trial in measured(plan)]
    objects = {
        keys.plan(plan.run_id): plan.model_dump_json().encode(),
        **{keys.trial(plan.run_id, t.trial): t.model_dump_json().encode() for t in trials},
        **{
            keys.run_of_version(_SUITE, version, run_id): b""
            for place, run_id in enumerate(newest_first)
            for version in (_BASELINE, _version(place // RUNS_OF_VERSION))
        },
    }
    backend: Any = s3_backends[ACCOUNT]["aws"]  # moto takes our bodies, too
    with FileKey.files.transaction():
        for key, body in objects.items():
            backend.put_object(bucket, key, FileKey.files.write([body], part=True))


def _version(age: int) -> str:
    return f"{_NEW}-{age}" if age else _NEW


def times(endpoint: Endpoint, newest: dict[int, tuple[str, str]]) -> dict[str, dict[int, int]]:
    """Return the least time of each task [ms], by number of runs.

    ``newest`` has the bucket and the newest run for each number of runs.
    """
    tasks: dict[str, Callable[[Bucket, str], object]] = {
        "report of one run": publish_report,
        "comparison of two versions": lambda bucket, _: publish_comparison(
            bucket, _SUITE, _BASELINE, _NEW
        ),
    }
    least: dict[str, dict[int, float]] = {name: {} for name in tasks}
    for _ in range(_ROUNDS):
        for runs, (bucket, run_id) in newest.items():
            for name, make in tasks.items():
                start = time.perf_counter()
                make(S3Bucket(endpoint.client("s3"), bucket), run_id)
                seconds = time.perf_counter() - start
                least[name][runs] = min(seconds, least[name].get(runs, seconds))
    return {
        name: {runs: round(1000 * seconds) for runs, seconds in each.items()}
        for name, each in least.items()
    }
