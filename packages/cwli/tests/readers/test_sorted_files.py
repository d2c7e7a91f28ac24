"""A query reads only the part of a sorted file with the events of its time range."""

import gzip
import os
import random

import pytest
from fuzzing import fuzz
from hypothesis import event, given
from hypothesis import strategies as st
from written_logs import BEGIN, KINDS, LEVELS, Record

from cwli.insights import run
from cwli.readers.files import Untimed, log_files
from cwli.readers.mending import Mending
from cwli.readers.sorted_files import SLACK_SECONDS, NotSortedError, SortedFiles

FIRST = BEGIN // 1000
SIZES = {"samples": 9, "probes": 3, "near": 50}


def lines(times):
    return "".join(f"{Record(BEGIN + time * 1000, '', 0).iso} at {time}\n" for time in times)


@pytest.fixture
def log(tmp_path):
    """Return a writer of a log in text or bytes."""

    def write(content, name="app.log"):
        path = tmp_path / name
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    return write


def part_of(path, first, last, **options):
    """Return the part of a log between two times [s after its begin], None without one."""
    bounds = [None if bound is None else FIRST + bound for bound in (first, last)]
    files = SortedFiles(tuple(bounds), **SIZES | options)
    return files.parts({path: path.parent / "part" / path.name}).get(path)


def events(path, first, last):
    copies = Mending().copies([path], path.parent).copies
    query = "fields @message, @timestamp | sort @timestamp, @message | limit 10000"
    source = log_files([path], copies=copies, untimed=Untimed.BORROWED)
    rows = run(query, source, FIRST + first, FIRST + last).rows
    return [[cell["value"] for cell in row[:2]] for row in rows]


@pytest.mark.parametrize("name", sorted(KINDS.keys() - {"CloudTrail"}))
@fuzz(15)
@given(
    seed=st.integers(0, 10**6),
    pause=st.sampled_from([1_000, 20_000, 500_000]),
    first=st.integers(-100, 4000),
    seconds=st.integers(0, 500),
)
def test_the_events_of_a_part_are_those_of_the_whole_file(
    tmp_path_factory, name, seed, pause, first, seconds
):
    chance = random.Random(seed)
    path = tmp_path_factory.mktemp("log") / "app.log"
    disorder = (SLACK_SECONDS - 1) * 1000 // 2
    records = [
        Record(
            BEGIN + number * pause + chance.randint(-disorder, disorder),
            chance.choice(LEVELS),
            chance.choice([0, 7, 99, 100, 1_234]),
        )
        for number in range(chance.choice([20, 300]))
    ]
    text = KINDS[name].envelope([KINDS[name].write(record) for record in records])
    path.write_bytes(text.replace("\n", chance.choice(["\n", "\r\n"])).encode())

    part = part_of(path, first, first + seconds)
    event("a part" if part else "the whole file")

    if part:
        assert part.stat().st_size <= path.stat().st_size / 2
        assert events(part, first, first + seconds) == events(path, first, first + seconds)


def test_a_part_is_little_more_than_its_time_range(log):
    path = log(lines(range(10_000)))
    part = part_of(path, 5_000, 5_099)
    times = [int(line.split()[-1]) for line in part.read_text().splitlines()]
    assert times == list(range(times[0], times[-1] + 1))
    assert 5_000 - SLACK_SECONDS - 5 <= times[0] <= 5_000 - SLACK_SECONDS
    assert 5_099 + SLACK_SECONDS <= times[-1] <= 5_099 + SLACK_SECONDS + 5


@pytest.mark.parametrize(
    ("first", "last", "least", "most"),
    [(9_000, None, 9_000, 9_999), (None, 900, 0, 900), (-900, -800, 0, -1), (11_000, None, 0, -1)],
)
def test_a_range_may_be_open_or_empty(log, first, last, least, most):
    part = part_of(log(lines(range(10_000))), first, last)
    times = {int(line.split()[-1]) for line in part.read_text().splitlines()}
    assert set(range(least, most + 1)) <= times
    assert len(times) < 1_100


def test_a_part_has_the_time_of_the_file_since_times_without_a_year_depend_on_it(log):
    path = log(lines(range(1000)))
    os.utime(path, (FIRST, FIRST))
    assert part_of(path, 0, 10).stat().st_mtime == FIRST


@pytest.mark.parametrize("place", [100, 500, 900])
def test_a_file_that_is_not_sorted_is_refused(log, place):
    times = list(range(1000))
    path = log(lines(times[place:] + times[:place]))
    sentence = r"app.log: the event at byte [\d,]+ is [\d,]+ seconds earlier than one before it"
    with pytest.raises(NotSortedError, match=sentence):
        part_of(path, 0, 10)


@pytest.mark.parametrize(
    "content",
    [
        b"",
        gzip.compress(lines(range(1000)).encode()),
        lines(range(1000)).encode("utf-16"),
        "no time\n" * 1000,
        '{"timestamp": 1717338360000, "message": "a"}\n' * 1000,
        "account-id interface-id srcaddr start\n" + "1 eni-1 10.0.0.1 1717338360\n" * 1000,
        lines([0]) + "a continuation\n" * 1000,
    ],
    ids=["empty", "packed", "UTF-16", "without times", "events", "with columns", "one event"],
)
def test_another_file_is_read_whole(log, content):
    assert part_of(log(content), 100, 200) is None


@pytest.mark.parametrize("name", sorted(KINDS.keys() - {"CloudTrail"}))
def test_a_log_of_any_kind_has_parts(log, name):
    records = (Record(BEGIN + number * 20_000, "INFO", 7) for number in range(300))
    path = log(KINDS[name].envelope([KINDS[name].write(record) for record in records]))
    part = part_of(path, 3_000, 3_100)
    assert part.stat().st_size < path.stat().st_size / 10
    assert len(events(part, 3_000, 3_100)) == 6


def test_a_file_whose_part_has_no_room_is_read_whole(log, tmp_path):
    path = log(lines(range(1000)))
    (tmp_path / "part").write_text("no folder")
    assert part_of(path, 0, 10) is None


def test_a_small_file_is_read_whole(log):
    path = log(lines(range(1000)))
    assert part_of(path, 0, 10, least_bytes=10**6) is None
    assert part_of(path, 0, 10, least_bytes=10**3)


def test_a_file_of_which_more_than_half_is_needed_is_read_whole(log):
    assert part_of(log(lines(range(1000))), 0, 600) is None


def test_a_part_whose_first_lines_choose_another_clock_is_read_whole(log):
    rest = "".join(f"INFO {line}\n" for line in lines(range(5_000, 9_000)).splitlines())
    path = log(lines(range(5000)) + rest)
    assert part_of(path, 8_000, None) is None
    assert part_of(path, 0, 100)
