"""``tidemark calibrate``: what it accepts, and the page that it keeps."""

import pytest

from tests.unit.figures.test_calibration import calibrated
from tidemark.cli.calibrate import found_here, losses
from tidemark.model.refusal import Refused
from tidemark.report.markdown import markdown


def test_percentages_are_whole_numbers_with_commas():
    assert losses("0,5, 20") == [0, 5, 20]
    with pytest.raises(Refused, match=r"^--slowed: '5%' is not accepted; expected percentages "):
        losses("5%")


def test_the_page_of_a_calibration_has_its_run_and_a_row_for_each_metric():
    plan, _ = calibrated(scatter=0.02)
    rows = [{"metric": "ingest_cpu", "scatter of a round": "2.0%", "1 min": "5%"}]

    text = markdown(found_here(plan, "The smallest slowdown that runs find:", rows))

    assert text.startswith("# RocksDB: what runs find here\n")
    assert (
        f"Run {plan.run_id} measured 9.8.4 beside itself, slowed by 0, 10 %, in 12 rounds." in text
    )
    assert "| ingest_cpu | 2.0% | 5% |" in text
