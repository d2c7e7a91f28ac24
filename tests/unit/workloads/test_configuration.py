import pytest
from harness.task import Configuration, ConfigurationError

VARIABLES = {
    "TIDEMARK_VERSION": "9.0.0",
    "TIDEMARK_PACKAGE": "rocksdict==0.3.23",
    "TIDEMARK_RECORDS": "1000",
    "TIDEMARK_JOBS": "2",
    "TIDEMARK_SEED": "7",
    "TIDEMARK_TASK": "3",
    "TIDEMARK_DATA": "s3://results/work/20261120T124455Z-0a1b2c/001/",
}


def test_all_variables_are_read():
    configuration = Configuration.from_environment({**VARIABLES, "PATH": "/bin"})

    assert configuration == Configuration(
        version="9.0.0",
        package="rocksdict==0.3.23",
        records=1000,
        jobs=2,
        seed=7,
        task=3,
        bucket="results",
        prefix="work/20261120T124455Z-0a1b2c/001/task-0003/",
    )


def test_a_version_that_no_package_carries_has_none():
    variables = {key: value for key, value in VARIABLES.items() if key != "TIDEMARK_PACKAGE"}

    assert Configuration.from_environment(variables).package == ""


def test_the_place_of_a_task_is_an_address():
    configuration = Configuration.from_environment(VARIABLES)

    assert configuration.place == "s3://results/work/20261120T124455Z-0a1b2c/001/task-0003/"


def test_tasks_of_one_test_have_separate_places():
    first, second = (
        Configuration.from_environment({**VARIABLES, "TIDEMARK_TASK": task}) for task in "12"
    )

    assert first.prefix != second.prefix


@pytest.mark.parametrize("name", sorted(VARIABLES.keys() - {"TIDEMARK_PACKAGE"}))
def test_a_missing_variable_is_named(name):
    variables = {key: value for key, value in VARIABLES.items() if key != name}

    with pytest.raises(ConfigurationError, match=rf"^{name} is missing: .+ is accepted\.$"):
        Configuration.from_environment(variables)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("TIDEMARK_VERSION", "9.0.0\n"),
        ("TIDEMARK_VERSION", "../x"),
        ("TIDEMARK_RECORDS", ""),
        ("TIDEMARK_RECORDS", "0"),
        ("TIDEMARK_RECORDS", "-1"),
        ("TIDEMARK_RECORDS", "1e6"),
        ("TIDEMARK_RECORDS", "10000001"),
        ("TIDEMARK_JOBS", "0"),
        ("TIDEMARK_SEED", "9223372036854775808"),
        ("TIDEMARK_TASK", "10000"),
        ("TIDEMARK_DATA", "s3://results"),
        ("TIDEMARK_DATA", "/tmp/results"),
        ("TIDEMARK_DATA", "s3://Results/work"),
    ],
)
def test_a_refused_value_is_named_with_the_accepted_ones(name, value):
    with pytest.raises(ConfigurationError) as refusal:
        Configuration.from_environment({**VARIABLES, name: value})

    assert str(refusal.value).startswith(f"{name} is ")
    assert str(refusal.value).endswith(" is accepted.")
    assert "\n" not in str(refusal.value)
