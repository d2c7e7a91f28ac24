"""Names, properties and log lines of the generations of Sleeper.

Sources: github.com/gchq/sleeper at v0.11.0, v0.16.0, v0.18.0 and v0.36.1: the stacks in java/cdk,
the instance properties, MetricsLogger with its log4j.properties, IngestCoordinator,
CompactSortedFiles and CompactionTask.
"""

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

_LOGGER = "[main] core.metrics.MetricsLogger INFO  -"


class TaskKind(NamedTuple):
    """The tasks of one kind; ``{}`` in a text stands for the id of an instance."""

    cluster: str
    family: str
    container: str
    log_group: str
    stream_prefix: str = ""
    """The beginning of the names of log streams, by default the name of the log group."""


class Generation(NamedTuple):
    """The names of an instance of one version, by property; ``{}`` stands for the id."""

    version: str
    config: tuple[str, str]
    """The bucket and key of the properties; ``{account}`` stands for the account's number."""
    texts: Mapping[str, str]
    clusters: Mapping[str, str]
    queues: Mapping[str, str]
    """The queue of partitions to split, that of compaction jobs, and others."""
    functions: Mapping[str, str]
    """The function that finds partitions to split, that creates jobs and that starts tasks. The
    name of a function stands for its property, too, where there is none."""
    rules: Mapping[str, str]
    writer: TaskKind
    compactor: TaskKind
    families: Mapping[str, str]
    written: Callable[[int, float], str]
    rows: str


def properties(generation: Generation) -> dict[str, str]:
    """Return the properties of an instance; queues have their names in place of URLs."""
    parts = [
        generation.texts, generation.clusters, generation.queues, generation.functions,
        generation.rules, generation.families,
    ]  # fmt: skip
    stated = {name: value for part in parts for name, value in part.items()}
    return {"sleeper.version": generation.version, **stated}


def _wrote_in_figures(rows: int, seconds: float) -> str:
    rate = f"{rows / seconds:.1f}"
    line = f"Wrote {rows} records to S3 in {seconds:.1f} seconds at {rate} per second"
    return f"[10:14:07,512] {_LOGGER} {line}"


def _wrote_in_words(rows: int, seconds: float) -> str:
    minutes, rest = divmod(seconds, 60)
    words = (f"{minutes:.0f} minutes " if minutes else "") + f"{rest:g} seconds"
    # From 0.21 on the rate is that of whole seconds, rounded down.
    rate = f"{rows / int(seconds):.1f}".removesuffix(".0")
    return f"{_LOGGER} Wrote {rows} rows to S3 in {words} at {rate} per second"


def writer_lines(generation: Generation, rows: int, seconds: float) -> Iterator[str]:
    """Yield what a writer logs; one line has its rate."""
    flushing = "Flushing files to S3 containing 9 rows"
    yield f"[main] runner.dataframe.FileWritingIterator INFO  - {flushing}"
    yield f"{_LOGGER} Saved to S3 in 0.412 seconds"
    yield generation.written(rows, seconds)
    yield "[main] systemtest.ingest.IngestRandomData INFO  - Finished"


def compaction_lines(generation: Generation, job: str, rows: int, rate: float) -> Iterator[str]:
    """Yield what a compaction job logs; one line has its rate of reading."""
    called = f"Compaction job {job}: compaction called at 2023-04-28T10:02:11.120Z"
    yield f"[main] compaction.jobexecution.CompactSortedFiles INFO  - {called}"
    yield f"{_LOGGER} Compaction job {job}: compaction run time = {rows / rate}"
    for verb in ("read", "wrote"):
        counted = f"{verb} {rows} {generation.rows} at {rate:.1f} per second"
        yield f"{_LOGGER} Compaction job {job}: compaction {counted}"


_RULES = {
    "sleeper.partition.splitting.rule": "{}-FindPartitionsToSplitPeriodicTrigger",
    "sleeper.compaction.job.creation.rule": "{}-CompactionJobCreationRule",
    "sleeper.compaction.task.creation.rule": "{}-CompactionTasksCreationRule",
}
_OLDER_RULES = _RULES | {
    "sleeper.compaction.splitting.task.creation.rule": "{}-SplittingCompactionTasksCreationRule"
}
_FUNCTIONS = ("find-partitions-to-split", "job-creator", "compaction-tasks-creator")
OLDER = Generation(
    version="0.16.0",
    config=("sleeper-{}-config", "config"),
    texts={
        "sleeper.config.bucket": "sleeper-{}-config",
        "sleeper.subnet": "subnet-0a1b2c3d",
        "sleeper.systemtest.writers": "11",
    },
    clusters={
        "sleeper.systemtest.cluster": "sleeper-{}-system-test-cluster",
        "sleeper.compaction.cluster": "sleeper-{}-merge-compaction-cluster",
        "sleeper.compaction.splitting.cluster": "sleeper-{}-splitting-merge-compaction-cluster",
    },
    queues={
        "sleeper.partition.splitting.queue.url": "{}-PartitionSplittingQueue",
        "sleeper.compaction.job.queue.url": "{}-CompactionJobQ",
    },
    functions={
        "sleeper.partition.splitting.lambda.function": "sleeper-{}-find-partitions-to-split",
        "sleeper.compaction.job.creation.lambda.function": "sleeper-{}-job-creator",
        "sleeper.compaction.task.creation.lambda.function": "sleeper-{}-compaction-tasks-creator",
    },
    rules=_OLDER_RULES,
    writer=TaskKind(
        "sleeper-{}-system-test-cluster",
        "{}SystemTestTaskFamily",
        "SystemTestContainer",
        "{}-SystemTestTasks",
    ),
    compactor=TaskKind(
        "sleeper-{}-merge-compaction-cluster",
        "{}MergeCompactionFargateTaskFamily",
        "MergeContainer",
        "{}-MergeFargateCompactionTasks",
    ),
    families={
        "sleeper.systemtest.task-definition": "{}SystemTestTaskFamily",
        "sleeper.compaction.fargate.task.definition": "{}MergeCompactionFargateTaskFamily",
    },
    written=_wrote_in_figures,
    rows="records",
)
NEWER = Generation(
    version="0.36.1",
    config=("sleeper-{}-config-{account}", "instance.properties"),
    texts={
        "sleeper.config.bucket": "sleeper-{}-config-{account}",
        "sleeper.subnets": "subnet-0a1b2c3d,subnet-4e5f6a7b",
        "sleeper.ecs.security.group.id": "sg-0a1b2c3d",
        "sleeper.systemtest.bucket": "sleeper-{}-system-test",
        "sleeper.ingest.by.queue.role.arn": "arn:aws:iam::{account}:role/sleeper-{}-ingest",
    },
    clusters={
        "sleeper.systemtest.cluster": "sleeper-{}-system-test-cluster",
        "sleeper.compaction.cluster": "sleeper-{}-compaction-cluster",
    },
    queues={
        "sleeper.partition.splitting.job.queue.url": "sleeper-{}-PartitionSplittingJobQueue",
        "sleeper.compaction.job.queue.url": "sleeper-{}-CompactionJobQ",
        "sleeper.partition.splitting.finder.queue.url": "sleeper-{}-FindPartitionsToSplitQ.fifo",
        "sleeper.compaction.job.creation.queue.url": "sleeper-{}-CompactionJobCreationQ.fifo",
        "sleeper.compaction.pending.queue.url": "sleeper-{}-PendingCompactionJobBatchQ",
    },
    functions={
        "sleeper.partition.splitting.trigger.lambda.function": (
            "sleeper-{}-partition-splitting-trigger"
        ),
        "sleeper.compaction.job.creation.trigger.lambda.function": (
            "sleeper-{}-compaction-job-creation-trigger"
        ),
        "sleeper.compaction.task.creation.lambda.function": "sleeper-{}-compaction-tasks-creator",
    },
    rules=_RULES,
    writer=TaskKind(
        "sleeper-{}-system-test-cluster",
        "{}SystemTestTaskFamily",
        "SystemTestContainer",
        "sleeper-{}-SystemTestTasks",
    ),
    compactor=TaskKind(
        "sleeper-{}-compaction-cluster",
        "sleeper-{}-CompactionTaskOnFargate",
        "CompactionContainer",
        "sleeper-{}-FargateCompactionTasks",
    ),
    families={
        "sleeper.systemtest.task.definition": "{}SystemTestTaskFamily",
        "sleeper.compaction.fargate.task.definition": "sleeper-{}-CompactionTaskOnFargate",
    },
    written=_wrote_in_words,
    rows="rows",
)
OLDEST = OLDER._replace(
    version="0.11.0",
    functions={name: name for name in (f"sleeper-{{}}-{each}" for each in _FUNCTIONS)},
    writer=OLDER.writer._replace(
        log_group="{}-SystemTestNestedStackSystemTestNestedStackResource1A2B3C4D-1A2B3C4D5E6F-"
        "SystemTestTaskDefinitionSystemTestContainerLogGroup1A2B3C4D-5E6F7A8B9C0D",
        stream_prefix="{}-SystemTestTasks",
    ),
    compactor=OLDER.compactor._replace(
        family="{}MergeCompactionTaskFamily",
        log_group="{}-CompactionNestedStackCompactionNestedStackResource1A2B3C4D-1A2B3C4D5E6F-"
        "MergeCompactionTaskDefinitionMergeContainerLogGroup1A2B3C4D-5E6F7A8B9C0D",
        stream_prefix="{}-MergeTasks",
    ),
    families={
        "sleeper.systemtest.task-definition": "{}SystemTestTaskFamily",
        "sleeper.compaction.task.definition": "{}MergeCompactionTaskFamily",
    },
)
_SUBNETS = {"sleeper.subnets": "subnet-0a1b2c3d,subnet-4e5f6a7b"}
_TEXTS = {name: text for name, text in OLDER.texts.items() if name != "sleeper.subnet"}
LAST_OLDER = OLDER._replace(version="0.18.0", texts=_TEXTS | _SUBNETS)
GENERATIONS = (OLDEST, OLDER, NEWER)
