"""Fetched hours of log groups."""

import pytest

from cwli.insights import run
from cwli.readers.files import log_files
from cwli.readers.folders import (
    FetchedLogs,
    LogFilesError,
    folder_name,
    folder_of,
    group_name,
    log_of,
)

HOUR = 3600
NOW = 10 * HOUR
TIMES = (HOUR - 1, HOUR, 2 * HOUR - 1, 3 * HOUR, NOW - 1)


class Account:
    """Events at TIMES, each with a message of two lines; the fetches are counted."""

    def __init__(self):
        self.fetches = []
        self.fails_at = None

    def fetch(self, group, first, last):
        self.fetches.append(first // 1000 // HOUR)
        if self.fails_at == first // 1000:
            raise ConnectionError
        for second in TIMES:
            if first <= second * 1000 <= last:
                yield {
                    "timestamp": second * 1000, "message": f"{group}\n{second}", "eventId": "1",
                    "ingestionTime": 0, "logStreamName": "s", "more": 1,
                }  # fmt: skip


@pytest.fixture
def account():
    return Account()


@pytest.fixture
def logs(tmp_path, account):
    return FetchedLogs(tmp_path, account.fetch, NOW)


def seconds(files):
    rows = run("fields @message, @logStream | sort @timestamp", log_files(files)).rows
    return [int(row[0]["value"].removeprefix("/a.b\n")) for row in rows]


def test_the_events_of_whole_hours_are_fetched_once(logs, account):
    assert seconds(logs.files("/a.b", (HOUR + 5, 3 * HOUR))) == [HOUR, 2 * HOUR - 1, 3 * HOUR]
    assert account.fetches == [1, 2, 3]
    assert seconds(logs.files("/a.b", (0, 4 * HOUR))) == [HOUR - 1, HOUR, 2 * HOUR - 1, 3 * HOUR]
    assert account.fetches == [1, 2, 3, 0, 4]
    assert logs.fetched == 5


def test_an_hour_to_which_events_may_still_come_is_fetched_again(logs, account, tmp_path):
    for _ in range(2):
        assert seconds(logs.files("/a.b", (9 * HOUR, NOW + 9 * HOUR))) == [NOW - 1]
    assert account.fetches == [9, 10, 9, 10]
    later = FetchedLogs(tmp_path, account.fetch, 11 * HOUR + 900)
    assert [later.files("/a.b", (9 * HOUR, 10 * HOUR)) for _ in range(2)]
    assert account.fetches[4:] == [9, 10]


def test_an_interrupted_fetch_goes_on_with_the_missing_hours(logs, account):
    account.fails_at = 2 * HOUR
    with pytest.raises(ConnectionError):
        logs.files("/a.b", (0, 4 * HOUR))
    account.fails_at = None
    assert seconds(logs.files("/a.b", (0, 4 * HOUR))) == [HOUR - 1, HOUR, 2 * HOUR - 1, 3 * HOUR]
    assert account.fetches == [0, 1, 2, 2, 3, 4]


def test_an_hour_without_events_has_no_file_to_read(logs):
    assert logs.files("/a.b", (5 * HOUR, 6 * HOUR)) == []


def test_an_hour_of_two_time_ranges_is_fetched_once(logs, account):
    files = logs.files("/a.b", (9 * HOUR + 60, NOW - 1), (9 * HOUR, 9 * HOUR + 59), (-HOUR, -1))
    assert seconds(files) == [NOW - 1]
    assert account.fetches == [9]


def test_no_hour_before_the_oldest_event_is_fetched(account, tmp_path):
    logs = FetchedLogs(tmp_path, account.fetch, NOW, oldest=NOW - HOUR)
    assert seconds(logs.files("/a.b", (0, NOW))) == [NOW - 1]
    assert account.fetches == [9, 10]


def test_more_hours_than_a_year_has_are_refused_before_one_is_fetched(account, tmp_path):
    logs = FetchedLogs(tmp_path, account.fetch, now=8784 * HOUR)
    sentence = "/a.b: the query reads 8,785 hours of this log group; at most 8,784 are fetched"
    with pytest.raises(LogFilesError, match=sentence):
        logs.files("/a.b", (0, 8784 * HOUR))
    assert account.fetches == []


def test_a_name_that_no_folder_can_have_is_refused(logs):
    with pytest.raises(LogFilesError, match="too long"):
        logs.files("/" * 100, (0, HOUR))


@pytest.mark.parametrize("group", ["/aws/lambda/x", "a.b#[$LATEST]", "é"])
def test_the_log_of_a_fetched_file_is_its_account_and_group(account, tmp_path, group):
    folder = folder_of(tmp_path, "111122223333", "eu-west-1")
    whole, part = FetchedLogs(folder, account.fetch, NOW).files(group, (3 * HOUR, NOW))
    assert {log_of(str(file)) for file in (whole, part)} == {f"111122223333:{group}"}


@pytest.mark.parametrize("name", ["app.log", "fetched/app.log", "fetched/1/r/g/2024.jsonl.gz"])
def test_another_file_has_no_log_group(name):
    assert log_of(name) is None


@pytest.mark.parametrize("group", ["/aws/lambda/a.b", "..", "a%2Eb", "ä b"])
def test_a_log_group_has_one_folder_whose_name_is_no_path(group):
    folder = folder_name(group)
    assert not {"/", "."} & {*folder}
    assert group_name(folder) == group
