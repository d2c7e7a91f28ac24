"""The permissions of each function: its keys in the results bucket, and its services."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from cdk.policies import uncovered
from tidemark.model.profile import PROFILE_FILE
from tidemark.model.suite import Suite
from tidemark.money.prices import FUNCTION_MEMORY, REPORT_MEMORY, TRIALS_MEMORY
from tidemark.store import keys


@dataclass(frozen=True)
class Needs:
    """Permissions of one function, key patterns of the bucket among them, and its limits."""

    reads: Sequence[str] = ()
    writes: Sequence[str] = ()
    lists: Sequence[str] = ()
    deletes: Sequence[str] = ()
    queries: Sequence[str] = ()
    """The suites whose log groups it queries."""
    queries_usage: bool = False
    tasks: Sequence[str] = ()
    """The actions on the tasks of the cluster."""
    announces: bool = False
    reads_releases: bool = False
    reads_quotas: bool = False
    reads_instances: bool = False
    pauses_rules: bool = False
    resumes_rules: bool = False
    reads_backlogs: bool = False
    registers_images: bool = False
    timeout_seconds: int = 30
    memory: int = FUNCTION_MEMORY
    """[MiB]."""

    @classmethod
    def union(cls, parts: Collection[Needs]) -> Needs:
        """Return the needs of a function that does the work of several functions."""
        values = ((each.name, [getattr(part, each.name) for part in parts]) for each in fields(cls))
        return cls(**{name: _union(found) for name, found in values})


def _union(values: Sequence[Any]) -> Any:  # noqa: ANN401 (of a field)
    """Return the greatest number, True if one of them is, or the patterns of all together."""
    if isinstance(values[0], int):
        return max(values)
    return uncovered(pattern for each in values for pattern in each)


_DESCRIBE_TASKS = "ecs:DescribeTasks"
_STOP_TASK = "ecs:StopTask"
# ListTasks does not return a task's group, which names its run.
FIND_TASKS = ("ecs:ListTasks", _DESCRIBE_TASKS)
END_TASKS = (*FIND_TASKS, _STOP_TASK)
# In a policy * stands for any text, / included.
_ANY = "*"
_CLAIMS = f"{keys.CLAIMS}*"
_PLAN = keys.plan(_ANY)
_TRIALS = f"{keys.trials(_ANY)}*"
_PROFILED = f"{keys.profiled_trials(_ANY)}*"
_EXCLUSIONS = f"{keys.exclusions(_ANY)}*"
_RESUMES = f"{keys.resumes(_ANY)}*"
_COMMENTS = f"{keys.comments(_ANY)}*"
_OUTCOME = keys.outcome(_ANY)
_RESTORE = keys.restore(_ANY)
_WORK = f"{keys.WORK}*"
_STANDING = keys.standing(_ANY)
_MEASURED = f"{keys.WORK}*/measured/*"
_DATA = f"{keys.DATA}*"
_COURSES = f"{keys.COURSES}*"
_HISTORY = f"{keys.HISTORY}*"
_ALARMS = keys.alarms(_ANY)
_VERSIONS = f"{keys.VERSIONS}*"
_REPORTS = f"{keys.REPORTS}*"
_PROFILES = f"{keys.PROFILES}*"


def _rows(table: str) -> str:
    return f"{keys.rows(table)}*"


_RUN = [_PLAN, _TRIALS, _EXCLUSIONS, _RESUMES]
_ENDED_RUN = [*_RUN, _OUTCOME]

RECORDING: Mapping[str, Needs] = {
    "RecordRates": Needs(
        reads=_RUN,
        writes=[
            _rows("rates"),
            _rows("task_rates"),
            _rows("task_usage"),
            _rows("latest_rates"),
            _rows("version_rates"),
            _rows("verdicts"),
        ],
        lists=[
            _TRIALS,
            _EXCLUSIONS,
            _RESUMES,
            _COMMENTS,
            _rows("latest_rates"),
        ],
        deletes=[_rows("latest_rates")],
        timeout_seconds=240,
        memory=TRIALS_MEMORY,
    ),
    "PublishReport": Needs(
        reads=[*_ENDED_RUN, _HISTORY, _COMMENTS],
        writes=[
            _REPORTS,
            _VERSIONS,
            keys.history(_ANY),
            keys.history_windows(_ANY),
            _ALARMS,
            _rows("changes"),
        ],
        lists=[
            _TRIALS,
            _EXCLUSIONS,
            _RESUMES,
            _COMMENTS,
            _OUTCOME,
            _HISTORY,
            _rows("changes"),
        ],
        deletes=[_VERSIONS, _rows("changes")],
        timeout_seconds=240,
        memory=REPORT_MEMORY,
    ),
    "RecordOutcome": Needs(
        reads=[_CLAIMS, *_ENDED_RUN, _ALARMS],
        writes=[_OUTCOME, _rows("runs")],
        lists=[_CLAIMS, *_ENDED_RUN, _REPORTS, _WORK, _ALARMS],
        deletes=[_CLAIMS, _WORK],
        announces=True,
        timeout_seconds=240,
        memory=TRIALS_MEMORY,
    ),
}

# CollectRates copies what tasks left. The tasks themselves cannot write to the results.
LEVELS = Needs(
    reads=[_COURSES],
    writes=[_COURSES, f"{keys.DATA}*/levels/*"],
    lists=[_COURSES],
)
"""CheckCondition sets the levels of a load, which its agents read, and keeps its course apart."""
ARTEFACTS = Needs(reads=[_DATA], writes=[f"{keys.ARTEFACTS}*"], lists=[_DATA])

PROFILED = Needs(reads=[_PROFILED], lists=[_PROFILED])
"""The profiled trials, which RecordOutcome counts in the cost of a run."""
PROFILING: Mapping[str, Needs] = {
    "PlanRun": Needs(lists=[_PROFILED]),
    "ChooseTrial": Needs.union([PROFILED, Needs(writes=[_PROFILED])]),
    # It holds the stacks of all tasks of a test.
    "RecordTrial": Needs(
        reads=[_PROFILED, f"{keys.ARTEFACTS}*/{PROFILE_FILE}"],
        writes=[_PROFILED, _PROFILES, _rows("profiles")],
        timeout_seconds=240,
        memory=TRIALS_MEMORY,
    ),
    "RecordOutcome": PROFILED,
    **{
        name: Needs.union([PROFILED, Needs(reads=[_PROFILES], lists=[_PROFILES])])
        for name in ("PublishReport", "PublishComparison", "EndRun", "SweepRuns")
    },
}
"""The further needs of a suite with a profiler."""

# The record of paused rules is replayed by whatever ends a trial or a run.
RESUMING = Needs(
    reads=[_RESTORE],
    lists=[_RESTORE],
    deletes=[_RESTORE],
    resumes_rules=True,
)
PAUSING = Needs(reads=[_RESTORE], writes=[_RESTORE], lists=[_RESTORE], pauses_rules=True)

ENDING = Needs(
    reads=[_MEASURED],
    writes=[_TRIALS],
    lists=[_MEASURED],
    tasks=END_TASKS,
)

FUNCTIONS: Mapping[str, Needs] = {
    "PlanRun": Needs(
        reads=[_CLAIMS, _PLAN, _RESUMES],
        writes=[_CLAIMS, _PLAN, _RESUMES],
        lists=[_CLAIMS, _PLAN, _RESUMES, _TRIALS],
        reads_releases=True,
        reads_quotas=True,
        reads_instances=True,
    ),
    "ChooseTrial": Needs(
        reads=[
            _PLAN,
            _TRIALS,
            _EXCLUSIONS,
            _MEASURED,
            _STANDING,
            # A scheduled run with a budget goes on if its history suspects a new level.
            keys.history(_ANY),
            keys.history_windows(_ANY),
        ],
        # A search writes its plan again for each further comparison.
        writes=[_PLAN, _TRIALS, _STANDING],
        lists=[
            _TRIALS,
            _EXCLUSIONS,
            _MEASURED,
            _STANDING,
            _DATA,
            keys.history(_ANY),
            keys.history_windows(_ANY),
        ],
        deletes=[_MEASURED, _DATA],
        # The first choice of a resumed run with a budget, or until decided, reads every trial.
        timeout_seconds=240,
    ),
    "PrepareTrial": Needs(reads=[_PLAN], reads_instances=True, registers_images=True),
    "ClassifyStop": Needs(),
    "CollectRates": Needs(
        reads=[_PLAN],
        writes=[_MEASURED],
        reads_instances=True,
        queries_usage=True,
        tasks=END_TASKS,
        timeout_seconds=900,
    ),
    # These four do nothing in a deployment whose suites have no such steps.
    "CheckCondition": Needs(timeout_seconds=900),
    "FindTasks": Needs(timeout_seconds=240),
    "StopServices": Needs(timeout_seconds=240),
    "PauseRules": Needs(timeout_seconds=240),
    "CleanUpTrial": Needs(lists=[_DATA], deletes=[_DATA], timeout_seconds=240),
    "RecordTrial": Needs(
        reads=[_PLAN, _TRIALS, _MEASURED],
        writes=[_TRIALS],
        lists=[_MEASURED],
        deletes=[_MEASURED],
    ),
    "PublishComparison": Needs(
        reads=[*_ENDED_RUN, _COMMENTS],
        writes=[_REPORTS],
        lists=[_VERSIONS, *_ENDED_RUN, _COMMENTS],
        timeout_seconds=240,
        memory=REPORT_MEMORY,
    ),
    **RECORDING,
    # Both record a run whose execution died before the states of RECORDING, or in RecordTrial.
    "EndRun": Needs.union([*RECORDING.values(), ENDING]),
    "SweepRuns": Needs.union([*RECORDING.values(), ENDING]),
}


def needs_of(suites: Iterable[Suite]) -> Mapping[str, Needs]:
    """Return the needs of each function in a deployment of suites."""
    deployed = list(suites)
    more: defaultdict[str, list[Needs]] = defaultdict(list)
    if any(suite.profiler for suite in deployed):
        more |= {name: [needs] for name, needs in PROFILING.items()}
    for suite in deployed:
        for name, needs in _needs_for(suite):
            more[name] += [needs]
    return {
        name: Needs.union([needs, *more[name]]) if name in more else needs
        for name, needs in FUNCTIONS.items()
    }


def _needs_for(suite: Suite) -> Iterator[tuple[str, Needs]]:
    """Yield the function and its needs for each thing that not every suite has."""
    yield "CollectRates", Needs(queries=[suite.name])
    if suite.services:
        checking = Needs(reads=[_PLAN], queries=[suite.name], tasks=[_DESCRIBE_TASKS])
        yield "CheckCondition", checking
        yield "StopServices", Needs(tasks=[_DESCRIBE_TASKS, _STOP_TASK])
    if suite.conditions:
        yield "CheckCondition", Needs(reads=[_PLAN], queries=[suite.name])
    if suite.awaited_queues or suite.awaited_clusters:
        yield "CheckCondition", Needs(reads=[_PLAN], reads_backlogs=True)
    if suite.loads:
        yield "CheckCondition", LEVELS
        yield "CollectRates", Needs(reads=[_COURSES], lists=[_COURSES])
    if suite.found_clusters:
        yield "FindTasks", Needs(reads=[_PLAN])
    if suite.keeps_files:
        yield "CollectRates", ARTEFACTS
    if suite.rules:
        yield "PauseRules", PAUSING
        for name in ("CleanUpTrial", "RecordOutcome", "EndRun", "SweepRuns"):
            yield name, RESUMING
