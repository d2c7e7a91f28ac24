"""Figures and days as people write them."""

import re
from datetime import date

import pytest

from tidemark.client.published.release_figure import (
    Day,
    amount,
    day_of,
    decimal_point,
    is_missing,
    order_of,
)
from tidemark.model.refusal import Refused


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("366000", 366000), ("366,000", 366000), ("366 000", 366000), ("366\u202f000", 366000),
        ("366'000", 366000), ("366_000", 366000), ("1,304,938.5", 1304938.5),
        ("146600.25", 146600.25),
        ("1.304.938", 1304938), ("734306.6000000001", 734306.6000000001), ("3.5e5", 350000),
        ("366k", 366000), ("1.3M", 1300000), ("2.5 G", 2.5e9), ("366000 records/s", 366000),
        ("366000*", 366000), ("366000 ²", 366000), ("0", 0),
        ("0.412", 0.412), ("366.0000", 366), ("1.2340", 1.234),
    ],
)  # fmt: skip
def test_a_figure_has_its_value_with_any_mark_between_thousands(text, value):
    assert amount(text, "records/s").value == value


def test_the_text_of_a_figure_keeps_its_digits_without_unit_and_marks():
    assert amount("366,000 records/s", "records/s").text == "366,000"
    assert amount("366000†", "records/s").text == "366000"


@pytest.mark.parametrize(
    ("text", "spread", "samples"),
    [
        ("366000 ± 1,200", 1200, 0), ("366000 (± 1200)", 1200, 0), ("366000 +/- 1.2k", 1200, 0),
        ("400000 ± 3 %", 12000, 0), ("366,000.0 ± 33,629.9 (6 trials)", 33629.9, 6),
        ("366000 (n = 11)", None, 11),
    ],
)  # fmt: skip
def test_a_figure_may_have_a_spread_and_a_number_of_trials(text, spread, samples):
    found = amount(text, "records/s")

    assert (found.spread, found.samples, found.text) == (spread, samples, text)


@pytest.mark.parametrize("text", ["1.3 ± 0.1M", "1.3M ± 0.1", "366 (± 5 k)"])
def test_a_scale_that_may_be_of_one_number_or_of_both_is_refused(text):
    with pytest.raises(ValueError, match=r"has [kM] behind one number; write it behind both"):
        amount(text, "records/s")


@pytest.mark.parametrize("text", ["366.000", "366000 ± 1.200"])
def test_a_point_before_three_digits_is_refused_because_it_may_stand_between_thousands(text):
    with pytest.raises(ValueError, match=r"may be \d+ or [\d.]+; write one of them") as refused:
        amount(text, "records/s")

    first, second = re.findall(r"may be (\S+) or (\S+);", str(refused.value))[0]
    assert amount(first, "records/s").value == 1000 * amount(second, "records/s").value


@pytest.mark.parametrize(
    "text",
    ["36,60", "3,6,000", "~366000", "366000-378000", "∞", "NaN", "1e999", "366000 MB/s"],
)
def test_any_other_text_is_no_figure(text):
    with pytest.raises(ValueError, match=r"is not a figure|is not a finite number"):
        amount(text, "records/s")


@pytest.mark.parametrize("text", ["", "-", "–", "—", "n/a", "N/A", "TBD", "not measured"])
def test_a_cell_may_say_that_there_is_no_figure(text):
    assert is_missing(text)


def read(*texts, given=None):
    days = [Day(text, line) for line, text in enumerate(texts, start=1)]
    order = order_of(days, given)
    return [day_of(day, order) for day in days]


@pytest.mark.parametrize(
    "text",
    [
        "2022-06-13", "2022/06/13", "2022.06.13", "2022-06-13T10:02:11Z", "13/06/2022",
        "13.06.2022", "13-06-2022", "06/13/2022", "13 June 2022", "13th June 2022", "June 13, 2022",
        "13-Jun-2022", "1655078400", "1655121600000", "Mon 13 Jun 2022", "Monday, 13 June 2022",
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
        (["13/06/2022"], "month-first", "line 1: 13/06/2022 is day-first, but --dates says "
         "month-first"),
        (["31/02/2022"], None, "line 1: '31/02/2022' is not a day; expected the form of 2022-06-13"
         ", 13/06/2022 or 13 June 2022"),
        (["13/06/22"], None, "line 1: '13/06/22' is not a day; expected the form of 2022-06-13, "
         "13/06/2022 or 13 June 2022"),
        (["June 2022"], None, "line 1: 'June 2022' is not a day; expected the form of 2022-06-13, "
         "13/06/2022 or 13 June 2022"),
    ],
)  # fmt: skip
def test_a_day_that_may_be_another_is_refused_with_its_line(texts, given, sentence):
    with pytest.raises(Refused) as refused:
        read(*texts, given=given)

    assert str(refused.value) == f"FILE: {sentence}"


@pytest.mark.parametrize(
    ("texts", "point"),
    [
        ("1.5 1,5", None), ("1.234", None), ("1.234 2.345", "."), ("1.234 2.345 12", None),
        ("1.234 1234", "."), ("1.234 12.5", "."), ("1.234 12,5", ","), ("1.234 2.345 1.234,5", ","),
        ("12 13", None),
    ],
)  # fmt: skip
def test_the_decimal_point_of_a_file_is_known_where_a_figure_tells_it(texts, point):
    assert decimal_point(texts.split(), None) == point
    assert decimal_point(texts.split(), ",") == ","
