"""The measuring process: ``python -m harness.measurement MODULE TEST SCRATCH``.

It runs in the environment of one version, with the tools of the harness.
"""

from __future__ import annotations

import os
import sys
from functools import partial
from importlib import import_module
from pathlib import Path
from types import TracebackType

from botocore.exceptions import BotoCoreError, ClientError
from botocore.session import Session

from harness import log
from harness.checks import CheckFailedError
from harness.compaction import Compaction
from harness.configuration import Configuration
from harness.ingest import Ingest
from harness.machine import log_environment
from harness.rounds import ROUND, do_asked
from harness.storage import Storage

TESTS = {"ingest": Ingest, "compaction": Compaction}


def main(module: str, test: str, scratch: Path) -> int:
    """Run ``test`` in the empty folder ``scratch``; return the exit code."""
    configuration = Configuration.from_environment(os.environ)
    try:
        engine = import_module(module).Engine(configuration.place)
        log_environment(engine, configuration, scratch)
        # boto3 would import a fifth more, for transfers that no test makes.
        client = Session().create_client("s3")
        storage = Storage(client, configuration.bucket, configuration.prefix)
        work = TESTS[test](engine, configuration, storage, scratch)
        if ROUND in os.environ:
            do_asked(partial(_do, work), os.environ, sys.stdin)
        else:
            for number in range(1, configuration.jobs + 1):
                _do(work, number)
    except CheckFailedError as failure:
        log.error("Check", str(failure))
        return 1
    except (BotoCoreError, ClientError) as failure:
        log.error("Storage", f"S3 refused: {failure}")
        return 1
    return 0


def _do(work: Ingest | Compaction, number: int, units: int = 1) -> float:
    """Do a job and log its rates; return the seconds of the engine for one unit of its work."""
    done = work.job(number, units)
    if number:  # job 0 warms a version up
        for line in done.lines:
            log.info(work.name, line)
    return done.seconds


def name_failure(
    kind: type[BaseException], failure: BaseException, traceback: TracebackType | None
) -> None:
    """Log an engine's own exception as the reason why the task ends, after its traceback."""
    sys.__excepthook__(kind, failure, traceback)
    log.error("Task", f"{kind.__name__}: {' '.join(str(failure).split())}")


if __name__ == "__main__":
    # Each engine has exceptions of its own: a full disk, a corrupt file.
    sys.excepthook = name_failure
    sys.exit(main(sys.argv[1], sys.argv[2], Path(sys.argv[3])))
