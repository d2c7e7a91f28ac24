"""The gate of ``tidemark run --fail-on slower``."""

import pytest
from rich.console import Console

from tests.unit.measured_runs import planned
from tests.unit.report.test_pipelines import SAME, SLOWER, UNTOLD
from tidemark.cli.run import gate

VERSIONS = ["9.8.4", "8.8.1", "9.0.0"]


class Store:
    """The stored comparisons of a run; it notes which were asked for."""

    def __init__(self, *documents):
        self.documents, self.asked = list(documents), []
        self.publisher = self.bucket = self

    def comparison(self, _suite, base, new):
        self.asked.append((base.split("/")[1], new.split("/")[1]))
        return {"json": str(len(self.asked) - 1)}

    def read(self, key):
        return self.documents[int(key)].model_dump_json().encode()


@pytest.mark.parametrize(
    ("more", "compared"),
    [
        ({}, [("8.8.1", "9.0.0"), ("9.0.0", "9.8.4")]),
        ({"baseline": "9.0.0"}, [("9.0.0", "8.8.1"), ("9.0.0", "9.8.4")]),
    ],
)
def test_versions_are_compared_with_the_baseline_or_the_version_before(more, compared, capsys):
    store = Store(SAME, SLOWER)

    assert gate(store, planned(VERSIONS, **more), Console(width=200)) == 3
    assert store.asked == compared
    assert "ingest_rate: slower (no new pairs confirm it), 9.8.4" in capsys.readouterr().out


def test_a_run_that_cannot_tell_has_an_exit_code_of_its_own():
    plan = planned(["9.0.0", "9.8.4"])

    assert gate(Store(UNTOLD), plan, Console(quiet=True)) == 4
    assert gate(Store(SAME), plan, Console(quiet=True)) == 0


def test_a_run_without_a_metric_that_decides_says_so(capsys):
    metrics = (metric.model_copy(update={"decides": False}) for metric in SLOWER.metrics)
    labelled = SLOWER.model_copy(update={"metrics": tuple(metrics)})

    assert gate(Store(labelled), planned(["9.0.0", "9.8.4"]), Console(width=200)) == 4
    assert capsys.readouterr().out.endswith(
        "\nNo metric of the suite decides; give one `decides: true`.\n"
    )
