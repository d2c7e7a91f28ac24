"""Writer of a stand-in for Sleeper.

Sleeper's own writers have the same arguments: a bucket and a table up to 0.18; later a mode, the
key of a job, a bucket and a role.
"""

import json
import os
import sys
import time
import uuid

import boto3
from queues import send, take


def mode(arguments):
    """Return how the writer writes; end the task for other arguments than its generation has.

    Up to 0.18 it is the instance's sleeper.systemtest.ingest.mode (v0.16.0 IngestRandomData.java),
    later it is in the job (v0.36.1 SystemTestDataGenerationJob.java).
    """
    expected = json.loads(os.environ["ARGUMENTS"])
    if arguments != expected:
        sys.exit(f"[main] systemtest.ingest.IngestRandomData ERROR  - Usage: {expected}")
    if "combined" not in arguments:
        return os.environ["MODE"]
    bucket = os.environ["JOBS_BUCKET"]
    job = boto3.client("s3").get_object(Bucket=bucket, Key=arguments[1])["Body"].read()
    return json.loads(job)["ingestMode"].lower()


def main():
    """Do what the next script says, and end with its exit code.

    A direct writer leaves one file in a table with one partition (v0.16.0
    UploadMultipleShardedSortedParquetFiles.java). For the queue it sends a job for what it wrote
    elsewhere, and logs no rate (v0.16.0 WriteRandomDataViaQueueJob.java).
    """
    is_direct, script = mode(sys.argv[1:]) == "direct", take(os.environ["SCRIPTS"])
    if is_direct:
        time.sleep(script["seconds"])  # a task that ran for less cannot have written so much
        print(*script["lines"], sep="\n")
        send(os.environ["FILES"], {"rows": script["rows"]})
    else:
        send(os.environ["INGEST_JOBS"], {"id": str(uuid.uuid4()), **script})
    sys.exit(script["exit_code"])


main()
