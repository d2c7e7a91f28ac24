"""Agent of a load: it holds each level of users, who ask once a second each, and logs the level.

The time of an answer counts from the moment when its user wanted to ask. The level has the mean
time by which the agent asked later than that, too.
"""

import json
import os
import random
import site
import socket
import statistics
import sys
import threading
import time
import urllib.request

site.main()  # boto3 is a site package
import boto3  # noqa: E402
from botocore.exceptions import ClientError  # noqa: E402

URL = f"http://{os.environ['TIDEMARK_SERVER']}:8080/"
BUCKET, KEY = os.environ["TIDEMARK_LEVELS"].removeprefix("s3://").split("/", 1)
CHANCE = random.Random(1)


def ask(due, times, late):
    late.append(1000 * (time.monotonic() - due))
    try:
        urllib.request.urlopen(URL, timeout=10).close()
    except OSError:
        times.append((due, None))
    else:
        times.append((due, 1000 * (time.monotonic() - due)))


def hold(level, users):
    """Let users ask for the time of a level; log the mean time and the share without an answer."""
    times, late, asking = [], [], []
    begin = time.monotonic()
    due, end = begin, begin + level["settle_seconds"] + level["hold_seconds"]
    while users and (due := due + CHANCE.expovariate(users)) < end:
        time.sleep(max(0, due - time.monotonic()))
        asking.append(threading.Thread(target=ask, args=(due, times, late)))
        asking[-1].start()
    for each in asking:
        each.join()
    measured = [one for due, one in times if due >= begin + level["settle_seconds"]]
    answers = [one for one in measured if one is not None]
    mean = statistics.fmean(answers) if answers else 0
    failures = 1 - len(answers) / len(measured) if measured else 0
    line = f"Level {level['level']} users {users if answers else 0} average {mean:.3f} ms"
    slept = statistics.fmean(late) if late else 0
    print(f"{line} failures {failures:.4f} late {slept:.3f} ms", flush=True)


listener = socket.create_server((os.environ["TIDEMARK_ADDRESS"], 8090))
client, last = boto3.client("s3"), 0
while True:
    try:
        level = json.load(client.get_object(Bucket=BUCKET, Key=KEY)["Body"])
    except ClientError:  # there is no level yet
        level = {"level": 0, "over": False}
    except ValueError:
        sys.exit("ValueError: the level is not JSON")
    if level["level"] > last and not level["over"]:
        last = level["level"]
        hold(level, level["users"]["agent"])
    time.sleep(0.2)
