"""The permissions of each function: its keys in the results bucket, and its services."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from cdk.policy_statements import uncovered
from tidemark.model.sampling import PROFILE_FILE
from tidemark.model.suite import Suite
from tidemark.money.prices import FUNCTION_MEMORY, REPORT_MEMORY, TRIALS_MEMORY
from tidemark.store import keys
from tidemark.store.keys import DATA


@dataclass(frozen=True)
class Needs:
    """Permissions of one function, key patterns of the bucket among them, and its limits."""

    reads: Sequence[str] = ()
    writes: Sequence[str] = ()
    lists: Sequence[str] = ()
    deletes: Sequence[str] = ()
    queries_logs: bool = False
    announces: bool = False
    reads_releases: bool = False
    reads_quotas: bool = False
    reads_instances: bool = False
    pauses_rules: bool = False
    resumes_rules: bool = False
    reads_backlogs: bool = False
    stops_tasks: bool = False
    registers_images: bool = False
    timeout_seconds: int = 30
    memory: int = FUNCTION_MEMORY
    """[MiB]."""

    @classmethod
    def union(cls, parts: Collection[Needs]) -> Needs:
        """Return the needs of a function that does the work of several functions."""
        return cls(
            reads=_distinct(needs.reads for needs in parts),
            writes=_distinct(needs.writes for needs in parts),
            lists=_distinct(needs.lists for needs in parts),
            deletes=_distinct(needs.deletes for needs in parts),
            queries_logs=any(needs.queries_logs for needs in parts),
            announces=any(needs.announces for needs in parts),
            reads_releases=any(needs.reads_releases for needs in parts),
            reads_quotas=any(needs.reads_quotas for needs in parts),
            reads_instances=any(needs.reads_instances for needs in parts),
            pauses_rules=any(needs.pauses_rules for needs in parts),
            resumes_rules=any(needs.resumes_rules for needs in parts),
            reads_backlogs=any(needs.reads_backlogs for needs in parts),
            stops_tasks=any(needs.stops_tasks for needs in parts),
            registers_images=any(needs.registers_images for needs in parts),
            timeout_seconds=max(needs.timeout_seconds for needs in parts),
            memory=max(needs.memory for needs in parts),
        )


def _distinct(lists: Iterable[Sequence[str]]) -> Sequence[str]:
    return uncovered(pattern for each in lists for pattern in each)


_RUN = ["runs/*/plan.json", "runs/*/trials/*", "runs/*/exclusions/*", "runs/*/resumes/*"]
_ENDED_RUN = [*_RUN, "runs/*/outcome.json"]

RECORDING: Mapping[str, Needs] = {
    "RecordRates": Needs(
        reads=_RUN,
        writes=[
            "tables/rates/*",
            "tables/task_rates/*",
            "tables/task_usage/*",
            "tables/latest_rates/*",
            "tables/verdicts/*",
        ],
        lists=[
            "runs/*/trials/*",
            "runs/*/exclusions/*",
            "runs/*/resumes/*",
            "tables/latest_rates/*",
        ],
        deletes=["tables/latest_rates/*"],
        timeout_seconds=240,
        memory=TRIALS_MEMORY,
    ),
    "PublishReport": Needs(
        reads=[*_ENDED_RUN, "history/*"],
        writes=[
            "reports/*",
            "versions/*",
            "history/*/runs.json",
            "history/*/alarms.json",
            "tables/changes/*",
        ],
        lists=[
            "runs/*/trials/*",
            "runs/*/exclusions/*",
            "runs/*/resumes/*",
            "runs/*/outcome.json",
            "history/*",
            "tables/changes/*",
        ],
        deletes=["versions/*", "tables/changes/*"],
        timeout_seconds=240,
        memory=REPORT_MEMORY,
    ),
    "RecordOutcome": Needs(
        reads=["claims/*", *_ENDED_RUN, "history/*/alarms.json"],
        writes=["runs/*/outcome.json", "tables/runs/*"],
        lists=["claims/*", *_ENDED_RUN, "reports/*", "work/*", "history/*/alarms.json"],
        deletes=["claims/*", "work/*"],
        announces=True,
        timeout_seconds=240,
        memory=TRIALS_MEMORY,
    ),
}

# CollectRates copies what tasks left. The tasks themselves cannot write to the results.
LEVELS = Needs(
    reads=[f"{keys.COURSES}*"],
    writes=[f"{keys.COURSES}*", f"{DATA}*/levels/*"],
    lists=[f"{keys.COURSES}*"],
)
"""CollectRates sets the levels of a load, which its agents read, and keeps its course apart."""
ARTEFACTS = Needs(reads=[f"{DATA}*"], writes=[f"{keys.ARTEFACTS}*"], lists=[f"{DATA}*"])

PROFILED = Needs(reads=["runs/*/profiled/*"], lists=["runs/*/profiled/*"])
"""The profiled trials, which RecordOutcome counts in the cost of a run."""
PROFILING: Mapping[str, Needs] = {
    "PlanRun": Needs(lists=["runs/*/profiled/*"]),
    "ChooseTrial": Needs.union([PROFILED, Needs(writes=["runs/*/profiled/*"])]),
    # It holds the stacks of all tasks of a test.
    "RecordTrial": Needs(
        reads=["runs/*/profiled/*", f"{keys.ARTEFACTS}*/{PROFILE_FILE}"],
        writes=["runs/*/profiled/*", "profiles/*", "tables/profiles/*"],
        timeout_seconds=240,
        memory=TRIALS_MEMORY,
    ),
    "RecordOutcome": PROFILED,
    **{
        name: Needs.union([PROFILED, Needs(reads=["profiles/*"], lists=["profiles/*"])])
        for name in ("PublishReport", "PublishComparison", "EndRun", "SweepRuns")
    },
}
"""The needs of a suite with a profiler, beside those of every suite."""
BACKLOGS = Needs(reads_backlogs=True)

# The record of paused rules is replayed by whatever ends a trial or a run.
RESUMING = Needs(
    reads=["runs/*/restore.json"],
    lists=["runs/*/restore.json"],
    deletes=["runs/*/restore.json"],
    resumes_rules=True,
)
PAUSING = Needs(writes=["runs/*/restore.json"], pauses_rules=True)

FUNCTIONS: Mapping[str, Needs] = {
    "PlanRun": Needs(
        reads=["claims/*", "runs/*/plan.json", "runs/*/resumes/*"],
        writes=["claims/*", "runs/*/plan.json", "runs/*/resumes/*"],
        lists=["claims/*", "runs/*/plan.json", "runs/*/resumes/*", "runs/*/trials/*"],
        reads_releases=True,
        reads_quotas=True,
        reads_instances=True,
    ),
    "ChooseTrial": Needs(
        reads=[
            "runs/*/plan.json",
            "runs/*/trials/*",
            "runs/*/exclusions/*",
            "work/*/measured/*",
            "work/*/standing.json",
        ],
        # A search writes its plan again for each further comparison.
        writes=["runs/*/plan.json", "runs/*/trials/*", "work/*/standing.json"],
        lists=[
            "runs/*/trials/*",
            "runs/*/exclusions/*",
            "work/*/measured/*",
            "work/*/standing.json",
            f"{DATA}*",
        ],
        deletes=["work/*/measured/*", f"{DATA}*"],
        # The first choice of a resumed run with a budget, or until decided, reads every trial.
        timeout_seconds=240,
    ),
    "PrepareTrial": Needs(reads=["runs/*/plan.json"], reads_instances=True, registers_images=True),
    "ClassifyStop": Needs(),
    "CollectRates": Needs(
        reads=["runs/*/plan.json"],
        writes=["work/*/measured/*"],
        reads_instances=True,
        queries_logs=True,
        stops_tasks=True,
        timeout_seconds=900,
    ),
    "RestoreSystem": Needs(lists=[f"{DATA}*"], deletes=[f"{DATA}*"], timeout_seconds=240),
    "RecordTrial": Needs(
        reads=["runs/*/plan.json", "runs/*/trials/*", "work/*/measured/*"],
        writes=["runs/*/trials/*"],
        lists=["work/*/measured/*"],
        deletes=["work/*/measured/*"],
    ),
    "PublishComparison": Needs(
        reads=_ENDED_RUN,
        writes=["reports/*"],
        lists=["versions/*", *_ENDED_RUN],
        timeout_seconds=240,
        memory=REPORT_MEMORY,
    ),
    **RECORDING,
    # Both record a run whose execution died before the states of RECORDING.
    "EndRun": Needs.union([*RECORDING.values(), Needs(stops_tasks=True)]),
    "SweepRuns": Needs.union([*RECORDING.values(), Needs(stops_tasks=True)]),
}


def needs_of(suites: Iterable[Suite]) -> Mapping[str, Needs]:
    """Return the needs of each function in a deployment of suites."""
    deployed = list(suites)
    more: defaultdict[str, list[Needs]] = defaultdict(list)
    if any(suite.profiler for suite in deployed):
        more |= {name: [needs] for name, needs in PROFILING.items()}
    if any(suite.keeps_files for suite in deployed):
        more["CollectRates"] += [ARTEFACTS]
    if any(suite.loads for suite in deployed):
        more["CollectRates"] += [LEVELS]
    if any(suite.awaited_queues or suite.awaited_clusters for suite in deployed):
        more["CollectRates"] += [BACKLOGS]
    if any(suite.rules for suite in deployed):
        for name in ("RecordOutcome", "EndRun", "SweepRuns"):
            more[name] += [RESUMING]
        more["RestoreSystem"] += [RESUMING, PAUSING]
    return {
        name: Needs.union([needs, *more[name]]) if name in more else needs
        for name, needs in FUNCTIONS.items()
    }
