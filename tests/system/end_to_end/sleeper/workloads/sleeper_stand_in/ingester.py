"""Ingest task of a stand-in for Sleeper: it does one job after the other until none is left.

Each job leaves one file in a table with one partition (v0.16.0 IngestJobQueueConsumer.java).
"""

import os
import time

from queues import send, take


def main():
    """Log the jobs of the queue."""
    while job := take(os.environ["INGEST_JOBS"]):
        print(os.environ["BEGUN"].format(job=job["id"]), flush=True)
        time.sleep(job["seconds"])
        print(*job["lines"], sep="\n", flush=True)
        send(os.environ["FILES"], {"rows": job["rows"]})


main()
