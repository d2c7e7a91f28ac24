import pytest
from pydantic import ValidationError

from tidemark.model.refusal import problems
from tidemark.model.subject import Subject

FORM = r"\d+\.\d+\.\d+"


def subject(**fields):
    return Subject.model_validate({"form": FORM, **fields})


def refusals(**fields):
    with pytest.raises(ValidationError) as error:
        subject(**fields)
    return [problem.sentence for problem in problems(Subject, error.value)]


@pytest.mark.parametrize(
    ("fields", "version", "requirement"),
    [
        ({"package": "rocksdict", "versions": {"9.0.0": "0.3.23"}}, "9.0.0", "rocksdict==0.3.23"),
        ({"package": "chdb", "versions": ["3.1.0"]}, "3.1.0", "chdb==3.1.0"),
        ({"package": "chdb", "versions": ["3.1.0"]}, "3.2.0", "chdb==3.2.0"),
        ({"package": "chdb"}, "3.2.0", "chdb==3.2.0"),
        (
            {"package": "deltalake", "versions": {"0.20.2": ["deltalake==0.20.2", "pyarrow==17"]}},
            "0.20.2",
            "deltalake==0.20.2 pyarrow==17",
        ),
        ({"image": "ghcr.io/x/y:v{version}"}, "1.2.3", "ghcr.io/x/y:v1.2.3"),
        ({"image": "localhost:5000/y:{version}-jdk"}, "1.2.3", "localhost:5000/y:1.2.3-jdk"),
        ({"image": "y:{version}", "versions": {"1.2.3": "r7"}}, "1.2.3", "y:r7"),
        ({"prepare": ["./install.sh"], "versions": {"1.2.3": "r7"}}, "1.2.3", "r7"),
        ({"folder": "~/kiwi", "advice": "build it"}, "1.2.3", "1.2.3"),
        (
            {"folder": "/kiwi", "advice": "build it", "versions": {"1.2.3": "kiwi-r7"}},
            "1.2.3",
            "kiwi-r7",
        ),
    ],
)
def test_a_version_is_installed_from_its_release(fields, version, requirement):
    found = subject(**fields)

    assert found.has(version)
    assert found.requirement(version) == requirement
    assert Subject.model_validate_json(found.model_dump_json()) == found


def test_a_mapping_of_releases_has_no_other_versions():
    assert not subject(package="rocksdict", versions={"9.0.0": "0.3.23"}).has("9.0.1")


def test_a_version_of_another_form_is_unknown():
    assert not subject(package="chdb").has("newest")


@pytest.mark.parametrize(
    ("fields", "sentence"),
    [
        (
            {},
            "there is no kind; expected exactly one of package, image, prepare, folder, instance",
        ),
        (
            {"package": "chdb", "image": "chdb:{version}"},
            "there is package, image; expected exactly one of package, image, prepare, folder, "
            "instance",
        ),
        ({"folder": "~/kiwi"}, "folder: it also needs advice"),
        ({"package": "chdb", "advice": "x"}, "advice: it also needs folder"),
        (
            {"folder": "kiwi", "advice": "build it"},
            "folder: 'kiwi' is not accepted; expected a path without spaces that begins with / or "
            "~/",
        ),
        (
            {"image": "chdb:latest"},
            "image: 'chdb:latest' is not accepted; expected an image with {version} once, in its "
            "tag, such as ghcr.io/x/y:{version}",
        ),
        (
            {"instance": "kiwi"},
            "instance: 'kiwi' is not accepted; expected names with values",
        ),
        (
            {"package": "chdb", "versions": [3.1]},
            "versions: 3.1 is not text; write the version in quotes",
        ),
        (
            {"package": "chdb", "versions": ["3.1.0", "3.1.0"]},
            "versions: '3.1.0' is given twice",
        ),
        (
            {"package": "chdb", "versions": {"3.1.0": ["chdb>=3"]}},
            "versions.3.1.0: ['chdb>=3'] is not accepted; expected a version such as 1.4.0, or a "
            "list of requirements such as [deltalake==0.20.2]",
        ),
        (
            {"package": "deltalake", "versions": {"0.20.2": ["pyarrow==17.0.0"]}},
            "versions.0.20.2: pyarrow==17.0.0 is not accepted; expected deltalake== first",
        ),
        (
            {"prepare": ["make"], "versions": {"0.20.2": ["pyarrow==17.0.0"]}},
            "versions.0.20.2: pyarrow==17.0.0 is not accepted; expected a version",
        ),
    ],
)
def test_a_subject_that_installs_nothing_certain_is_refused(fields, sentence):
    assert refusals(**fields) == [sentence]
