"""The logs of a service in lines of text or of JSON, made once and kept out of git."""

from __future__ import annotations

from itertools import islice
from pathlib import Path

from tests.checks.bench.insights_data import FOLDER, written

LINES = 5_000_000
"""The lines of a log of 1 GB."""
SEARCHED = "deadlock detected"
"""A text that one line in a million has."""

_TIME = "strftime(make_timestamp_ms(1764000000000 + i * 17), '%Y-%m-%dT%H:%M:%S.%gZ')"
_REQUEST = (
    "' INFO  [worker-' || hash(i, 1) % 32 || '] orders.http.OrderService - method=' "
    "|| ['GET', 'GET', 'GET', 'POST', 'DELETE'][1 + (hash(i, 2) % 5)::INT] || ' path=/orders/' "
    "|| hash(i, 3) % 1000000 || '/items status=' "
    "|| [200, 200, 201, 404, 500][1 + (hash(i, 4) % 5)::INT] || ' latency_ms=' "
    "|| hash(i, 5) % 5000 || ' bytes=' || hash(i, 6) % 100000 || ' trace=' "
    "|| left(md5(i::VARCHAR), 16)"
)
_EVENT = (
    f"CASE WHEN i % 1000000 = 777 THEN ' {SEARCHED} between transactions' "
    "WHEN hash(i, 7) % 100 = 0 THEN ' upload of ' || hash(i, 8) % 10000000 || ' bytes took ' "
    "|| hash(i, 9) % 10000 || ' ms' "
    "WHEN hash(i, 7) % 100 = 1 THEN ' timeout after ' || hash(i, 9) % 10000 || ' ms' "
    "ELSE ' completed by shard ' || hash(i, 10) % 64 END"
)


_RECORD = (
    f'\'{{"timestamp":"\' || {_TIME} || \'","level":"INFO","worker":\' || hash(i, 1) % 32 '
    "|| ',\"request\":{\"method\":\"' || ['GET', 'GET', 'GET', 'POST', 'DELETE']"
    '[1 + (hash(i, 2) % 5)::INT] || \'","path":"/orders/\' || hash(i, 3) % 1000000 '
    '|| \'/items"},"status":\' || [200, 200, 201, 404, 500][1 + (hash(i, 4) % 5)::INT] '
    "|| ',\"latency_ms\":' || hash(i, 5) % 5000 || ',\"bytes\":' || hash(i, 6) % 100000 "
    "|| ',\"trace\":\"' || left(md5(i::VARCHAR), 16) || '\"}'"
)
FILES = 10_000


def json_log(lines: int) -> Path:
    """Return the file with a number of JSON objects, one on each line; make it if it is missing."""
    select = f"SELECT {_RECORD} FROM range({lines}) numbers(i)"
    return written(FOLDER / f"service-{lines}.jsonl", select)


def many_logs(lines: int) -> Path:
    """Return the folder with ``FILES`` files of lines, a fifth of the number in all."""
    each = max(1, lines // 5 // FILES)
    folder = FOLDER / f"service-{FILES}-{each}"
    if not folder.exists():
        unfinished = folder.with_suffix(".tmp")
        unfinished.mkdir(exist_ok=True)
        with service_log(lines).open("rb") as log:
            for number in range(FILES):
                (unfinished / f"{number:05d}.log").write_bytes(b"".join(islice(log, each)))
        unfinished.rename(folder)
    return folder


def service_log(lines: int) -> Path:
    """Return the file with a number of lines of about 200 bytes; make it if it is missing."""
    select = f"SELECT {_TIME} || {_REQUEST} || {_EVENT} FROM range({lines}) numbers(i)"
    return written(FOLDER / f"service-{lines}.log", select)
