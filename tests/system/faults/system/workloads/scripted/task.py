"""Test whose version names its fault: ``python -IS task.py ingest|compaction``.

A healthy task stores an object or reads it again. It logs one rate per job in the lines of the
RocksDB workload, without a clock: job ``j`` of task ``t`` ran at ``1000 (t + 1) + j`` records/s. It
needs only the standard library and takes some milliseconds.
"""

from __future__ import annotations

import hashlib
import hmac
import os
import resource
import signal
import sys
import time
from collections.abc import Callable
from http.client import HTTPConnection
from urllib.parse import quote, urlsplit

TEST = sys.argv[1]
VERSION = os.environ["TIDEMARK_VERSION"]
TASK = int(os.environ["TIDEMARK_TASK"])
JOBS = int(os.environ["TIDEMARK_JOBS"])
RECORDS = os.environ["TIDEMARK_RECORDS"]
DATA = urlsplit(f"{os.environ['TIDEMARK_DATA']}/task-{TASK:04d}")
CONTENT = f"{VERSION} {TASK} {os.environ['TIDEMARK_SEED']}".encode()
NAME = TEST.capitalize()
ENDPOINT = urlsplit(os.environ["AWS_ENDPOINT_URL"]).netloc
NOW = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime())
SCOPE = f"{NOW[:8]}/us-east-1/s3/aws4_request"


def say(message: str, level: str = "INFO") -> None:
    """Log one event of the test."""
    print(f"[main] scripted.{NAME} {level}  - {message}", flush=True)


def fail(message: str) -> None:
    """Log the reason and end with exit code 1."""
    say(message, "ERROR")
    sys.exit(1)


def log_rate(job: int, rate: object = None) -> None:
    """Log the rate of a job in the form that the queries match."""
    number = float(1000 * (TASK + 1) + job) if rate is None else rate
    if TEST == "ingest":
        say(f"Wrote {RECORDS} records to S3 in 1.0 seconds at {number} per second")
    else:
        say(f"Compaction job {job}: compaction read {RECORDS} records at {number} per second")


def log_rates(rate: object = None) -> None:
    """Log the rate of every job."""
    for job in range(JOBS):
        log_rate(job, rate)


def signature(method: str, path: str, query: str) -> str:
    """Return AWS's signature of a request to S3, version 4, without its content."""
    headers = f"host:{ENDPOINT}\nx-amz-content-sha256:UNSIGNED-PAYLOAD\nx-amz-date:{NOW}\n"
    names = "host;x-amz-content-sha256;x-amz-date"
    canonical = f"{method}\n{path}\n{query}\n{headers}\n{names}\nUNSIGNED-PAYLOAD"
    digest = hashlib.sha256(canonical.encode()).hexdigest()
    key = f"AWS4{os.environ['AWS_SECRET_ACCESS_KEY']}".encode()
    for part in [*SCOPE.split("/"), f"AWS4-HMAC-SHA256\n{NOW}\n{SCOPE}\n{digest}"]:
        key = hmac.digest(key, part.encode(), "sha256")
    credential = f"{os.environ['AWS_ACCESS_KEY_ID']}/{SCOPE}"
    return f"AWS4-HMAC-SHA256 Credential={credential}, SignedHeaders={names}, Signature={key.hex()}"


def send(method: str, path: str, body: bytes | None = None, query: str = "") -> tuple[int, bytes]:
    """Send a request to S3; return the status and the content of the answer."""
    path = f"/{DATA.netloc}{path}"
    headers = {
        "Authorization": signature(method, path, query),
        "x-amz-content-sha256": "UNSIGNED-PAYLOAD",
        "x-amz-date": NOW,
    }
    connection = HTTPConnection(ENDPOINT)
    connection.request(method, f"{path}?{query}" if query else path, body, headers)
    answer = connection.getresponse()
    return answer.status, answer.read()


def request(method: str, body: bytes | None = None) -> bytes | None:
    """Put or get the task's object; return the answer, None if there is no object."""
    status, content = send(method, DATA.path, body)
    if status == 404:
        return None
    if status >= 300:
        fail(f"S3 answered {method} with {status}")
    return content


def listing(prefix: str) -> tuple[int, bytes]:
    """List the keys with a prefix; return the status and the content of the answer."""
    return send("GET", "", query=f"list-type=2&prefix={quote(prefix, safe='')}")


def store(content: bytes = CONTENT) -> None:
    """Store the digest and the content that compaction reads."""
    request("PUT", hashlib.sha256(CONTENT).hexdigest().encode() + content)


def load() -> None:
    """Find the object of ingest in a listing, and check it."""
    key = DATA.path.removeprefix("/")
    status, found = listing(key)
    if status != 200:
        fail(f"S3 answered a listing with {status}")
    stored = request("GET") if f"<Key>{key}</Key>".encode() in found else None
    if stored is None:
        fail("the object of ingest is missing")
    elif hashlib.sha256(stored[64:]).hexdigest().encode() != stored[:64]:
        fail("the object of ingest does not match its SHA-256")


def work() -> None:
    """Do the work of the test."""
    if TEST == "ingest":
        store()
    else:
        load()


def healthy() -> None:
    """Do the work and log its rates."""
    work()
    log_rates()


def end(code: int) -> Callable[[], None]:
    """Return a task that only ends with an exit code."""
    return lambda: sys.exit(code)


def die() -> None:
    """Send SIGKILL to this process, as the kernel does when memory is exhausted."""
    os.kill(os.getpid(), signal.SIGKILL)


def die_in_the_middle() -> None:
    """Die after the first of the rates."""
    work()
    log_rate(0)
    die()


def die_at_the_end() -> None:
    """Die after the last of the rates."""
    healthy()
    die()


def ignore_the_end() -> None:
    """Ignore the deadline and SIGTERM."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    say("Begun")
    time.sleep(3600)


def be_patient() -> None:
    """Work for half a minute, unless stopped."""
    work()
    log_rate(0)
    time.sleep(30)


def log_twice() -> None:
    """Log every rate twice."""
    healthy()
    log_rates()


def log_garbage() -> None:
    """Log bytes that are not text, and no rate."""
    work()
    sys.stdout.buffer.write(bytes(range(256)) * 64 + b"\n\xff\xfe\x00 at per second\n")


def log_much() -> None:
    """Log 100 MB beside the rates."""
    work()
    line = f"[main] scripted.{NAME} DEBUG  - {'x' * 960}\n"
    for _ in range(100):
        sys.stdout.write(line * 1000)
    log_rates()


def log_nearly() -> None:
    """Log lines that resemble rates."""
    work()
    for line in (
        "Wrote 10 records to S4 in 1.0 seconds at 5.0 per second",
        "Wrote 10 records to S3 in 1.0 seconds",
        "compaction read 10 records",
        "to S3 at  per minute",
    ):
        say(line)


def lose_the_input() -> None:
    """Store nothing that compaction could read."""
    if TEST == "ingest":
        log_rates()
    else:
        healthy()


def spoil_the_input() -> None:
    """Store content that does not match its digest."""
    if TEST == "ingest":
        store(CONTENT[:-1] + b"?")
        log_rates()
    else:
        healthy()


def fill_the_disk() -> None:
    """Write a file beyond a limit of its size, which stands for a full disk."""
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))
    try:
        with open(f"{os.environ['TMPDIR']}/data", "wb") as file:  # noqa: PTH123 (one import less)
            file.write(bytes(8192))
    except OSError as error:
        fail(f"data could not be written: {error.strerror}")


def leave_strange_names() -> None:
    """Work, and store objects with a zero byte, an escape and U+FFFF in their names."""
    healthy()
    for name in ("a%00b", "a%1B%5B31mb", "%EF%BF%BF"):
        status, _ = send("PUT", f"{DATA.path}/{name}", b"x")
        if status >= 300:
            fail(f"S3 answered PUT of {name} with {status}")


def reach_for_more() -> None:
    """Try to read, forge and delete what is not the task's, and then do its work."""
    run = DATA.path.split("/")[3]
    trial = f"/runs/{run}/trials/001.json"
    attempts = ("GET", f"/runs/{run}/plan.json"), ("PUT", trial), ("DELETE", trial), ("GET", "")
    for method, path in attempts:
        status, _ = send(method, path, b"{}" if method == "PUT" else None)
        if status != 403:
            fail(f"S3 answered {method} {path} with {status}")
    *above, _secret, _task = DATA.path.removeprefix("/").split("/")
    for parts in range(len(above) + 1):
        prefix = "".join(f"{folder}/" for folder in above[:parts])
        status, _ = listing(prefix)
        if status != 403:
            fail(f"S3 answered a listing of {prefix!r} with {status}")
    healthy()


def only(task: int, behaviour: Callable[[], None]) -> Callable[[], None]:
    """Return a task that behaves so only at this index."""
    return behaviour if task == TASK else healthy


BEHAVIOURS: dict[str, Callable[[], None]] = {
    "healthy": healthy,
    "healthy-too": healthy,
    "exit-1": end(1),
    "exit-137": end(137),
    "killed-at-start": die,
    "killed-in-the-middle": die_in_the_middle,
    "killed-at-the-end": die_at_the_end,
    "one-dead": only(1, die_in_the_middle),
    "deaf": ignore_the_end,
    "patient": be_patient,
    "silent": work,
    "twice": log_twice,
    "garbage": log_garbage,
    "much": log_much,
    "nearly": log_nearly,
    "infinite": lambda: (work(), log_rates("∞")),
    "not-a-number": lambda: (work(), log_rates("NaN")),
    "negative": lambda: (work(), log_rates(-5.0)),
    "zero": lambda: (work(), log_rates(0.0)),
    "absurd": lambda: (work(), log_rates("9" * 400)),
    "without-input": lose_the_input,
    "corrupt": spoil_the_input,
    "full-disk": fill_the_disk,
    "hostile": reach_for_more,
    "strange-names": leave_strange_names,
}

if __name__ == "__main__":
    BEHAVIOURS[VERSION]()
