"""One task of a step of Sleeper's tests: ``python sleeper_workload.py STEP``."""

from __future__ import annotations

import os
import re
import sys
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path

from botocore.exceptions import BotoCoreError, ClientError
from harness import log
from harness.machine import log_environment
from harness.task import CheckFailedError, Configuration, ConfigurationError
from instance import config_bucket
from relay import Relay
from upstream import (
    COMPACT,
    CREATE_JOBS,
    DISPATCH_JOBS,
    INGEST,
    TABLE,
    Sleeper,
    instance_id,
    run,
    run_each,
    run_jobs,
)

# Sleeper's writers keep files in this folder, whatever java.io.tmpdir says.
_SCRATCH = Path("/tmp/scratch")  # noqa: S108
_WROTE = re.compile(
    r"MetricsLogger INFO +- Wrote (?P<rows>\d+) (?:records|rows) to S3 in (?P<time>.+) at \S+ per "
)
_COMPACTED = re.compile(
    r"MetricsLogger INFO +- Compaction job \S+: compaction (?P<verb>read|wrote) "
    r"(?P<rows>\d+) (?:records|rows) at (?P<rate>\S+) per "
)
_UNITS = {"hour": 3600, "minute": 60, "second": 1}


def _sizes(configuration: Configuration) -> list[int]:
    """Return the records of each job of a task: a warm-up, those that count, and a larger one.

    Sleeper creates compaction jobs in the order of the sizes of their files.
    """
    whole = configuration.records
    return [whole // 2, *[whole] * configuration.jobs, whole + whole // 2]


def ingest(relay: Relay, configuration: Configuration) -> None:
    """Write random records into the instance's table, and log how much of the rate is work."""
    found = _written(relay, configuration, _sizes(configuration))
    _log_work([_seconds(each["time"]) for each in found])


def load(relay: Relay, configuration: Configuration) -> None:
    """Write the files of all compaction jobs; all files of one job have one size."""
    _written(relay, configuration, _sizes(configuration))


def _written(relay: Relay, configuration: Configuration, sizes: list[int]) -> list[re.Match[str]]:
    _check_scratch()
    runs = [(instance_id(), TABLE, str(size)) for size in sizes]
    lines = run_each(relay, INGEST, runs, _WROTE)
    found = [match for match in map(_WROTE.search, lines) if match]
    _check("writer", [int(each["rows"]) for each in found], sizes)
    return found


def create_jobs(relay: Relay, _: Configuration) -> None:
    """Create the compaction jobs of all files, and put them into the queue of jobs."""
    run(relay, CREATE_JOBS, "all", instance_id(), TABLE)
    run(relay, DISPATCH_JOBS, instance_id())


def compact(relay: Relay, configuration: Configuration) -> None:
    """Run the jobs. A compaction task of Sleeper whose job fails ends with exit code 0, too."""
    tasks = int(os.environ["TIDEMARK_TASKS"])
    sizes = [size * tasks for size in _sizes(configuration)]
    ends = re.compile("compaction wrote ")
    lines = run_jobs(relay, COMPACT, config_bucket(), ends=ends, jobs=len(sizes))
    found = [match for match in map(_COMPACTED.search, lines) if match]
    for verb in ("read", "wrote"):
        of_verb = [int(each["rows"]) for each in found if each["verb"] == verb]
        _check(f"compaction jobs ({verb})", of_verb, sizes)
    read = [each for each in found if each["verb"] == "read"]
    _log_work([int(each["rows"]) / float(each["rate"]) for each in read])


def _seconds(text: str) -> float:
    """Return the seconds of a time in figures or words, such as ``4 minutes 19.482 seconds``."""
    parts = re.findall(r"([\d.]+) (hour|minute|second)", text)
    return sum(float(number) * _UNITS[unit] for number, unit in parts)


def _log_work(seconds: list[float]) -> None:
    """Log the share of a job's time that its records take, by the time of the larger job.

    With a fixed part f, a job takes f + w and the larger one after it f + 1.5 w.
    """
    *_, whole, larger = seconds
    share = min(max(0.0, 2 * (larger - whole) / whole), 1.0)
    log.info("Work", f"Share of work: {share:.4f}")


STEPS: Mapping[str, Callable[[Relay, Configuration], None]] = {
    "ingest": ingest, "load": load, "jobs": create_jobs, "compact": compact,
}  # fmt: skip


def main(step: str) -> int:
    """Do a step; return the exit code."""
    try:
        configuration = Configuration.from_environment(os.environ)
        with tempfile.TemporaryDirectory() as scratch:
            log_environment(Sleeper(), configuration, Path(scratch))
        with Relay() as relay:
            STEPS[step](relay, configuration)
    except ConfigurationError as refusal:
        log.error("Configuration", str(refusal))
        return 2
    except CheckFailedError as failure:
        log.error("Check", str(failure))
        return 1
    except (BotoCoreError, ClientError) as failure:
        log.error("Storage", f"The cloud refused: {failure}")
        return 1
    return 0


def _check(kind: str, logged: list[int], expected: list[int]) -> None:
    """Refuse the rates of a program that has not handled every record of each job in turn."""
    if logged != expected:
        found = ", ".join(map(str, logged)) or "none"
        raise CheckFailedError(
            f"Records of the {kind}: {found}; expected {', '.join(map(str, expected))}."
        )


def _check_scratch() -> None:
    """Refuse a folder of Sleeper's writers that this task cannot use.

    One machine keeps tasks from making entries in the folders above the state folder.
    """
    try:
        _SCRATCH.mkdir(exist_ok=True)
        with tempfile.TemporaryFile(dir=_SCRATCH):
            pass
    except OSError as error:
        raise CheckFailedError(
            f"Sleeper's writers keep files in {_SCRATCH}, which this task cannot use: "
            f"{error.strerror}; on one machine the state folder may not lie in {_SCRATCH.parent}."
        ) from None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
