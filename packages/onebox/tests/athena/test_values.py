import math
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from onebox.athena.execution import double_text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_the_text_of_a_double_reads_as_the_same_double(value):
    assert struct.pack("d", float(double_text(value))) == struct.pack("d", value)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        # Java documentation, Double.toString
        (100.0, "100.0"),
        (-0.0, "-0.0"),
        (1e7, "1.0E7"),
        (1.23456789e8, "1.23456789E8"),
        (9_999_999.0, "9999999.0"),
        (0.001, "0.001"),
        (0.00099, "9.9E-4"),
        (-1.5e-10, "-1.5E-10"),
        (5e-324, "5.0E-324"),
        (1.7976931348623157e308, "1.7976931348623157E308"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
        (math.nan, "NaN"),
    ],
)
def test_a_double_has_its_text_in_java(value, expected):
    assert double_text(value) == expected
