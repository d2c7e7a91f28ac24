"""One rate of calls in several units."""

import pytest

from tidemark.client.published.file_figures import contradict, printed_rate

# Kiwi TCMS publishes 71,500 API calls an hour, "19 requests/second" and 50 ms a request.
HOURLY = printed_rate("71,500", "calls/h")


@pytest.mark.parametrize(
    ("digits", "unit"), [("19.9", "calls/s"), ("50.3", "ms/call"), ("50", "ms/call")]
)
def test_the_rate_of_kiwi_is_the_same_in_each_unit(digits, unit):
    assert not contradict(HOURLY, printed_rate(digits, unit))


@pytest.mark.parametrize(
    ("digits", "unit"), [("19", "calls/s"), ("19.7", "calls/s"), ("51.3", "ms/call")]
)
def test_a_rate_that_no_rounding_explains_is_a_contradiction(digits, unit):
    assert contradict(HOURLY, printed_rate(digits, unit))


def test_the_calls_are_told_apart_by_their_noun():
    assert printed_rate("35000", "results/h").noun == "result"
    assert HOURLY.noun == printed_rate("50.3", "ms/call").noun == "request"


@pytest.mark.parametrize(
    ("digits", "unit"), [("7", "ms"), ("7", "B"), ("1.3M", "calls/s"), ("0", "calls/s")]
)
def test_other_figures_are_no_rate_of_calls(digits, unit):
    assert printed_rate(digits, unit) is None
