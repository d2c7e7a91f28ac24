"""The state machine that refreshes the data sets of reports, over a fake QuickSight."""

import json

import pytest

from local.asl.errors import StateError
from suites.files import ROOT

TEXT = (ROOT / "cdk" / "refresh.asl.json").read_text(encoding="utf-8")
SDK = "arn:aws:states:::aws-sdk:quicksight"
TAKEN = ["QUEUED", "RUNNING", "COMPLETED"]


class QuickSight:
    """Ends each import as it is told to: its statuses one after the other, or an error."""

    def __init__(self, lab):
        self.lab = lab
        self.imports = {}
        self.errors = {}
        self.created = []
        lab.integrations[f"{SDK}:createIngestion"] = self.create
        lab.integrations[f"{SDK}:describeIngestion"] = self.describe

    async def create(self, arguments, _submission):
        self.created.append(arguments)
        if errors := self.errors.get(arguments["DataSetId"]):
            raise StateError(errors.pop(0), "because")
        return {"IngestionStatus": "INITIALIZED"}

    async def describe(self, arguments, _submission):
        left = self.imports.setdefault(arguments["DataSetId"], list(TAKEN))
        status, _, error = left.pop(0).partition(": ")
        told = {"ErrorInfo": {"Type": error}} if error else {}
        return {"Ingestion": {"IngestionStatus": status, **told}}

    def refresh(self, *names):
        text = TEXT.replace("${DataSets}", ",".join(names)).replace("${Account}", "123456789012")
        machine = json.loads(text)
        return self.lab.run(machine.pop("States"), {"detail": {}}, **machine)


@pytest.fixture
def quicksight(lab):
    return QuickSight(lab)


@pytest.mark.parametrize("names", [["rates"], ["rates", "runs", "samples"]])
def test_every_data_set_is_imported_once_under_the_name_of_the_execution(quicksight, names):
    execution = quicksight.refresh(*names)

    assert execution.status == "SUCCEEDED", execution.cause
    assert sorted(quicksight.created, key=json.dumps) == [
        {"AwsAccountId": "123456789012", "DataSetId": name, "IngestionId": "run"} for name in names
    ]
    assert quicksight.imports == {name: [] for name in names}


def test_an_import_whose_place_a_later_one_took_has_not_failed(quicksight):
    quicksight.imports["runs"] = ["RUNNING", "FAILED: INGESTION_SUPERSEDED"]

    assert quicksight.refresh("runs").status == "SUCCEEDED"


def test_an_import_is_asked_for_again_until_another_has_ended(quicksight):
    quicksight.errors["runs"] = ["QuickSight.LimitExceededException"] * 7

    assert quicksight.refresh("runs").status == "SUCCEEDED"
    assert len(quicksight.created) == 8


@pytest.mark.parametrize("status", ["FAILED", "CANCELLED"])
def test_an_import_that_failed_is_named_when_all_others_are_done(quicksight, status):
    quicksight.imports["runs"] = ["RUNNING", status]

    execution = quicksight.refresh("rates", "runs", "samples")

    assert (execution.status, execution.error) == ("FAILED", "Reports.NotRefreshed")
    assert execution.cause == f"runs: {status}"
    assert quicksight.imports == {"rates": [], "runs": [], "samples": []}


def test_what_quicksight_does_not_take_is_named_too(quicksight):
    quicksight.errors = {
        "rates": ["QuickSight.LimitExceededException"] * 8,
        "runs": ["QuickSight.ResourceNotFoundException"],
    }

    execution = quicksight.refresh("rates", "runs", "samples")

    assert execution.cause == (
        "rates: QuickSight.LimitExceededException, runs: QuickSight.ResourceNotFoundException"
    )
    assert quicksight.imports == {"samples": []}


def test_what_is_throttled_is_asked_again(quicksight):
    quicksight.errors = {"rates": ["QuickSight.ThrottlingException"] * 5}

    assert quicksight.refresh("rates").status == "SUCCEEDED"
    assert len(quicksight.created) == 6


def test_an_import_that_does_not_end_is_named_before_the_execution_is_out_of_time(quicksight):
    quicksight.imports["rates"] = ["RUNNING"] * 1000

    execution = quicksight.refresh("rates", "runs")

    assert execution.cause == "rates: not imported after 50 minutes"
    assert quicksight.imports["runs"] == []
