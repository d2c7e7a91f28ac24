"""The task definitions of the image of a version."""

from tests.plans import system_of
from tests.unit.fakes import FakeTaskDefinitions
from tidemark.model.checkout import ROOT
from tidemark.model.results import TaskResult
from tidemark.model.suite_files import read_suites
from tidemark.run.ecs_resources import with_image

SUITE = read_suites(ROOT / "images")["mattermost"]
SYSTEM = system_of("mattermost", services={"server": "server:1", "agent_1": "agent:1"})


def test_the_container_of_a_service_runs_the_image_and_the_load_stays():
    system = with_image(SYSTEM, SUITE, "x/mattermost:10.6.0", FakeTaskDefinitions())

    assert system.task_definition == "task:1"
    assert system.services == {
        "server": "server:1 with x/mattermost:10.6.0 in app", "agent_1": "agent:1",
    }  # fmt: skip


def test_the_log_of_a_service_whose_container_failed_is_that_of_the_container():
    died = TaskResult(
        index=1, status="failed", service="server", container="app",
        task_arn="arn:aws:ecs:eu-west-2:1:task/c/0123",
    )  # fmt: skip

    assert SYSTEM.streams([died]) == {"0123": "mattermost/app/0123"}
