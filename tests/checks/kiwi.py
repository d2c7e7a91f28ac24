"""Kiwi TCMS's figures against Locust and access logs: ``python -m tests.checks.kiwi STATE``.

For each trial of the runs in a state folder, the means of ``bounded`` have to equal Locust's own
statistics to 1 %, and the servers of ``api_baseline`` and ``bounded`` must have logged exactly the
calls of their loads. Exit code 1 if a figure or a count differs, 2 if there is nothing to
compare, such as during a run, which has the folder open.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from pathlib import Path

from onebox.logs.store import LogStore
from onebox.store.index import ObjectFilesError
from onebox.store.object_files import ObjectFiles
from tidemark.cli.this_machine import has_results
from tidemark.model.checkout import written_stack
from tidemark.model.parameters import Value
from tidemark.model.results import TestResult, TrialResult
from tidemark.one_machine.stored import FileBucket, results_bucket
from tidemark.store.run_objects import all_trials
from tidemark.store.stored_plan import find_plan

_SUITE = "kiwi"
_TOLERANCE = 0.01
_OWN = re.compile(r"Locust INFO  - (\S+): (\d+) requests, \d+ failures, average (\S+) ms")
_MADE = re.compile(r"(?:Made|Left out) (\d+) requests")
_ACCESS = "Access: POST /json-rpc/ 200 "
# A user logs in and makes a plan, five cases in it, a build, a run and five open results.
_SET_UP = 1 + 5 + 3 + 2 * 5 + 1 + 1 + 1 + 5
# The calls of a short sequence, the searches, each kind after one that counts nowhere, and the
# sequences.
_SHORT, _SEARCHES, _JOBS = 15, 2 * 6, 3


class Logs:
    """The log lines of the tasks of one test."""

    def __init__(self, store: LogStore, test: TestResult) -> None:
        self._store, self._test = store, test

    def of(self, service: str) -> list[str]:
        """Return the lines of a service, or with '' of the test's own tasks."""
        tasks = [task for task in self._test.tasks if task.service == service]
        return [
            event.message
            for task in tasks
            for event in self._store.read(str(self._test.log_group), str(task.log_stream))
        ]

    def calls(self) -> int:
        """Return the calls that the server logged."""
        return sum(line.startswith(_ACCESS) for line in self.of("server"))


def expected_calls(test: TestResult, logs: Logs, parameters: Mapping[str, Value]) -> int:
    """Return the calls that the load made of the server."""
    if test.test == "api_baseline":
        r = int(parameters["r"])
        return 1 + _SHORT + _JOBS * 2 * (10 + 3 * r + 2 * r**2) + 1 + _SEARCHES
    made = [int(found[1]) for line in logs.of("") if (found := _MADE.search(line))]
    return int(parameters["users"]) * _SET_UP + sum(made)


def deviations(test: TestResult, logs: Logs) -> Iterator[float]:
    """Yield the deviation of each operation's mean from Locust's own, as a share."""
    means = {
        rate.labels["operation"]: rate.value
        for rate in test.rates
        if (rate.metric, rate.statistic) == ("latency", "mean")
    }
    own: defaultdict[str, list[tuple[int, float]]] = defaultdict(list)
    for found in filter(None, map(_OWN.search, logs.of(""))):
        own[found[1]].append((int(found[2]), float(found[3])))
    for operation, tasks in own.items():
        mean = sum(count * each for count, each in tasks) / sum(count for count, _ in tasks)
        yield abs((means[operation] or 0.0) / mean - 1)


def compared(
    trial: TrialResult, store: LogStore, parameters: Mapping[str, Value]
) -> Iterator[tuple[str, bool]]:
    """Print what each test of a trial shows; yield the name of each and whether it differs."""
    for test in trial.tests:
        name = f"trial {trial.trial} {test.test}"
        if test.status != "ok" or test.test == "unbounded":
            print(f"{name} of {trial.name}: {test.status}")
            continue
        logs = Logs(store, test)
        calls, expected = logs.calls(), expected_calls(test, logs, parameters)
        worst = max(deviations(test, logs), default=0.0)
        shown = f"{calls} of {expected} calls, means within {worst:.2e} of Locust's"
        print(f"{name} of {trial.name}: {shown}")
        yield name, calls != expected or worst > _TOLERANCE


def all_compared(state: Path) -> Iterator[tuple[str, bool]]:
    """Compare the tests of all trials in a state folder, as ``compared`` does."""
    store = LogStore(state / "logs")
    with closing(ObjectFiles(state / "objects")) as files:
        bucket = FileBucket(files, results_bucket(files, written_stack()))
        for run in sorted(bucket.folders("runs/")):
            plan = find_plan(bucket, run)
            if plan and plan.suite.name == _SUITE:
                for trial in all_trials(bucket, run):
                    yield from compared(trial, store, plan.request.parameters)


def main(words: Sequence[str]) -> int:
    """Compare the trials of a state folder; return the exit code."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("state", type=Path)
    state = parser.parse_args(words).state
    try:
        # To open a folder would make it.
        tests = list(all_compared(state)) if has_results(state) else []
    except ObjectFilesError as error:
        parser.error(str(error))
    if not tests:
        parser.error(f"state: {state} has no test of Kiwi TCMS to compare; expected one that is ok")
    wrong = [name for name, differs in tests if differs]
    print(f"{len(wrong)} of {len(tests)} tests differ" + "".join(f"; {name}" for name in wrong))
    return int(bool(wrong))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
