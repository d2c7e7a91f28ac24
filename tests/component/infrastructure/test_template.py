import json
import subprocess
import sys
from pathlib import Path

import pytest
from aws_cdk.assertions import Match

from cdk.definitions import definition as definition_of
from cdk.functions import module_of
from cdk.permissions import FUNCTIONS, needs_of
from tests.last_seen import assert_last_seen
from tidemark.model.request import resolve_request
from tidemark.model.suite_files import read_suites
from tidemark.money.prices import REPORT_MEMORY, TRIALS_MEMORY, list_prices
from tidemark.run.collect_rates import patience_seconds
from tidemark.store.keys import BELOW_A_SECRET, DATA

SUITES = sorted(read_suites())
PROGRAMS = sum(1 + len(suite.services) for suite in read_suites().values())


def actions(statement):
    value = statement["Action"]
    return [value] if isinstance(value, str) else value


def resources(statement):
    value = statement["Resource"]
    return value if isinstance(value, list) else [value]


def with_a_number(template):
    """Return the template with a number for each time limit that is an expression."""
    for resource in template["Resources"].values():
        if resource["Type"] == "AWS::StepFunctions::StateMachine":
            resource.pop("Metadata", None)
            text = resource["Properties"]["DefinitionString"]
            number = text.replace('"{% $step.timeout_seconds %}"', "60")
            resource["Properties"]["DefinitionString"] = number
    return template


def linted(folder, *templates):
    """Return the exit code and the output of cfn-lint."""
    for number, template in enumerate(templates):
        (folder / f"{number}.json").write_text(json.dumps(template))
    done = subprocess.run(
        # W3005 is about DependsOn that CDK itself writes. W6001 is about outputs that repeat those
        # of the other stack, so that commands need only one stack.
        [
            Path(sys.executable).with_name("cfn-lint"),
            *("--ignore-checks", "W3005", "W6001"),
            "--",
            *sorted(folder.iterdir()),
        ],
        capture_output=True,
        text=True,
        check=False,
    )

    return done.returncode, done.stdout + done.stderr


def test_collect_rates_copies_what_tasks_left_only_if_a_suite_keeps_files():
    suites = read_suites()
    without, keeping = (needs_of([suites[name]])["CollectRates"] for name in ("sleeper", "rocksdb"))

    assert (suites["sleeper"].keeps_files, suites["rocksdb"].keeps_files) == (False, True)
    assert {*keeping.reads} - {*without.reads} == {"work/data/*"}
    assert {*keeping.writes} - {*without.writes} == {"artefacts/*"}


def test_only_functions_of_a_deployment_with_a_profiler_reach_profiles():
    suites = list(read_suites().values())

    def reaching(deployed):
        needs = needs_of(deployed).items()
        return {
            name
            for name, each in needs
            if any("profile" in key for key in (*each.reads, *each.writes, *each.lists))
        }

    assert reaching([suite.model_copy(update={"profiler": None}) for suite in suites]) == set()
    assert reaching(suites) == {
        "PlanRun", "ChooseTrial", "RecordTrial", "RecordOutcome", "PublishReport",
        "PublishComparison", "EndRun", "SweepRuns",
    }  # fmt: skip


def test_cfn_lint_finds_no_problem(data, everything, tmp_path):
    assert linted(tmp_path, data.to_json(), with_a_number(everything.to_json())) == (0, "")


@pytest.mark.systems
def test_cfn_lint_skips_that_expression(everything, tmp_path):
    assert linted(tmp_path, everything.to_json()) == (0, "")


def test_results_have_a_separate_stack_that_is_not_deleted_by_mistake(stack, data):
    assert (stack.stack_name, stack.data.stack_name) == ("Tidemark", "Tidemark-Data")
    assert stack.data.termination_protection
    kinds = {resource["Type"] for resource in data.to_json()["Resources"].values()}
    assert kinds == {
        "AWS::S3::Bucket", "AWS::S3::BucketPolicy", "AWS::Glue::Database", "AWS::Glue::Table",
        "AWS::Athena::WorkGroup",
    }  # fmt: skip


def test_the_bucket_is_private_and_encrypted_and_outlives_its_stack(data):
    data.has_resource(
        "AWS::S3::Bucket",
        {
            "DeletionPolicy": "Retain",
            "UpdateReplacePolicy": "Retain",
            "Properties": {
                "PublicAccessBlockConfiguration": {
                    "BlockPublicAcls": True,
                    "BlockPublicPolicy": True,
                    "IgnorePublicAcls": True,
                    "RestrictPublicBuckets": True,
                },
                "BucketEncryption": Match.any_value(),
            },
        },
    )


def test_the_outputs_hold_an_input_that_is_accepted(template):
    (output,) = template.find_outputs("RocksdbInput").values()

    assert resolve_request(json.loads(output["Value"]), read_suites()).suite == "rocksdb"


def test_the_replaceable_stack_leaves_nothing_behind(everything):
    resources = everything.to_json()["Resources"]

    assert [
        key for key, resource in resources.items() if resource.get("DeletionPolicy") == "Retain"
    ] == []


def test_only_working_data_and_query_results_expire(data):
    (bucket,) = data.find_resources("AWS::S3::Bucket").values()
    rules = bucket["Properties"]["LifecycleConfiguration"]["Rules"]

    expiring = [rule for rule in rules if "ExpirationInDays" in rule]
    assert [(rule["Prefix"], rule["ExpirationInDays"]) for rule in expiring] == [
        ("work/", 2),
        ("athena/", 7),
    ]
    # Overwritten and deleted objects stay as old versions, but for those that expire anyway.
    assert bucket["Properties"]["VersioningConfiguration"] == {"Status": "Enabled"}
    assert [rule for rule in rules if "NoncurrentVersionExpiration" in rule] == expiring
    assert {rule["NoncurrentVersionExpiration"]["NoncurrentDays"] for rule in expiring} == {1}


def test_there_is_one_function_for_each_state_with_its_handler(template):
    functions = template.find_resources("AWS::Lambda::Function").values()

    assert {function["Properties"]["Handler"] for function in functions} == {
        f"lambdas.{module_of(state)}.handler" for state in FUNCTIONS
    }


def test_functions_that_read_every_trial_have_the_memory_for_the_largest_run(template):
    memory = {
        function["Properties"]["Handler"].split(".")[1]: function["Properties"]["MemorySize"]
        for function in template.find_resources("AWS::Lambda::Function").values()
    }

    # As `make bench` measures them at the largest accepted run.
    drawing = {"publish_report", "publish_comparison", "end_run", "sweep_runs"}
    assert {state for state, size in memory.items() if size == REPORT_MEMORY} == drawing
    # RecordTrial holds the stacks of all tasks of a profiled test.
    reading = {"record_rates", "record_outcome", "record_trial"}
    assert {state for state, size in memory.items() if size == TRIALS_MEMORY} == reading
    # A new account has at most 3,008 MB for a function.
    assert max(memory.values()) <= 3008


def test_every_function_has_a_time_limit_pinned_layer_and_logs_that_expire(template):
    for function in template.find_resources("AWS::Lambda::Function").values():
        properties = function["Properties"]
        assert properties["Timeout"] <= 900
        (layer,) = properties["Layers"]
        assert "AWSLambdaPowertoolsPythonV3-python313-arm64:27" in json.dumps(layer)
        assert "LogGroup" in properties["LoggingConfig"]
    for group in template.find_resources("AWS::Logs::LogGroup").values():
        assert group["Properties"]["RetentionInDays"] == 30


def test_a_function_times_out_before_its_state_does(template):
    limits = {
        function["Properties"]["Handler"]: function["Properties"]["Timeout"]
        for function in template.find_resources("AWS::Lambda::Function").values()
    }
    for definition in definitions(template):
        for _, state in states_of(definition):
            function = state.get("Arguments", {}).get("FunctionName", "")
            # A suite has the time limit of a function that it names.
            if function and function != "{% $step.function %}":
                name = function.strip("${}")
                assert limits[f"lambdas.{module_of(name)}.handler"] < state["TimeoutSeconds"]


def test_collect_rates_has_time_for_the_queries_of_20_metrics(template):
    (function,) = [
        function["Properties"]
        for function in template.find_resources("AWS::Lambda::Function").values()
        if function["Properties"]["Handler"] == "lambdas.collect_rates.handler"
    ]
    (test, *_) = read_suites()["rocksdb"].tests
    for metrics in (1, 20):
        larger = test.model_copy(update={"metrics": test.metrics[:1] * metrics})
        queries = 2 * metrics + 2
        assert patience_seconds(larger) * queries <= function["Timeout"] - 60


def test_tasks_run_on_the_platform_of_the_price_list(template):
    platform = {
        "CpuArchitecture": list_prices().architecture,
        "OperatingSystemFamily": "LINUX",
    }
    for task in template.find_resources("AWS::ECS::TaskDefinition").values():
        assert task["Properties"]["RuntimePlatform"] == platform


def test_tasks_run_on_fargate_with_the_size_and_log_prefix_of_their_suite(template):
    template.has_resource_properties(
        "AWS::ECS::TaskDefinition",
        {
            "RequiresCompatibilities": ["FARGATE"],
            "Cpu": "2048",
            "Memory": "8192",
            "ContainerDefinitions": [
                Match.object_like(
                    {
                        "Name": "rocksdb",
                        "EntryPoint": [
                            *("python", "-S", "-m", "harness.preparation"),
                            *("python", "-m", "harness", "rocksdb_workload"),
                        ],
                        "DockerLabels": {"tidemark.workload": "rocksdb"},
                        "LogConfiguration": Match.object_like(
                            {"Options": Match.object_like({"awslogs-stream-prefix": "rocksdb"})}
                        ),
                    }
                )
            ],
        },
    )


def test_tasks_may_use_only_the_data_of_trials_in_the_bucket(policies):
    roles = [role for role in policies if "TaskTaskRole" in role]

    assert len(roles) == PROGRAMS
    for role in roles:
        objects, listing, *owned = policies[role]
        # Its suite owns buckets, queues and tables.
        assert bool(owned) == ("Sleeper" in role)
        assert actions(objects) == ["s3:GetObject", "s3:PutObject"]
        assert [resource["Fn::Join"][1][-1] for resource in resources(objects)] == [f"/{DATA}*"]
        assert actions(listing) == ["s3:ListBucket"]
        assert listing["Condition"] == {"StringLike": {"s3:prefix": BELOW_A_SECRET}}


# The actions that are allowed on every resource, each with its reason.
WILDCARDS = {
    "ecs:StopTask": "the tasks do not exist yet; a condition limits it to our cluster",
    "ecs:DescribeTasks": "the tasks do not exist yet; a condition limits it to our cluster",
    "ecs:ListTasks": "Fargate has no container instances; a condition limits it to our cluster",
    "logs:GetQueryResults": "a query has no ARN",
    "logs:StopQuery": "a query has no ARN",
    "servicequotas:GetAWSDefaultServiceQuota": "it takes no resource: a default has no owner",
    "ecr:GetAuthorizationToken": "the token is the account's, not a repository's",
    "xray:PutTraceSegments": "X-Ray's segments have no ARN",
    "xray:PutTelemetryRecords": "as above",
    "xray:GetSamplingRules": "as above",
    "xray:GetSamplingTargets": "as above",
    # Step Functions user guide, "Logging using CloudWatch Logs": none of them takes a resource.
    "logs:CreateLogDelivery": "CloudWatch Logs API actions of log delivery take no resource",
    "logs:GetLogDelivery": "as above",
    "logs:UpdateLogDelivery": "as above",
    "logs:DeleteLogDelivery": "as above",
    "logs:ListLogDeliveries": "as above",
    "logs:PutResourcePolicy": "as above",
    "logs:DescribeResourcePolicies": "as above",
    "logs:DescribeLogGroups": "as above",
}


def test_no_statement_has_a_wildcard_without_a_reason(policies):
    for statements in policies.values():
        for statement in statements:
            assert not [action for action in actions(statement) if "*" in action]
            if "*" in resources(statement):
                assert set(actions(statement)) <= set(WILDCARDS)


def test_ecs_wildcards_are_limited_to_the_cluster(policies):
    stopping = [
        statement
        for statements in policies.values()
        for statement in statements
        if "ecs:StopTask" in actions(statement)
    ]

    assert stopping
    assert all("ecs:cluster" in statement["Condition"]["ArnEquals"] for statement in stopping)


def test_a_function_may_only_do_what_its_state_needs(policies):
    def actions_of(state):
        (role,) = [role for role in policies if f"Functions{state}ServiceRole" in role]
        return {action for statement in policies[role] for action in actions(statement)} - traces

    traces = {
        "logs:CreateLogStream", "logs:PutLogEvents", "xray:PutTelemetryRecords",
        "xray:PutTraceSegments",
    }  # fmt: skip
    assert actions_of("ClassifyStop") == set()
    assert actions_of("PlanRun") == {
        "s3:GetObject", "s3:PutObject", "s3:ListBucket", "states:DescribeExecution",
        "ssm:GetParameter", "servicequotas:GetServiceQuota",
        "servicequotas:GetAWSDefaultServiceQuota",
    }  # fmt: skip
    assert actions_of("PrepareTrial") == {"s3:GetObject"}
    assert actions_of("ChooseTrial") == {
        "s3:GetObject", "s3:PutObject", "s3:ListBucket", "s3:DeleteObject",
    }  # fmt: skip
    assert actions_of("CleanUpTrial") == {"s3:DeleteObject", "s3:ListBucket"}
    assert actions_of("CollectRates") == {
        "s3:GetObject", "s3:PutObject", "logs:StartQuery", "logs:GetQueryResults", "logs:StopQuery",
        "ecs:ListTasks", "ecs:DescribeTasks", "ecs:StopTask", "s3:ListBucket",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("action", "arn_ends"),
    [
        ("ssm:GetParameter", [f":parameter/Tidemark/{suite}/versions" for suite in SUITES]),
        ("servicequotas:GetServiceQuota", [":fargate/L-3032A538", ":vpc/L-DF5E4CA3"]),
    ],
)
def test_plan_run_reads_only_the_parameters_and_quotas_of_its_runs(policies, action, arn_ends):
    found = [
        resource["Fn::Join"][1][-1]
        for statements in policies.values()
        for statement in statements
        if action in actions(statement)
        for resource in resources(statement)
    ]

    assert found == arn_ends


def test_a_function_logs_only_to_its_group_and_no_role_has_a_managed_policy(template, policies):
    for role in template.find_resources("AWS::IAM::Role").values():
        assert "ManagedPolicyArns" not in role["Properties"]
    for function in template.find_resources("AWS::Lambda::Function").values():
        properties = function["Properties"]
        (statement,) = [
            statement
            for statement in policies[properties["Role"]["Fn::GetAtt"][0]]
            if "logs:PutLogEvents" in actions(statement)
        ]
        group = properties["LoggingConfig"]["LogGroup"]["Ref"]
        assert resources(statement) == [{"Fn::GetAtt": [group, "Arn"]}]


def test_functions_and_machines_are_traced_and_machines_log_every_event(everything):
    for function in everything.find_resources("AWS::Lambda::Function").values():
        assert function["Properties"]["TracingConfig"] == {"Mode": "Active"}
    for machine in everything.find_resources("AWS::StepFunctions::StateMachine").values():
        properties = machine["Properties"]
        assert properties["TracingConfiguration"] == {"Enabled": True}
        assert properties["LoggingConfiguration"]["Level"] == "ALL"
        assert properties["LoggingConfiguration"]["IncludeExecutionData"] is False
    names = [
        group["Properties"].get("LogGroupName")
        for group in everything.find_resources("AWS::Logs::LogGroup").values()
    ]
    assert {"/aws/vendedlogs/states/Tidemark/Run", "/aws/vendedlogs/states/Tidemark/Trial"} < {
        *names
    }


def test_machines_may_invoke_their_functions_and_no_version_of_them(policies):
    (role,) = [role for role in policies if role.startswith("WorkflowRunRole")]
    invoked = [
        resource
        for statement in policies[role]
        if "lambda:InvokeFunction" in actions(statement)
        for resource in resources(statement)
    ]

    assert invoked
    assert not [resource for resource in invoked if "*" in json.dumps(resource)]


def test_listing_is_limited_to_prefixes(policies):
    for statements in policies.values():
        for statement in statements:
            # A task lists the whole of a bucket that it made itself: test_owned.py.
            allowed = {*actions(statement)}
            if "s3:ListBucket" in allowed and "s3:CreateBucket" not in allowed:
                assert statement["Condition"]["StringLike"]["s3:prefix"]


def definitions(template):
    """Yield the definition of each state machine, with its placeholders."""
    for machine in template.find_resources("AWS::StepFunctions::StateMachine").values():
        text = machine["Properties"]["DefinitionString"]
        assert isinstance(text, str)
        yield json.loads(text)


def states_of(definition):
    for name, state in definition["States"].items():
        yield name, state
        if "ItemProcessor" in state:
            yield from states_of(state["ItemProcessor"])


def test_no_stack_owns_a_log_group_that_a_service_creates(template):
    # Late events would create it again after its deletion, and the next deployment would fail.
    names = [
        json.dumps(group["Properties"].get("LogGroupName", ""))
        for group in template.find_resources("AWS::Logs::LogGroup").values()
    ]
    assert [name for name in names if "/aws/ecs/" in name or "/aws/lambda/" in name] == []


def test_every_placeholder_of_a_definition_is_filled(template):
    for machine in template.find_resources("AWS::StepFunctions::StateMachine").values():
        text = machine["Properties"]["DefinitionString"]
        placeholders = {part.split("}")[0] for part in text.split("${")[1:]}
        assert placeholders == set(machine["Properties"]["DefinitionSubstitutions"])


def test_every_task_has_a_time_limit_and_no_retry_hides_a_regression(template):
    for definition in definitions(template):
        assert definition["TimeoutSeconds"] > 0
        for _, state in states_of(definition):
            if state["Type"] == "Task":
                assert "TimeoutSeconds" in state
            for retry in state.get("Retry", []):
                assert not {"States.ALL", "States.TaskFailed"} & set(retry["ErrorEquals"])


def test_tasks_are_run_by_the_full_arn_of_their_definition(template):
    machines = template.find_resources("AWS::StepFunctions::StateMachine").values()
    substitutions = [each["Properties"]["DefinitionSubstitutions"] for each in machines]
    (systems,) = (json.dumps(each["Systems"]) for each in substitutions if "Systems" in each)
    definitions = template.find_resources("AWS::ECS::TaskDefinition")

    assert len(definitions) == PROGRAMS
    for definition in definitions:
        assert f'{{"Ref": "{definition}"}}' in systems


@pytest.mark.parametrize("name", ["trial", "workflow", "refresh"])
def test_asl_validator_accepts_the_definition(name, tmp_path):
    file = tmp_path / f"{name}.asl.json"
    text = definition_of(name).replace("${Systems}", "{'rocksdb': {}}")
    file.write_text(text, encoding="utf-8")
    done = subprocess.run(
        ["node_modules/.bin/asl-validator", "--json-path", file],
        capture_output=True,
        text=True,
        check=False,
    )

    # The exit code is 0 even if the validator did not read the file, so its output counts.
    assert f'"{file}" is valid' in done.stdout, done.stdout + done.stderr


@pytest.mark.parametrize("name", ["template", "data", "everything"])
def test_the_resources_of_each_kind_are_those_last_seen(request, name):
    kinds = {}
    for key, resource in request.getfixturevalue(name).to_json()["Resources"].items():
        # The dashboard of QuickSight has its own tests, which draw each of its sheets.
        if "QuickSight" not in resource["Type"]:
            kinds.setdefault(resource["Type"], []).append(f"{key} {json.dumps(resource)}\n")

    texts = {kind: "".join(sorted(texts)) for kind, texts in kinds.items()}
    assert_last_seen(Path(__file__).with_name("resources.json"), name, texts)
