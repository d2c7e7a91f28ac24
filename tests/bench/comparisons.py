"""How long a comparison of two versions takes, where many runs are known by their versions.

Every run measures the baseline beside a version, which ``RUNS_OF_VERSION`` runs measure and then
none any more.
"""

from __future__ import annotations

import time
from collections.abc import Iterable

from moto.s3.models import s3_backends

from lambdas import comparing
from lambdas.aws import Bucket
from lambdas.comparing import compare
from local.account import ACCOUNT
from local.cloud.endpoint import Endpoint
from local.cloud.objects import FileKey
from suites import keys
from tests.unit.lambdas.measured_runs import measured, planned

_SUITE = "rocksdb"
_BASELINE, _NEW = "9.0.0", "9.8.4"
_ROUNDS = 5
RUNS_OF_VERSION = 50


def store(bucket: str, run_ids: Iterable[str]) -> None:
    """Let runs have rates of two versions each, and the newest its plan and trials."""
    known = sorted(run_ids, reverse=True)
    plan = planned([_BASELINE, _NEW], name=known[0])
    trials = [trial.model_copy(update={"run_id": plan.run_id}) for trial in measured(plan)]
    objects = {
        keys.plan(plan.run_id): plan.model_dump_json().encode(),
        **{keys.trial(plan.run_id, t.trial): t.model_dump_json().encode() for t in trials},
        **{
            keys.run_of_version(_SUITE, version, run_id): b""
            for place, run_id in enumerate(known)
            for version in (_BASELINE, _version(place // RUNS_OF_VERSION))
        },
    }
    backend = s3_backends[ACCOUNT]["aws"]
    with FileKey.files.transaction():
        for key, body in objects.items():
            backend.put_object(bucket, key, body)


def _version(age: int) -> str:
    return f"{_NEW}-{age}" if age else _NEW


def times(endpoint: Endpoint, buckets: dict[int, str]) -> dict[int, int]:
    """Return the least time that a comparison takes [ms], by number of runs."""
    # The page's script is the same, however many runs there are.
    packed, comparing.packed_vega = comparing.packed_vega, lambda: ""
    try:
        taken: dict[int, list[float]] = {runs: [] for runs in buckets}
        for _ in range(_ROUNDS):
            for runs, name in buckets.items():
                began = time.perf_counter()
                compare(Bucket(endpoint.client("s3"), name), _SUITE, _BASELINE, _NEW)
                taken[runs].append(time.perf_counter() - began)
    finally:
        comparing.packed_vega = packed
    return {runs: round(1000 * min(each)) for runs, each in taken.items()}
