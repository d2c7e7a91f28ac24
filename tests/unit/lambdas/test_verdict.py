"""What the trials of two versions tell."""

import pytest

from lambdas.verdict import verdict


@pytest.mark.parametrize(
    ("base", "new", "said"),
    [
        ([1000, 1000], [999.99, 999.99], "same"),
        ([1000, 1000], [951, 951], "same"),
        ([1000, 1000], [949, 949], "slower"),
        ([1000, 1001, 1002], [1020, 1021, 1022], "same"),
        ([1000, 1010, 1020], [1040, 1050, 1060], "faster"),
        ([1000, 1030, 1060], [1010, 1040, 1070], "cannot tell"),
    ],
)
def test_a_change_that_is_small_for_sure_is_none_and_another_is_one_if_it_is_sure(base, new, said):
    assert verdict(base, new, "higher").said == said
