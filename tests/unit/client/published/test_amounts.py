import re

import pytest

from tidemark.client.published.amounts import amount, is_missing


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
    ["36,60", "3,6,000", "~366000", "366000-378000", "∞", "NaN", "1e999", "-5", "366000 MB/s"],
)
def test_any_other_text_is_no_figure(text):
    with pytest.raises(ValueError, match="is no f"):
        amount(text, "records/s")


@pytest.mark.parametrize("text", ["", "-", "–", "—", "n/a", "N/A", "TBD", "not measured"])
def test_a_cell_may_say_that_there_is_no_figure(text):
    assert is_missing(text)
