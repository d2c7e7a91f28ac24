"""The measuring process: ``python -m rocksdb_workload.measurement <test> <scratch folder>``.

It runs in the environment of one version, with rocksdict and boto3.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from rocksdb_workload import compaction, ingest, log
from rocksdb_workload.checks import CheckFailedError
from rocksdb_workload.configuration import Configuration
from rocksdb_workload.machine import log_environment
from rocksdb_workload.storage import Storage

TESTS = {"ingest": ingest.run, "compaction": compaction.run}


def main(test: str, scratch: Path) -> int:
    """Run ``test`` in the empty folder ``scratch``; return the exit code."""
    configuration = Configuration.from_environment(os.environ)
    try:
        log_environment(configuration, scratch)
        storage = Storage(boto3.client("s3"), configuration.bucket, configuration.prefix)
        TESTS[test](configuration, storage, scratch)
    except CheckFailedError as failure:
        log.error("Check", str(failure))
        return 1
    except (BotoCoreError, ClientError) as failure:
        log.error("Storage", f"S3 refused: {failure}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], Path(sys.argv[2])))
