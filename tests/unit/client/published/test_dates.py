from datetime import date

import pytest

from tidemark.client.published.dates import Day, day_of, order_of
from tidemark.model.refusal import Refused


def read(*texts, given=None):
    days = [Day(text, line) for line, text in enumerate(texts, start=1)]
    order = order_of(days, given)
    return [day_of(day, order) for day in days]


@pytest.mark.parametrize(
    "text",
    [
        "2022-06-13", "2022/06/13", "2022.06.13", "2022-06-13T10:02:11Z", "13/06/2022",
        "13.06.2022", "13-06-2022", "06/13/2022", "13 June 2022", "13th June 2022", "June 13, 2022",
        "13-Jun-2022", "Mon 13 Jun 2022", "Monday, 13 June 2022",
    ],
)  # fmt: skip
def test_a_day_is_read_in_the_usual_forms(text):
    assert read(text) == [date(2022, 6, 13)]


@pytest.mark.parametrize("text", ["13 Sept. 2022", "13-Sept-2022", "Sept 13, 2022"])
def test_september_has_two_abbreviations(text):
    assert read(text) == [date(2022, 9, 13)]


def test_another_row_tells_the_order_of_day_and_month():
    assert read("06/01/2023", "13/06/2022") == [date(2023, 1, 6), date(2022, 6, 13)]
    assert read("06/01/2023", "06/13/2022") == [date(2023, 6, 1), date(2022, 6, 13)]


def test_the_user_may_tell_the_order():
    assert read("06/01/2023", given="day-first") == [date(2023, 1, 6)]
    assert read("06/01/2023", given="month-first") == [date(2023, 6, 1)]


def test_equal_day_and_month_need_no_order():
    assert read("06/06/2023") == [date(2023, 6, 6)]


@pytest.mark.parametrize(
    ("texts", "given", "sentence"),
    [
        (["2022-06-13", "06/01/2023"], None, "line 2: 06/01/2023 may be 2023-01-06 or 2023-06-01; "
         "--dates day-first or --dates month-first says which"),
        (["13/06/2022", "06/13/2022"], None, "line 2: 13/06/2022 in line 1 is day-first and "
         "06/13/2022 in line 2 is month-first; expected one order"),
        (["13/06/2022"], "month-first", "line 1: 13/06/2022 is day-first, and --dates says "
         "month-first"),
        (["31/02/2022"], None, "line 1: '31/02/2022' is no day; expected the form of 2022-06-13, "
         "13/06/2022 or 13 June 2022"),
        (["13/06/22"], None, "line 1: '13/06/22' is no day; expected the form of 2022-06-13, "
         "13/06/2022 or 13 June 2022"),
        (["June 2022"], None, "line 1: 'June 2022' is no day; expected the form of 2022-06-13, "
         "13/06/2022 or 13 June 2022"),
    ],
)  # fmt: skip
def test_a_day_that_may_be_another_is_refused_with_its_line(texts, given, sentence):
    with pytest.raises(Refused) as refused:
        read(*texts, given=given)

    assert str(refused.value) == f"FILE: {sentence}"
