"""A folder of jars for each version, from the command line to the task."""

import json
import subprocess

import pytest
from harness.installation import jars_of_version
from harness.task import ConfigurationError

from tidemark.cli.builds import with_builds
from tidemark.model.refusal import Refused
from tidemark.model.request import resolve_request
from tidemark.model.run_spec import requirement
from tidemark.model.subject import Subject
from tidemark.model.suite_files import read_suites
from tidemark.model.task import preparation_variables

ADVICE = "build the tag with Maven"


@pytest.fixture
def suite(tmp_path):
    """Return a suite whose folder has jars of version 1.2.0, and a folder 1.3.0 without any."""
    (tmp_path / "1.2.0" / "more").mkdir(parents=True)
    (tmp_path / "1.3.0").mkdir()
    (tmp_path / "1.3.0" / "README").touch()
    for name in ("core", "b", "a-1"):
        (tmp_path / "1.2.0" / f"{name}.jar").write_text(name)
    (tmp_path / "1.2.0" / "more" / "other.jar").touch()
    subject = Subject(folder=str(tmp_path), advice=ADVICE, form=r"\d\.\d\.\d")
    return read_suites()["rocksdb"].model_copy(update={"subject": subject})


def variables(suite, version):
    """Return the version that a run measures, and the variables of its tasks."""
    fields = {"suite": "rocksdb", "versions": [version]}
    fields = with_builds(fields, suite.subject, here=True)
    request = resolve_request(fields, {"rocksdb": suite})
    (measured,) = request.versions
    package = requirement(request, suite, measured)
    return measured, {**preparation_variables(suite.subject), "TIDEMARK_PACKAGE": package}


def test_a_version_has_the_jars_in_the_folder_of_its_name(suite, tmp_path):
    measured, found = variables(suite, "1.2.0")

    assert measured == "1.2.0"
    assert jars_of_version(found) == tmp_path / "1.2.0"


def test_any_folder_of_jars_is_measured_under_its_name_and_the_digest_of_its_jars(suite, tmp_path):
    folder = tmp_path / "my build"
    (tmp_path / "1.2.0").rename(folder)
    with pytest.raises(
        Refused, match=r" the version 'my build\+\w{8}'; expected a letter or digit, and "
    ):
        variables(suite, str(folder))

    folder = folder.rename(tmp_path / "mine")
    measured, found = variables(suite, f"{folder}/")

    sums = "LC_ALL=C; export LC_ALL; sha256sum *.jar | sha256sum"
    done = subprocess.run(
        ["sh", "-c", sums], cwd=folder, capture_output=True, text=True, check=True
    )
    assert measured == f"mine+{done.stdout[:8]}"
    assert jars_of_version(found) == folder


def test_folders_and_hidden_files_are_no_jars(suite, tmp_path):
    before, _ = variables(suite, str(tmp_path / "1.2.0"))
    (tmp_path / "1.2.0" / "folder.jar").mkdir()
    (tmp_path / "1.2.0" / ".hidden.jar").touch()

    after, found = variables(suite, str(tmp_path / "1.2.0"))

    assert after == before
    assert jars_of_version(found) == tmp_path / "1.2.0"


def test_a_jar_that_cannot_be_read_is_named(suite, tmp_path):
    _, found = variables(suite, str(tmp_path / "1.2.0"))
    # The first bytes of a process's memory belong to nobody, not even to root.
    (tmp_path / "1.2.0" / "bad.jar").symlink_to("/proc/self/mem")

    with pytest.raises(Refused, match=r"/1\.2\.0' cannot be read: Input/output error$"):
        variables(suite, str(tmp_path / "1.2.0"))
    with pytest.raises(ConfigurationError, match=r"/bad\.jar cannot be read: Input/output error$"):
        jars_of_version(found)


def test_jars_that_changed_after_the_plan_are_refused(suite, tmp_path):
    _, found = variables(suite, str(tmp_path / "1.2.0"))
    (tmp_path / "1.2.0" / "core.jar").write_text("another")

    with pytest.raises(ConfigurationError, match=r"/1\.2\.0 has other jars than when the run was"):
        jars_of_version(found)


@pytest.mark.parametrize("version", ["1.3.0", "1.4.0"])
def test_a_version_without_jars_is_refused_with_the_way_to_get_them(suite, tmp_path, version):
    _, found = variables(suite, version)

    with pytest.raises(ConfigurationError) as refusal:
        jars_of_version(found)

    assert str(refusal.value) == f"{tmp_path / version} has no file *.jar: {ADVICE}"


@pytest.mark.parametrize("text", ["./nothing", "git:1a2b3c4", "x.whl"])
def test_what_is_no_folder_of_jars_is_refused(suite, text):
    with pytest.raises(Refused) as refused:
        variables(suite, text)

    assert str(refused.value) == f"versions: {text!r} has no file *.jar; expected a folder of jars"


def test_the_folder_of_the_suite_may_be_in_the_home_of_the_user(suite, tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path.parent))
    place = json.dumps([f"~/{tmp_path.name}", ADVICE])

    found = jars_of_version({"TIDEMARK_JARS": place, "TIDEMARK_PACKAGE": "1.2.0"})

    assert found == tmp_path / "1.2.0"
