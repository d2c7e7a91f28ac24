"""The state machine that refreshes the data sets of reports, over a fake QuickSight."""

import json

import pytest

from cdk.definitions import definition
from onebox.asl.errors import StateError

TEXT = definition("refresh")
SDK = "arn:aws:states:::aws-sdk:quicksight"
STATUSES = ["QUEUED", "RUNNING", "COMPLETED"]


class QuickSight:
    """A fake of QuickSight whose imports pass through the statuses, or errors, of a test."""

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
        statuses = self.imports.setdefault(arguments["DataSetId"], list(STATUSES))
        status, _, error = statuses.pop(0).partition(": ")
        error_info = {"ErrorInfo": {"Type": error}} if error else {}
        return {"Ingestion": {"IngestionStatus": status, **error_info}}

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


def test_a_superseded_import_has_not_failed(quicksight):
    quicksight.imports["runs"] = ["RUNNING", "FAILED: INGESTION_SUPERSEDED"]

    assert quicksight.refresh("runs").status == "SUCCEEDED"


def test_an_import_above_the_limit_is_repeated_until_another_ends(quicksight):
    quicksight.errors["runs"] = ["QuickSight.LimitExceededException"] * 7

    assert quicksight.refresh("runs").status == "SUCCEEDED"
    assert len(quicksight.created) == 8


@pytest.mark.parametrize("status", ["FAILED", "CANCELLED"])
def test_a_failed_import_is_named_after_all_others_end(quicksight, status):
    quicksight.imports["runs"] = ["RUNNING", status]

    execution = quicksight.refresh("rates", "runs", "samples")

    assert (execution.status, execution.error) == ("FAILED", "Reports.NotRefreshed")
    assert execution.cause == f"runs: {status}"
    assert quicksight.imports == {"rates": [], "runs": [], "samples": []}


def test_an_import_that_quicksight_refuses_is_named(quicksight):
    quicksight.errors = {
        "rates": ["QuickSight.LimitExceededException"] * 8,
        "runs": ["QuickSight.ResourceNotFoundException"],
    }

    execution = quicksight.refresh("rates", "runs", "samples")

    assert execution.cause == (
        "rates: QuickSight.LimitExceededException, runs: QuickSight.ResourceNotFoundException"
    )
    assert quicksight.imports == {"samples": []}


def test_a_throttled_import_is_repeated(quicksight):
    quicksight.errors = {"rates": ["QuickSight.ThrottlingException"] * 5}

    assert quicksight.refresh("rates").status == "SUCCEEDED"
    assert len(quicksight.created) == 6


def test_an_endless_import_is_named_before_the_execution_times_out(quicksight):
    quicksight.imports["rates"] = ["RUNNING"] * 1000

    execution = quicksight.refresh("rates", "runs")

    assert execution.cause == "rates: not imported after 50 minutes"
    assert quicksight.imports["runs"] == []
