"""The containers of images beside the program of a service, in the synthesised template."""

import pytest
from aws_cdk import App

from cdk.app import build
from tests.component.infrastructure.synthesised import Synthesised
from tests.component.infrastructure.test_findings import synth
from tests.component.infrastructure.test_images import statements_of
from tests.component.infrastructure.test_template import linted, with_a_number
from tidemark.model.checkout import ROOT

IMAGE = "mattermost/mattermost-team-edition:version"


@pytest.fixture(scope="module")
def app(tmp_path_factory):
    """Return the app and the stack of a deployment of the folder images."""
    context = {"systems": str(ROOT / "images")}
    app = App(outdir=str(tmp_path_factory.mktemp("images")), context=context)
    return app, build(app)


@pytest.fixture(scope="module")
def template(app):
    return Synthesised(app[1])


@pytest.fixture(scope="module")
def definitions(template):
    """Return the definitions of its programs, by their first container."""
    definitions = template.find_resources("AWS::ECS::TaskDefinition").values()
    found = [each["Properties"] for each in definitions]
    return {each["ContainerDefinitions"][0]["Name"]: each for each in found}


def test_the_containers_of_a_service_stand_in_one_task(definitions):
    program, *beside = definitions["server"]["ContainerDefinitions"]
    containers = {each["Name"]: each for each in beside}

    assert program["EntryPoint"][-2:] == ["python", "serve.py"]
    assert {name: each["Image"] for name, each in containers.items()} == {
        "postgres": "postgres:15.13-bookworm", "mysql": "mysql:8.0.42", "app": IMAGE,
        "app_mysql": IMAGE,
    }  # fmt: skip
    command = containers["postgres"]["Command"]
    assert command[:2] == ["-c", "shared_preload_libraries=pg_stat_statements"]
    for app, driver in (("app", "postgres"), ("app_mysql", "mysql")):
        variable = {"Name": "MM_SQLSETTINGS_DRIVERNAME", "Value": driver}
        assert variable in containers[app]["Environment"]
    assert all(each["Essential"] for each in (program, *beside))


def test_all_containers_of_a_service_log_beside_its_program(definitions):
    program, *others = definitions["server"]["ContainerDefinitions"]

    assert all(each["LogConfiguration"] == program["LogConfiguration"] for each in others)


def test_only_the_service_with_the_image_of_the_version_has_a_family_for_its_images(definitions):
    assert definitions["server"]["Family"] == "Tidemark_mattermost-server"
    others = {each["Family"] for name, each in definitions.items() if name != "server"}
    assert not [family for family in others if family.startswith("Tidemark_")]


def test_a_trial_may_run_every_image_of_the_service_and_the_load_as_deployed(template):
    resources, _ = statements_of(template, "WorkflowTrialRole")["ecs:RunTask"]

    assert ":task-definition/Tidemark_mattermost-*:*" in resources
    for deployed in ("MattermostTask", "MattermostAgent_1Task"):
        assert f"SystemTests{deployed}".replace("_", "") in resources
    assert "SystemTestsMattermostServerTask" not in resources


def test_the_port_of_the_server_is_open_and_that_of_its_database_is_not(template):
    rules = template.find_resources("AWS::EC2::SecurityGroupIngress").values()
    ports = {each["Properties"]["FromPort"] for each in rules}

    assert ports == {8065, 8090}


def test_prepare_trial_may_define_the_image_of_the_service_alone(template):
    by_action = statements_of(template, "FunctionsPrepareTrial")

    assert ":task-definition/Tidemark_mattermost-*:*" in by_action["ecs:RegisterTaskDefinition"][0]


def test_the_deployment_has_no_finding(app):
    synth(app[0])


@pytest.mark.systems
def test_cfn_lint_finds_no_problem_with_it(template, tmp_path):
    assert linted(tmp_path, with_a_number(template.to_json())) == (0, "")
