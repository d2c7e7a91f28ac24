"""Compaction task of a stand-in for Sleeper: it does one job after the other until none is left.

A job reads and writes all rows of its files (v0.16.0 CompactSortedFiles.java).
"""

import json
import os
import sys

from queues import take


def main():
    """Log the jobs of the queue, each at the next rate; a job may end its task."""
    while job := take(os.environ["JOBS"]):
        told = take(os.environ["RATES"])
        for line in json.loads(os.environ["LINES"]):
            text = line.format(
                job=job["id"], rows=job["rows"], rate=told["rate"], time=job["rows"] / told["rate"]
            )
            if not (told["without"] and told["without"] in text):
                print(text, flush=True)
        if told["exit_code"]:
            sys.exit(told["exit_code"])


main()
