"""Task definitions of images, over the ECS API."""

import pytest

from aws.ecs import EcsTaskDefinitions

TAG = {"key": "cost-centre", "value": "4711"}


@pytest.fixture
def ecs(endpoint):
    return endpoint.client("ecs")


def deploy(ecs, **fields):
    """Register the definition of a suite; return its ARN."""
    definition = {
        "family": "Tidemark_kiwi",
        "requiresCompatibilities": ["FARGATE"],
        "networkMode": "awsvpc",
        "cpu": "1024",
        "memory": "2048",
        "taskRoleArn": "arn:aws:iam::123456789012:role/task",
        "executionRoleArn": "arn:aws:iam::123456789012:role/execution",
        "ephemeralStorage": {"sizeInGiB": 50},
        "runtimePlatform": {"cpuArchitecture": "X86_64", "operatingSystemFamily": "LINUX"},
        "containerDefinitions": [
            {"name": "kiwi", "image": "x/kiwi:version", "entryPoint": ["/load"], "stopTimeout": 30}
        ],
        "tags": [TAG],
    }
    answer = ecs.register_task_definition(**{**definition, **fields})
    return answer["taskDefinition"]["taskDefinitionArn"]


def described(ecs, arn):
    answer = ecs.describe_task_definition(taskDefinition=arn, include=["TAGS"])
    return answer["taskDefinition"], answer["tags"]


def test_an_image_gets_the_deployed_definition_in_a_family_of_its_own(ecs):
    deployed = deploy(ecs)

    arn = EcsTaskDefinitions(ecs).of_image(deployed, "x/kiwi:1.2", ["kiwi"])

    (before, _), (after, tags) = described(ecs, deployed), described(ecs, arn)
    (container,) = before["containerDefinitions"]
    assert after["containerDefinitions"] == [{**container, "image": "x/kiwi:1.2"}]
    assert after["family"].startswith("Tidemark_kiwi-")
    assert tags == [TAG]
    own = {"containerDefinitions", "family", "registeredAt", "revision", "taskDefinitionArn"}
    assert {name: after[name] for name in after.keys() - own} == {
        name: before[name] for name in before.keys() - own
    }


def test_an_image_is_registered_once_for_each_deployed_definition(ecs):
    definitions, deployed = EcsTaskDefinitions(ecs), deploy(ecs)
    images = ("x/kiwi:1.2", "x/kiwi:1.3")
    first, other = (definitions.of_image(deployed, image, ["kiwi"]) for image in images)

    assert definitions.of_image(deployed, "x/kiwi:1.2", ["kiwi"]) == first
    assert other.rpartition(":")[0] != first.rpartition(":")[0]
    again = definitions.of_image(deploy(ecs, cpu="2048"), "x/kiwi:1.2", ["kiwi"])
    assert (first.rpartition(":")[2], again) == ("1", f"{first.rpartition(':')[0]}:2")


def test_containers_beside_that_of_the_version_keep_their_images(ecs):
    database = {"name": "database", "image": "postgres:17.5"}
    app = {"name": "app", "image": "x/kiwi:version"}
    deployed = deploy(ecs, containerDefinitions=[database, app])

    arn = EcsTaskDefinitions(ecs).of_image(deployed, "x/kiwi:1.2", ["app"])

    after, _ = described(ecs, arn)
    assert {each["name"]: each["image"] for each in after["containerDefinitions"]} == {
        "database": "postgres:17.5", "app": "x/kiwi:1.2",
    }  # fmt: skip


def test_tags_that_aws_keeps_for_itself_are_not_given_again(ecs):
    deployed = deploy(ecs, tags=[TAG, {"key": "aws:cloudformation:stack-name", "value": "T"}])

    _, tags = described(ecs, EcsTaskDefinitions(ecs).of_image(deployed, "x/kiwi:1.2", ["kiwi"]))

    assert tags == [TAG]
