"""Quantiles and p-values of Student's t, against published tables."""

import pytest

from tidemark.figures.verdicts.intervals import p_value, quantile


# Source: NIST/SEMATECH e-Handbook of Statistical Methods, 1.3.6.7.2, with one-sided alphas. The
# largest quantile of one degree is tan(0.499 π); the table has it less exactly.
@pytest.mark.parametrize(
    ("freedom", "quantiles"),
    [
        (1, (6.314, 12.706, 63.657, 318.309)),
        (2, (2.920, 4.303, 9.925, 22.327)),
        (4, (2.132, 2.776, 4.604, 7.173)),
        (5, (2.015, 2.571, 4.032, 5.893)),
        (9, (1.833, 2.262, 3.250, 4.297)),
        (30, (1.697, 2.042, 2.750, 3.385)),
        (99, (1.660, 1.984, 2.626, 3.175)),
    ],
)
def test_quantiles_are_those_of_the_table(freedom, quantiles):
    for alpha, published in zip((0.1, 0.05, 0.01, 0.002), quantiles, strict=True):
        assert quantile(alpha, freedom) == pytest.approx(published, abs=1e-3)


@pytest.mark.parametrize("freedom", [1, 2, 3, 10, 99])
def test_the_p_value_of_a_quantile_is_its_alpha(freedom):
    for alpha in (0.5, 0.1, 0.01, 1e-5):
        assert p_value(quantile(alpha, freedom), freedom) == pytest.approx(alpha)
    assert p_value(0, freedom) == 1
    assert p_value(-2, freedom) == p_value(2, freedom)
