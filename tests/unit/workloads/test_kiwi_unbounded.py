"""The level that an agent of Kiwi TCMS's unbounded test reads, and what it logs of it."""

import io
import json

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError
from harness.load import Levels, report
from harness.task import CheckFailedError

ADDRESS = "s3://bucket/data/levels/unbounded.json"


class Client:
    """A client of S3 whose object has a body, or is not there for a reason."""

    def __init__(self, body=None, fault=None):
        self.body, self.fault, self.asked = body, fault, []

    def get_object(self, **place):
        self.asked.append(place)
        if self.fault:
            raise self.fault
        return {"Body": io.BytesIO(self.body)}


def refusal(code):
    return ClientError({"Error": {"Code": code, "Message": "no"}}, "GetObject")


def body(**level):
    return json.dumps({"level": 1, "users": {"agent": 8}, "over": False, **level}).encode()


@pytest.fixture
def levels():
    return lambda client: Levels(client, ADDRESS)


def test_a_level_is_read_from_its_address(levels):
    client = Client(body(level=3))

    assert levels(client).read()["level"] == 3
    assert client.asked == [{"Bucket": "bucket", "Key": "data/levels/unbounded.json"}]


@pytest.mark.parametrize("code", ["NoSuchKey", "AccessDenied"])
def test_before_the_first_level_there_is_none(levels, code):
    assert levels(Client(fault=refusal(code))).read() is None


def test_a_level_that_was_there_and_cannot_be_read_is_named(levels):
    client = Client(body())
    read = levels(client)
    read.read()
    client.fault = refusal("AccessDenied")

    with pytest.raises(CheckFailedError, match=rf"^{ADDRESS} cannot be read: .*AccessDenied"):
        read.read()


@pytest.mark.parametrize(
    "fault", [refusal("SlowDown"), EndpointConnectionError(endpoint_url="http://x")]
)
def test_a_fault_of_the_storage_is_no_missing_level(levels, fault):
    with pytest.raises(CheckFailedError, match="cannot be read"):
        levels(Client(fault=fault)).read()


@pytest.mark.parametrize("text", [b"", b"[]", b"{}", b'{"level": "next"}', b"\xff"])
def test_an_object_that_is_no_level_is_named(levels, text):
    with pytest.raises(CheckFailedError, match=f"^{ADDRESS} is not a level of users: JSON with"):
        levels(Client(text)).read()


def test_what_each_search_found_is_logged(levels, capsys):
    report(levels(Client(body(found=[51.5, 52.0]))))

    lines = [line.partition("  - ")[2] for line in capsys.readouterr().out.splitlines()]
    assert lines == ["Supported users 51.5", "Supported users 52"]


@pytest.mark.parametrize("client", [Client(body(found=[])), Client(fault=refusal("NoSuchKey"))])
def test_searches_that_found_nothing_have_no_figure(levels, client):
    with pytest.raises(CheckFailedError, match="No search has found"):
        report(levels(client))


def test_an_interval_has_the_mean_and_the_p99_of_all_operations_together(kiwi_load):
    intervals = kiwi_load("intervals").Intervals()
    for time in range(1, 102):
        intervals.add(f"operation {time % 2}", float(time), OSError() if time == 7 else None)

    assert intervals.summary() == (101, 51.0, 100.0, 1)
    intervals.log(1)
    assert intervals.summary() == (0, 0.0, 0.0, 0)


def test_an_interval_of_one_request_has_its_time_as_p99(kiwi_load):
    intervals = kiwi_load("intervals").Intervals()
    intervals.add("operation", 7.5, None)

    assert intervals.summary() == (1, 7.5, 7.5, 0)


def test_the_use_of_the_processors_is_in_cores(kiwi_load):
    times = kiwi_load("limits").CpuTimes

    used = times(12.0, 3.5, 9.0, 8.0).since(times(10.0, 3.0, 6.0, 7.0))
    assert used == (0.25, 1.5, 0.5)
    now = times.now()
    assert now.machine >= now.own > 0 <= now.stolen
