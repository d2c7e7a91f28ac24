"""``tidemark calibrate``: what it accepts, and the page that it keeps."""

from types import SimpleNamespace

import pytest

from tests.unit.figures.test_calibration import calibrated
from tests.unit.measured_runs import bucket_of
from tidemark.cli.calibrate import FILE, _cells, _rounds, _tell, found_here, losses
from tidemark.figures import calibration
from tidemark.figures.calibration import Found
from tidemark.figures.version_rates import quantities
from tidemark.model.refusal import Refused
from tidemark.report.markdown import markdown


def test_percentages_are_whole_numbers_with_commas():
    assert losses("0,5, 20") == [0, 5, 20]
    with pytest.raises(Refused, match=r"^--slowed: '5%' is not accepted; expected percentages "):
        losses("5%")


def test_a_row_has_the_smallest_slowdown_of_each_length_and_the_most_false_alarms():
    plan, trials = calibrated(scatter=0.02)
    (quantity, *_) = quantities(plan, trials)
    lengths = [Found(6, None, 0.0), Found(30, 0.05, 0.015), Found(180, 0.02, 0.005)]

    assert dict(_cells(quantity, [0.01, -0.01, 0.03, -0.03], lengths)) == {
        "metric": quantity.name,
        "scatter of a pair": "2.6%",
        "1 min": "over 50%",
        "5 min": "5%",
        "30 min": "2%",
        "false alarms": "1.5%",
    }


@pytest.mark.parametrize(
    ("rounds", "words"), [(1, "A repetition of two versions"), (0, "Fewer than")]
)
def test_the_noise_is_unknown_only_where_there_are_not_two_pairs(
    tmp_path, capsys, monkeypatch, rounds, words
):
    monkeypatch.setattr(calibration, "DRAWS", 10)  # of runs: the page is checked, not its shares
    plan, trials = calibrated(scatter=0.02)
    recorded = [trial for trial in trials if trial.repetition <= rounds]

    _tell(SimpleNamespace(bucket=bucket_of(plan, recorded)), plan, tmp_path)

    assert capsys.readouterr().out.startswith(words)
    assert len(list(tmp_path.rglob(FILE))) == rounds


def test_the_page_of_a_calibration_has_its_run_and_a_row_for_each_metric():
    plan, _ = calibrated(scatter=0.02)
    rows = [{"metric": "ingest_cpu", "scatter of a pair": "2.0%", "1 min": "5%"}]

    text = markdown(found_here(plan, "The smallest slowdown that runs find:", rows))

    assert text.startswith("# RocksDB: what runs find here\n")
    assert (
        f"Run {plan.run_id} measured 9.8.4 beside itself, slowed by 0, 10 %, in 12 repetitions."
        in text
    )
    assert "| ingest_cpu | 2.0% | 5% |" in text


def test_a_time_has_room_for_whole_rounds_and_for_one_at_least():
    assert [_rounds(5, seconds) for seconds in (20.0, 299, 300, 301)] == [15, 1, 1, 1]
