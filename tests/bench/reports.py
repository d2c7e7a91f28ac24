"""How long the report of one run and a comparison of two versions take, among many runs.

The report is that of the newest run. Every run measures the baseline beside a version, which
``RUNS_OF_VERSION`` runs measure and then none any more.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from unittest.mock import patch

from moto.s3.models import s3_backends

from lambdas import comparing, publishing
from lambdas.aws import Bucket
from lambdas.comparing import compare
from lambdas.publishing import publish_report
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


def times(endpoint: Endpoint, newest: dict[int, tuple[str, str]]) -> dict[str, dict[int, int]]:
    """Return the least time that each takes [ms], by number of runs.

    ``newest`` has the bucket and the newest run of each number of runs.
    """
    made: dict[str, Callable[[Bucket, str], object]] = {
        "report of one run": publish_report,
        "comparison of two versions": lambda bucket, _: compare(bucket, _SUITE, _BASELINE, _NEW),
    }
    taken: dict[str, dict[int, float]] = {name: {} for name in made}
    with _without_the_script():
        for _ in range(_ROUNDS):
            for runs, (bucket, run_id) in newest.items():
                for name, make in made.items():
                    began = time.perf_counter()
                    make(Bucket(endpoint.client("s3"), bucket), run_id)
                    seconds = time.perf_counter() - began
                    taken[name][runs] = min(seconds, taken[name].get(runs, seconds))
    return {
        name: {runs: round(1000 * seconds) for runs, seconds in each.items()}
        for name, each in taken.items()
    }


@contextmanager
def _without_the_script() -> Iterator[None]:
    """Leave out the pages' script, which is the same however many runs there are."""
    with (
        patch.object(comparing, "packed_vega", lambda: ""),
        patch.object(publishing, "packed_vega", lambda: ""),
    ):
        yield
