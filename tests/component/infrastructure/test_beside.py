"""The containers of images beside the program of a service, in the synthesised template."""

import pytest

from tests.component.infrastructure.test_images import statements_of

IMAGE = "mattermost/mattermost-team-edition:version"


@pytest.fixture(scope="module")
def definitions(everything):
    """Return the definitions of the suite mattermost, by their first container."""
    found = [
        each["Properties"]
        for name, each in everything.find_resources("AWS::ECS::TaskDefinition").items()
        if "Mattermost" in name
    ]
    return {each["ContainerDefinitions"][0]["Name"]: each for each in found}


def test_the_containers_of_a_service_stand_in_one_task(definitions):
    program, database, app = definitions["server"]["ContainerDefinitions"]

    assert program["EntryPoint"][-2:] == ["python", "serve.py"]
    assert (database["Name"], app["Name"]) == ("database", "app")
    assert (database["Image"], app["Image"]) == ("postgres:15.13-bookworm", IMAGE)
    assert database["Command"][:2] == ["-c", "shared_preload_libraries=pg_stat_statements"]
    assert {"Name": "MM_SQLSETTINGS_DRIVERNAME", "Value": "postgres"} in app["Environment"]
    assert all(each["Essential"] for each in (program, database, app))


def test_all_containers_of_a_service_log_beside_its_program(definitions):
    program, *others = definitions["server"]["ContainerDefinitions"]

    assert all(each["LogConfiguration"] == program["LogConfiguration"] for each in others)


def test_only_the_service_with_the_image_of_the_version_has_a_family_for_its_images(definitions):
    assert definitions["server"]["Family"] == "Tidemark_mattermost-server"
    others = {each["Family"] for name, each in definitions.items() if name != "server"}
    assert not [family for family in others if family.startswith("Tidemark_")]


def test_a_trial_may_run_every_image_of_the_service_and_the_load_as_deployed(everything):
    resources, _ = statements_of(everything, "WorkflowTrialRole")["ecs:RunTask"]

    assert ":task-definition/Tidemark_mattermost-*:*" in resources
    for deployed in ("MattermostTask", "MattermostAgent_1Task"):
        assert f"SystemTests{deployed}".replace("_", "") in resources
    assert "SystemTestsMattermostServerTask" not in resources


def test_the_port_of_the_server_is_open_and_that_of_its_database_is_not(everything):
    rules = everything.find_resources("AWS::EC2::SecurityGroupIngress").items()
    ports = {each["Properties"]["FromPort"] for name, each in rules if "Mattermost" in name}

    assert ports == {8065, 8090}
