"""The load of a test: prepared, set level by level and kept by the handlers, over fakes."""

import json

import pytest

from lambdas import check_condition, prepare_trial
from tests.plans import RUN
from tests.unit.lambdas.test_handlers import collect, log
from tests.unit.lambdas.test_services import RUNNING, SERVICE, TRIAL, at
from tidemark.model.load import Load
from tidemark.model.services import Service
from tidemark.model.steps import RunTasks, Step
from tidemark.store import keys

LOAD = Load.model_validate({
    "agents": ["server"], "query": "ingest_rate", "limits": {"mean_ms": 100.0},
    "plateaus": {"first": 1, "searches": 1}, "bounds": {"users": 1, "seconds": 60},
})  # fmt: skip
LEFT = f"work/data/{RUN}/001/secret"
ARTEFACTS = f"s3://bucket/{LEFT}/artefacts/ingest/"


@pytest.fixture(autouse=True)
def load_in_plan(world, plan):
    """Store the plan with a load in its first test, before the tasks."""
    steps = (Step(name="search", load=LOAD), Step(name="report", run_tasks=RunTasks()))
    services = {"server": Service.model_validate(SERVICE)}
    world.store(plan, {"services": ("server",), "steps": steps}, {"services": services})


def ask(world, after):
    return world.call(
        check_condition,
        {
            **TRIAL, "test": "ingest", "step": "search", "tasks": [], "services": [RUNNING],
            "artefacts": ARTEFACTS, "started_at": at(0), "waiting_since": at(0),
            "now": at(after), "awaited": "levels", "bytes_scanned": 0,
        },
    )  # fmt: skip


def test_prepare_trial_gives_the_query_of_a_load_and_the_address_of_its_levels(world):
    ingest, compaction = world.call(prepare_trial, TRIAL)["tests"]

    assert ingest["steps"][1] == {"name": "search", "awaited": "ingest_rate"}
    address = {each["Name"]: each["Value"] for each in ingest["environment"]}["TIDEMARK_LEVELS"]
    assert address == ingest["artefacts"].replace("/artefacts/ingest/", "/levels/ingest.json")
    assert "TIDEMARK_LEVELS" not in {each["Name"] for each in compaction["environment"]}


def test_the_levels_that_were_held_are_kept_with_the_result_of_the_test(world):
    ask(world, 0)
    row = {"@logStream": "rocksdb/server/s1", "level": "1", "users": "1", "mean_ms": "7.5"}
    world.logs.answers = {"stats avg": [row]}

    answer = ask(world, 17)

    why = "step search: 1 user hit no limit, and the search has no more"
    assert (answer["over"], answer["stopped_by"]) == (True, why)
    log(world)
    collect(world, statuses=[], artefacts=ARTEFACTS, stopped_by=why)
    result = world.json(keys.measured(RUN, 1, "ingest"))
    assert result["load"] == json.loads(
        world.bucket.read(keys.course(f"{LEFT}/levels/ingest.json"))
    )
    (held,) = result["load"]["held"]
    assert (held["users"], held["values"], held["hit"]) == (1, {"mean_ms": 7.5}, [])


def test_a_test_whose_load_never_began_has_no_levels(world):
    log(world)

    collect(world, statuses=[], artefacts=ARTEFACTS, stopped_by="service server: it ended")

    assert "load" not in world.json(keys.measured(RUN, 1, "ingest"))
