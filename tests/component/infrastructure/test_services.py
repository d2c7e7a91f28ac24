"""The services of a suite in the synthesised template."""

import json
import re

import pytest

from tests.component.infrastructure.granted import granted


@pytest.fixture(scope="module")
def served(everything):
    """Return the definitions of the tasks of the suite with services, by their container."""
    definitions = [
        each["Properties"]
        for name, each in everything.find_resources("AWS::ECS::TaskDefinition").items()
        if "Served" in name
    ]
    containers = {each["ContainerDefinitions"][0]["Name"]: each for each in definitions}
    return {name: containers[name] for name in ("served", "database", "server")}


def test_a_service_has_a_task_of_its_own_that_starts_in_the_harness(served):
    (container,) = served["server"]["ContainerDefinitions"]

    assert (served["server"]["Cpu"], served["server"]["Memory"]) == ("512", "1024")
    assert container["EntryPoint"] == [
        "python", "-S", "-m", "harness.preparation",
        "python", "-m", "harness.service", "python", "serve.py",
    ]  # fmt: skip
    assert container["DockerLabels"] == {"tidemark.workload": "rocksdb"}


def test_a_service_logs_beside_the_tasks_of_its_tests(served):
    (test,), (server,) = (served[name]["ContainerDefinitions"] for name in ("served", "server"))

    assert server["LogConfiguration"] == test["LogConfiguration"]


def test_the_tasks_of_a_suite_with_services_reach_each_other_at_their_ports_alone(everything):
    groups = everything.find_resources("AWS::EC2::SecurityGroup")
    (own,) = (name for name in groups if "Served" in name)
    every = everything.find_resources("AWS::EC2::SecurityGroupIngress")
    rules = [each["Properties"] for name, each in every.items() if "Served" in name]

    ports = [(rule["FromPort"], rule["ToPort"]) for rule in rules]
    assert sorted(ports) == [(5432, 5432), (8080, 8080)]
    for rule in rules:
        source = rule["SourceSecurityGroupId"]["Fn::GetAtt"][0]
        assert (source, rule["GroupId"]["Fn::GetAtt"][0]) == (own, own)
    assert all("SecurityGroupIngress" not in each["Properties"] for each in groups.values())


def test_trials_may_run_the_services_and_nothing_else_of_ecs_is_granted(everything):
    definitions = everything.find_resources("AWS::ECS::TaskDefinition")
    names = [name for name in definitions if "Served" in name]
    (allowed,) = [each for _, each in granted(everything) if each["Action"] == "ecs:RunTask"]
    assert len(names) == 3
    assert all(name in json.dumps(allowed["Resource"]) for name in names)


def test_the_queries_of_services_are_saved_for_suites_with_services_alone(everything):
    saved = everything.find_resources("AWS::Logs::QueryDefinition").values()
    (groups,) = [
        json.dumps(each["Properties"]["LogGroupNames"])
        for each in saved
        if each["Properties"]["Name"] == "Tidemark/last_lines"
    ]

    assert re.findall(r"SystemTests([A-Z][a-z]+)Logs", groups) == ["Kiwi", "Served", "Sleeper"]
