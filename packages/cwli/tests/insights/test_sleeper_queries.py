"""Queries of Sleeper's performance notes, over lines as each of its versions writes them.

Source: gchq/sleeper, its documentation of performance tests (the queries), IngestCoordinator and
CompactionTask (the lines), core/src/main/resources/log4j.properties (the prefix).
"""

import math
import random
import re
from collections import defaultdict
from collections.abc import Callable, Iterator

import pytest
from logs import Logs

from cwli.insights import run

GLOB = "parse @message '* * - * at * per second' as class, level, msg, rate"
SEED = (
    "fields @message\n| filter @message like {!r}\n# The next two lines make the mean\n| "
    + GLOB
    + "\n| stats avg(rate)"
)
RATES = (
    "fields @message | filter @message like {!r} | "
    + GLOB
    + r" | parse rate /^(?<number>\d+(\.\d+)?)$/"
    + " | stats avg(number), count(number), count(rate) by @logStream"
)
SAMPLES = (
    "fields @message | filter @message like {!r} | "
    + GLOB
    + r" | parse msg /(?<records>\d+) (records|rows)/"
    + " | display @timestamp, @logStream, msg, rate, records | sort @timestamp asc | limit 10000"
)

Chance = random.Random
PLAIN = "[main] core.metrics.MetricsLogger INFO  - "
CLOCK = "[10:14:07,512] [main] core.metrics.MetricsLogger INFO  - "
POOL = "[sdk-async-response-1-3] core.metrics.MetricsLogger INFO  - "


def one_decimal(chance: Chance) -> str:
    return f"{chance.uniform(100_000, 4_000_000):.1f}"


def at_most_one_decimal(chance: Chance) -> str:
    return chance.choice([one_decimal(chance), str(chance.randrange(10**5, 10**6)), "∞", "NaN"])


def seconds(chance: Chance) -> str:
    return f"{chance.uniform(0, 400):.1f} seconds"


def duration(chance: Chance) -> str:
    return chance.choice(
        ["4 minutes 19.482 seconds", "0.412 seconds", "1 hour 2 minutes 3 seconds"]
    )


def ingest(prefix: str, unit: str, time: Callable[[Chance], str], rate: Callable[[Chance], str]):
    def line(chance: Chance) -> str:
        count = chance.randrange(1, 10**8)
        return f"{prefix}Wrote {count} {unit} to S3 in {time(chance)} at {rate(chance)} per second"

    return line


def compaction(verb: str, unit: str):
    def line(chance: Chance) -> str:
        job = f"{chance.getrandbits(128):032x}"
        rate = chance.choice([one_decimal(chance)] * 5 + ["NaN", "Infinity"])
        count = chance.randrange(1, 10**9)
        return f"{PLAIN}Compaction job {job}: compaction {verb} {count} {unit} at {rate} per second"

    return line


ERAS = {
    "0.11 to 0.20": ingest(PLAIN, "records", seconds, one_decimal),
    "0.15 to 0.20, system test": ingest(CLOCK, "records", seconds, one_decimal),
    "0.21 to 0.31": ingest(POOL, "records", duration, at_most_one_decimal),
    "from 0.32": ingest(PLAIN, "rows", duration, at_most_one_decimal),
    "compaction read to 0.31": compaction("read", "records"),
    "compaction wrote to 0.31": compaction("wrote", "records"),
    "compaction read from 0.32": compaction("read", "rows"),
    "compaction wrote from 0.32": compaction("wrote", "rows"),
}
DECOYS = (
    f"{PLAIN}Compaction job 3f2b9c1e: compaction run time = 1203.456",
    "[main] compaction.jobexecution.CompactSortedFiles INFO  - Compaction job 3f2b: compaction "
    "called at 2023-04-28T10:02:11.120Z",
    "[main] runner.dataframe.FileWritingIterator INFO  - Flushing files to S3 containing 1953 rows",
    "[main] ingest.impl.Upload INFO  - Saved to S3 in 0.4 seconds",
    "[main] statestore.Log INFO  - Uploading large transaction of type x to S3 at: data/1",
    "[main] clients.MultipleQueries INFO  - 12 records returned in 3 seconds at 4.0 per second)",
    "java.lang.IllegalStateException: to S3",
    "",
)


def lines(seed: int, number: int = 400) -> Iterator[tuple[str, str]]:
    chance = random.Random(seed)
    for _ in range(number):
        stream = f"ingest/container/{chance.randrange(11):02d}"
        candidates = [era(chance) for era in ERAS.values()]
        yield stream, chance.choice([*candidates, chance.choice(DECOYS)])


def message_and_rate(message: str) -> tuple[str, str] | None:
    match = re.search(r"(.*?) (.*?) - (.*?) at (.*?) per second", message, re.DOTALL)
    return (match[3], match[4]) if match else None


def numeric(rate: str) -> float | None:
    return float(rate) if re.fullmatch(r"\d+(\.\d+)?", rate) else None


@pytest.fixture(scope="module")
def logged() -> list[tuple[str, str]]:
    return list(lines(seed=20260701))


@pytest.fixture(scope="module")
def events(tmp_path_factory, logged):
    store = Logs(tmp_path_factory.mktemp("sleeper"))
    for number, (stream, message) in enumerate(logged):
        store.append("/sleeper", stream, [(number, message)], number)
    return store.events(["/sleeper"])


def rows(query: str, events) -> list[dict[str, str]]:
    return [{c["field"]: c["value"] for c in row} for row in run(query, events, 0, 10).rows]


FILTERS = pytest.mark.parametrize("literal", ["to S3", "compaction read", "compaction wrote"])


@FILTERS
def test_the_mean_rate_is_the_mean_of_the_numbers_in_matching_lines(events, logged, literal):
    matches = [message_and_rate(message) for _, message in logged if literal in message]
    numbers = [n for match in matches if match and (n := numeric(match[1])) is not None]
    (row,) = rows(SEED.format(literal), events)
    assert len(numbers) > 20
    assert float(row["avg(rate)"]) == pytest.approx(math.fsum(numbers) / len(numbers), rel=1e-12)


@FILTERS
def test_each_stream_has_its_own_mean_rate_and_counts(events, logged, literal):
    rates_of: dict[str, list[str | None]] = defaultdict(list)
    for stream, message in logged:
        if literal in message:
            match = message_and_rate(message)
            rates_of[stream].append(match[1] if match else None)
    row_of = {row["@logStream"]: row for row in rows(RATES.format(literal), events)}
    assert row_of.keys() == rates_of.keys()
    for stream, rates in rates_of.items():
        numbers = [n for rate in rates if rate and (n := numeric(rate)) is not None]
        row = row_of[stream]
        assert row["count(number)"] == str(len(numbers))
        assert row["count(rate)"] == str(sum(rate is not None for rate in rates))
        mean = float(row["avg(number)"]) if numbers else None
        assert mean == pytest.approx(math.fsum(numbers) / len(numbers) if numbers else None)


@FILTERS
def test_samples_hold_each_rate_verbatim_in_order_of_time(events, logged, literal):
    expected = []
    for number, (stream, message) in enumerate(logged):
        if literal in message:
            row = {"@timestamp": f"1970-01-01 00:00:00.{number:03d}", "@logStream": stream}
            if match := message_and_rate(message):
                row |= {"msg": match[0], "rate": match[1]}
                if records := re.search(r"(\d+) (?:records|rows)", match[0]):
                    row["records"] = records[1]
            expected.append(row)
    samples = rows(SAMPLES.format(literal), events)
    assert [{k: v for k, v in row.items() if k != "@ptr"} for row in samples] == expected


@pytest.mark.parametrize("era", ERAS)
def test_a_line_of_every_era_has_its_message_and_its_rate(ask, era):
    line = ERAS[era](random.Random(7))
    (row,) = ask(f"{GLOB} | display msg, rate", line)
    assert line.endswith(f" - {row['msg']} at {row['rate']} per second")


def test_the_thread_is_captured_as_the_class(ask):
    # The pattern of log4j begins with the thread, which the query does not expect.
    (row,) = ask(f"{GLOB} | display class, level", ERAS["0.11 to 0.20"](random.Random(1)))
    assert row == {"class": "[main]", "level": "core.metrics.MetricsLogger INFO "}
