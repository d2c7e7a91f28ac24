import json
import re
from pathlib import Path

import pytest
from aws_cdk import App, Stack
from aws_cdk.assertions import Annotations, Match, Template
from aws_cdk.aws_ecs import FargateTaskDefinition

from cdk.app import build
from cdk.programs import existing_image, image_of, service_image
from tests.component.infrastructure.granted import granted
from tidemark.model.checkout import written_context
from tidemark.model.refusal import Refused
from tidemark.model.settings import read_settings
from tidemark.model.suite import Suite
from tidemark.model.suite_files import read_suites

REGISTRY = "210987654321.dkr.ecr.eu-west-2"


def load_suite(subject=None, **task):
    """Return RocksDB's suite as one of the workload ``load``, with another subject or task."""
    fields = read_suites()["rocksdb"].model_dump(by_alias=True)
    if subject:
        fields |= {"subject": subject, "defaults": {**fields["defaults"], "versions": ["1"]}}
    words = {"workload": "load", "entry_point": ["python", "task.py"], **task}
    return Suite.model_validate({**fields, "name": "load", "task": {**fields["task"], **words}})


LOAD = load_suite()


def synthesise(image):
    """Return the task definition and the policies of a task that runs an image."""
    stack = Stack(App(), "Stack")
    definition = FargateTaskDefinition(stack, "Task")
    definition.add_container("main", image=existing_image(stack, image))
    template = Template.from_stack(stack)
    return [
        json.dumps(template.find_resources(kind))
        for kind in ("AWS::ECS::TaskDefinition", "AWS::IAM::Policy")
    ]


@pytest.mark.parametrize(
    ("suffix", "version"),
    [
        ("", ":latest"),
        (":1.2", ":1.2"),
        ("@sha256:0af3", "@sha256:0af3"),
        (":1.2@sha256:0af3", "@sha256:0af3"),
    ],
)
def test_an_image_of_ecr_is_pulled_from_its_own_account_and_region(suffix, version):
    task, policies = synthesise(f"{REGISTRY}.amazonaws.com/perf/workload{suffix}")

    assert f'"{REGISTRY}.", {{"Ref": "AWS::URLSuffix"}}, "/perf/workload{version}"' in task
    assert "ecr:BatchGetImage" in policies
    assert ':ecr:eu-west-2:210987654321:repository/perf/workload"' in policies


def test_an_image_of_another_registry_is_named_in_full_and_needs_no_grant():
    task, policies = synthesise("ghcr.io/perf/workload:1.2")

    assert '"ghcr.io/perf/workload:1.2"' in task
    assert policies == "{}"


@pytest.fixture
def systems(tmp_path):
    """Return the settings of a folder with one workload, which has a Dockerfile."""
    (tmp_path / "suites").mkdir()
    folder = tmp_path / "workloads" / "load"
    folder.mkdir(parents=True)
    (folder / "Dockerfile").write_text("FROM scratch\n")
    (folder / "task.py").write_text("")
    return read_settings({**written_context(), "systems": str(tmp_path)})


@pytest.fixture
def built(tmp_path):
    """Return the function that builds the image of a suite: the folder and what Docker is told."""

    def built(suite, settings, outdir="out"):
        app = App(outdir=str(tmp_path / outdir))
        image_of(Stack(app, "Stack"), suite, settings)
        assembly = Path(app.synth().directory)
        (folder,) = assembly.glob("asset.*")
        (assets,) = assembly.glob("*.assets.json")
        (image,) = json.loads(assets.read_text())["dockerImages"].values()
        return folder, image["source"]

    return built


def test_an_image_is_built_from_its_workload_and_the_harness(built, systems):
    folder, _ = built(LOAD, systems)

    assert sorted(path.name for path in folder.iterdir()) == ["harness", "load"]
    assert (folder / "load" / "task.py").exists()
    assert (folder / "harness" / "harness" / "preparation.py").exists()


def test_the_same_workload_has_the_same_image(built, systems):
    (one, _), (two, _) = (built(LOAD, systems, outdir) for outdir in ("one", "two"))

    assert one.name == two.name


def test_a_workload_that_needs_python_alone_needs_no_dockerfile(built, systems, tmp_path):
    (tmp_path / "workloads" / "load" / "Dockerfile").unlink()

    _, told = built(LOAD, systems)

    assert told["dockerFile"] == "harness/Dockerfile"
    assert told["dockerBuildArgs"] == {"WORKLOAD": "load"}


def test_a_prebuilt_image_has_each_listed_version_and_comes_from_the_package_index(built, systems):
    locked = {"prebuilt": True, "package_index": "https://packages.example.com/python/"}

    _, told = built(LOAD, systems.model_copy(update=locked))

    arguments, index = told["dockerBuildArgs"], locked["package_index"]
    assert (arguments["PIP_INDEX_URL"], arguments["UV_DEFAULT_INDEX"]) == (index, index)
    inside = json.loads(arguments["TIDEMARK_VERSIONS"])
    assert {"TIDEMARK_VERSION": "9.8.4", "TIDEMARK_PACKAGE": "rocksdict==0.3.29"} in inside
    assert len(inside) == len(LOAD.subject.versions)


def test_an_image_has_the_pythons_that_a_run_may_set(built, systems):
    suite = LOAD.model_copy(update={"axes": {"python": ("3.12", "3.13")}})

    _, told = built(suite, systems)

    assert told["dockerBuildArgs"]["TIDEMARK_PYTHONS"] == "3.12 3.13"


@pytest.mark.parametrize(
    "suite",
    [
        load_suite(entry_point=["java", "-jar", "load.jar"]),
        load_suite(subject={"prepare": ["./prepare.sh"], "form": "1"}),
    ],
)
def test_a_workload_that_needs_more_than_python_needs_a_dockerfile_or_an_image(
    systems, tmp_path, suite
):
    (tmp_path / "workloads" / "load" / "Dockerfile").unlink()
    stack = Stack(App(), "Stack")

    image_of(stack, suite, systems)

    (error,) = Annotations.from_stack(stack).find_error("*", Match.any_value())
    assert error.entry.data == (
        "workloads/load has no Dockerfile and needs more than Python: add one, or name an image, "
        "such as -c images=load=ghcr.io/owner/name:tag."
    )


def test_an_image_of_a_suite_is_named_by_the_suite_or_for_all_others(systems):
    text = {**written_context(), "images": "one=a:1,*=none"}
    settings = read_settings(text)

    assert [settings.image(suite) for suite in ("one", "two")] == ["a:1", "none"]
    assert systems.image("one") is None


def test_an_image_of_a_service_is_named_by_its_suite_and_its_name():
    kiwi = Stack(App(), "Stack"), read_suites()["kiwi"], "server"
    settings = read_settings({**written_context(), "images": "kiwi/server=x/kiwi:1,kiwi=x/load:2"})

    task = FargateTaskDefinition(kiwi[0], "Task")
    task.add_container("main", image=service_image(*kiwi, settings))

    assert '"x/kiwi:1"' in json.dumps(Template.from_stack(kiwi[0]).to_json())


def test_an_image_of_an_unknown_service_is_refused():
    with pytest.raises(Refused, match=r"images: there is no suite 'kiwi/client'"):
        build(App(context={"images": "kiwi/client=x/kiwi:1"}))


def definition_of(template, container):
    (found,) = [
        definition["Properties"]
        for definition in template.find_resources("AWS::ECS::TaskDefinition").values()
        if definition["Properties"]["ContainerDefinitions"][0]["Name"] == container
    ]
    return found


def statements_of(template, role):
    """Return the statements of a role with each of their actions, with texts for resources."""
    return {
        each["Action"]: (json.dumps(each["Resource"]), each.get("Condition"))
        for _, each in granted(template, role)
        if isinstance(each["Action"], str)
    }


def test_the_tasks_of_a_suite_of_images_start_with_the_images_own_program(everything):
    plum = definition_of(everything, "plum")

    (container,) = plum["ContainerDefinitions"]
    assert plum["Family"] == "Tidemark_plum"
    assert "/perf/plum:version" in json.dumps(container["Image"])
    assert not {"EntryPoint", "Environment", "DockerLabels"} & container.keys()


def test_prepare_trial_may_define_the_images_of_such_suites_and_run_nothing(everything, template):
    by_action = statements_of(everything, "FunctionsPrepareTrial")

    family, _ = by_action["ecs:RegisterTaskDefinition"]
    assert ":task-definition/Tidemark_plum-*:*" in family
    assert by_action["ecs:TagResource"] == (
        family,
        {"StringEquals": {"ecs:CreateAction": "RegisterTaskDefinition"}},
    )
    roles, passed_to = by_action["iam:PassRole"]
    assert passed_to == {"StringEquals": {"iam:PassedToService": "ecs-tasks.amazonaws.com"}}
    assert sorted(set(re.findall(r"SystemTests\w+?(?:Task|Execution)Role", roles))) == [
        "SystemTestsPlumTaskExecutionRole",
        "SystemTestsPlumTaskTaskRole",
    ]
    assert "ecs:RunTask" not in by_action
    assert not [action for action in statements_of(template, "PrepareTrial") if "ecs" in action]


def test_a_trial_may_run_every_image_of_such_a_suite_but_not_the_deployed_definition(everything):
    resources, _ = statements_of(everything, "WorkflowTrialRole")["ecs:RunTask"]

    assert ":task-definition/Tidemark_plum-*:*" in resources
    assert "SystemTestsPlumTask" not in resources


def test_a_trial_may_call_the_functions_that_a_suite_names_and_no_others(everything, template):
    def callees(of):
        return [
            json.dumps(each["Resource"])
            for _, each in granted(of, "WorkflowTrial")
            if each["Action"] == "lambda:InvokeFunction" and "plum" in str(each)
        ]

    (named,) = callees(everything)
    assert named.count("function:") == 2
    assert '":function:plum-reset"' in named
    assert '":function:pear-*-reset"' in named
    assert callees(template) == []


def test_the_images_of_a_suite_are_pulled_from_the_repository_that_it_names(everything):
    resources, _ = statements_of(everything, "PlumTaskExecutionRole")["ecr:GetAuthorizationToken"]
    policies = json.dumps(everything.find_resources("AWS::IAM::Policy"))

    assert resources == '"*"'
    assert ":ecr:eu-west-2:210987654321:repository/perf/plum" in policies


def test_the_setting_images_does_not_name_the_image_of_such_a_suite(systems_with_images):
    images = "plum=x/plum:1.2,rocksdb=x/rocksdb:1"

    with pytest.raises(Refused) as refused:
        build(App(context={"systems": systems_with_images, "images": images}))

    assert str(refused.value) == (
        "cdk.json: context: images: 'plum' is not accepted: the subject of the suite names an "
        "image of each version; leave it out"
    )
