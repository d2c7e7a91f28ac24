"""The task definitions of the image of a version."""

import pytest

from tests.plans import system_of
from tests.unit.fakes import FakeTaskDefinitions
from tidemark.model.checkout import ROOT
from tidemark.model.refusal import Refused
from tidemark.model.results import TaskResult
from tidemark.model.suite_files import read_suites
from tidemark.run.ecs_resources import with_image

SUITE = read_suites(ROOT / "images")["mattermost"]
SYSTEM = system_of("mattermost", services={"server": "server:1", "agent_1": "agent:1"})


@pytest.mark.parametrize(
    ("database", "without"), [("postgres", "mysql, app_mysql"), ("mysql", "postgres, app")]
)
def test_the_containers_of_a_database_run_the_image_and_the_load_stays(database, without):
    axes, image = {"database": database}, "x/mattermost:10.6.0"

    system = with_image(SYSTEM, SUITE, image, axes, FakeTaskDefinitions())

    assert system.task_definition == "task:1"
    assert system.services == {
        "server": f"server:1 with {image} in app, app_mysql without {without}",
        "agent_1": "agent:1",
    }  # fmt: skip


def test_a_trial_without_a_database_is_refused():
    with pytest.raises(Refused, match=r"^axes: server runs a version under database alone; name"):
        with_image(SYSTEM, SUITE, "x/mattermost:10.6.0", {}, FakeTaskDefinitions())


def test_the_log_of_a_service_whose_container_failed_is_that_of_the_container():
    died = TaskResult(
        index=1, status="failed", service="server", container="app",
        task_arn="arn:aws:ecs:eu-west-2:1:task/c/0123",
    )  # fmt: skip

    assert SYSTEM.streams([died]) == {"0123": "mattermost/app/0123"}
