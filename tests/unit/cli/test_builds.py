"""Wheels and jars that commands build: versions that nobody released."""

import hashlib
import re
import shutil
import subprocess
import zipfile
from pathlib import Path

import pytest
from click.testing import CliRunner

from tidemark.cli.builds import with_builds
from tidemark.cli.suite import command
from tidemark.model.refusal import Refused
from tidemark.model.subject import Subject

PROJECT = """
[project]
name = "demo"
version = "1.2.3"
[build-system]
requires = []
build-backend = "backend"
backend-path = ["."]
"""
BACKEND = """
from pathlib import Path
import zipfile

def build_wheel(folder, config_settings=None, metadata_directory=None):
    name = "demo-1.2.3-py3-none-any.whl"
    zipfile.ZipFile(Path(folder, name), "w").close()
    return name
"""


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("TIDEMARK_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def wheel(tmp_path):
    path = tmp_path / "dist" / "demo-1.2.3-py3-none-any.whl"
    path.parent.mkdir()
    zipfile.ZipFile(path, "w").close()
    return path


@pytest.fixture
def project(tmp_path):
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "pyproject.toml").write_text(PROJECT)
    (folder / "backend.py").write_text(BACKEND)
    return folder


def git(folder, *words):
    user = ["-c", "user.name=n", "-c", "user.email=n@example.com"]
    done = subprocess.run(
        ["git", "-C", folder, *user, *words], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def subject(source=None):
    return Subject(package="demo", form=".*", source=source)


def built(text, source=None, **fields):
    return with_builds({"versions": ["1.0.0", str(text)], **fields}, subject(source), here=True)


def test_versions_without_a_build_stay_as_they_are():
    fields = {"versions": ["1.0.0", "newest"], "baseline": "1.0.0"}

    assert with_builds(fields, subject(), here=False) == fields
    assert with_builds({}, subject(), here=True) == {}


def test_a_wheel_is_named_by_its_version_and_its_digest(wheel):
    fields = built(wheel, baseline=str(wheel))

    first, name = fields["versions"]
    assert (first, fields["baseline"]) == ("1.0.0", name)
    assert re.fullmatch(r"1\.2\.3\+[0-9a-f]{8}", name)
    url, _, digest = fields["builds"][name].partition("#sha256=")
    assert url == f"file://{wheel}"
    assert digest.startswith(name.removeprefix("1.2.3+"))


def test_a_wheel_with_a_local_version_keeps_its_release(wheel):
    local = wheel.rename(wheel.with_name(wheel.name.replace("1.2.3", "1.2.3+cu117")))

    assert re.fullmatch(r"1\.2\.3\+cu117\.[0-9a-f]{8}", built(local)["versions"][1])


def test_a_folder_is_built_into_a_wheel(project):
    fields = built(project)

    assert re.fullmatch(r"1\.2\.3\+[0-9a-f]{8}", fields["versions"][1])


def test_the_code_of_a_build_gets_no_token_and_no_key(project, monkeypatch):
    secrets = ("GITHUB_TOKEN", "GITLAB_TOKEN", "CI_JOB_TOKEN", "AWS_SECRET_ACCESS_KEY", "TOKEN")
    for name in secrets:
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("UV_INDEX_OWN_PASSWORD", "needed")
    lines = "import os; open('seen', 'w').write(' '.join(os.environ))"
    with (project / "backend.py").open("a") as backend:
        backend.write(f"\n{lines}\n")

    built(project)

    seen = (project / "seen").read_text().split()
    assert {*secrets} & {*seen} == set()
    assert "UV_INDEX_OWN_PASSWORD" in seen


def test_a_folder_that_is_built_again_keeps_its_first_wheel(project):
    first = built(project)
    (project / "backend.py").write_text(BACKEND.replace(".close()", ".writestr('a', '')"))
    second = built(project)

    for fields in (first, second):
        name = fields["versions"][1]
        url, _, digest = fields["builds"][name].partition("#sha256=")
        wheel = Path(url.removeprefix("file://"))
        assert hashlib.sha256(wheel.read_bytes()).hexdigest() == digest
    assert first["versions"] != second["versions"]


def test_a_commit_is_built_once_and_named_by_its_digits(project, monkeypatch):
    git(project, "init", "--quiet")
    git(project, "add", ".")
    git(project, "commit", "--quiet", "--message", "demo")
    commit = git(project, "rev-parse", "HEAD")

    monkeypatch.setenv("GIT_DIR", "/nowhere")  # as a hook of another repository does
    first = built(f"git:{commit[:9]}", project.as_uri())
    monkeypatch.setenv("TIDEMARK_UV", "/nowhere/uv")
    second = built(f"git:{commit}", project.as_uri())

    assert first["versions"][1] == f"1.2.3+g{commit[:8]}"
    assert first == second


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("./nothing.whl", "versions: './nothing.whl' is not there; expected a wheel or a folder"),
        (
            "git:1a2b3c4",
            "versions: 'git:1a2b3c4' needs the repository of the suite; set subject.source",
        ),
    ],
)
def test_a_build_that_is_not_there_is_refused(text, sentence):
    with pytest.raises(Refused) as refused:
        built(text)

    assert str(refused.value) == sentence


@pytest.mark.parametrize("reference", ["--upload-pack=x", "a b", ""])
def test_a_reference_that_git_could_take_for_an_option_is_refused(reference, tmp_path):
    with pytest.raises(Refused, match=r"; expected a commit such as git:1a2b3c4$"):
        built(f"git:{reference}", tmp_path.as_uri())


def test_a_commit_that_the_repository_lacks_is_refused_with_gits_reason(project):
    git(project, "init", "--quiet")

    with pytest.raises(Refused, match=r"^versions: 'git:1a2b3c4' cannot be built; git says: "):
        built("git:1a2b3c4", project.as_uri())


def test_a_missing_program_is_refused_by_name(project, monkeypatch):
    monkeypatch.setenv("PATH", "")

    with pytest.raises(Refused) as refused:
        built("git:1a2b3c4", project.as_uri())

    assert str(refused.value) == "versions: 'git:1a2b3c4' needs git, which is missing"


def test_git_asks_for_no_password(tmp_path, monkeypatch):
    git = tmp_path / "git"
    git.write_text('#!/bin/sh\necho "asks: $GIT_TERMINAL_PROMPT" >&2; exit 1\n')
    git.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")

    with pytest.raises(Refused, match=r"git says: asks: 0$"):
        built("git:1a2b3c4", "https://example.com/x")


def test_a_wheel_of_another_package_is_refused(wheel):
    other = wheel.rename(wheel.with_name("other-1.2.3-py3-none-any.whl"))

    with pytest.raises(
        Refused, match=r" is other-1\.2\.3-py3-none-any\.whl; expected a wheel of demo$"
    ):
        built(other)


def test_a_build_is_measured_on_this_machine_alone(wheel):
    with pytest.raises(Refused, match=r" can only be measured on this machine$"):
        with_builds({"versions": [str(wheel)]}, subject(), here=False)


def test_a_subject_without_a_package_has_no_builds(wheel):
    image = Subject(image="demo:{version}", form=".*")

    with pytest.raises(
        Refused, match=r" is a build; expected a suite whose subject has package or folder$"
    ):
        with_builds({"versions": [str(wheel)]}, image, here=True)


MAVEN = """#!/bin/sh
echo "$PWD: $*" >> {calls}
case "$*" in
*install*) {install} ;;
*copy-dependencies*)
    for word in "$@"; do case "$word" in -DoutputDirectory=*) out=${{word#*=}} ;; esac; done
    mkdir -p "$out" && touch "$out/library.jar" ;;
esac
"""
BUILD = "mkdir -p clients/target; cd clients/target; touch clients-1.jar clients-1-tests.jar"


@pytest.fixture
def source(tmp_path, monkeypatch):
    """Return a repository with a tag of Sleeper; programs and home are in a folder of the test."""
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in ("GIT_DIR", "GIT_INDEX_FILE", "GIT_WORK_TREE"):
        monkeypatch.delenv(name, raising=False)
    folder = tmp_path / "clone"
    (folder / "java").mkdir(parents=True)
    (folder / "java" / "pom.xml").touch()
    programs = tmp_path / "bin"
    programs.mkdir()
    write(programs / "java", "")
    for program in ("git", "mkdir", "touch"):
        (programs / program).symlink_to(shutil.which(program))
    monkeypatch.setenv("PATH", str(programs))
    git = ["git", "-C", folder, "-c", "user.name=a", "-c", "user.email=a@b"]
    for words in (["init", "-q"], ["add", "."], ["commit", "-qm", "a"], ["tag", "v0.36.1"]):
        subprocess.run([*git, *words], check=True)
    return folder


def write(path, text):
    path.write_text(f"#!/bin/sh\n{text}" if not text.startswith("#!") else text)
    path.chmod(0o755)


def maven(tmp_path, install=BUILD):
    calls = tmp_path / "calls"
    write(tmp_path / "bin" / "mvn", MAVEN.format(calls=calls, install=install))
    return calls


def prepare(source, *words, tag="v0.36.1"):
    asked = ["prepare", "sleeper", "--source", str(source), "--tag", tag, *words]
    return CliRunner().invoke(command, asked, catch_exceptions=False)


def test_the_jars_of_a_tag_and_of_all_that_they_need_are_in_the_folder_of_the_suite(
    tmp_path, source
):
    calls = maven(tmp_path)

    done = prepare(source, "--", "-Da.version=2")

    assert done.exit_code == 0
    jars = tmp_path / "sleeper" / "0.36.1"
    assert sorted(each.name for each in jars.iterdir()) == ["clients-1.jar", "library.jar"]
    assert "To measure it: tidemark run sleeper --versions 0.36.1" in done.output
    install, collect = calls.read_text().splitlines()
    modules = "compaction/compaction-job-execution,compaction/compaction-job-creation,clients"
    for call in (install, collect):
        assert f"-Pquick,skipShade -DskipRust=true -Da.version=2 -pl {modules}," in call
    assert install.partition(": ")[0].endswith("/source/java")
    assert install.endswith(" -am")
    assert not [*source.glob("java/clients")], "the clone stays as it was"


def test_jars_that_are_there_are_not_built_again(tmp_path, source):
    maven(tmp_path)
    prepare(source)

    with pytest.raises(Refused, match=r"^--tag: .*/sleeper/0\.36\.1 is there already; remove it "):
        prepare(source)


def test_a_library_that_the_repository_lacks_is_named(tmp_path, source):
    why = "Could not find artifact software.amazon.awssdk:cloudwatchevents:jar:2.45.1 in central"
    maven(tmp_path, install=f"echo '[ERROR] {why} (https://x)'; exit 1")

    named = "software.amazon.awssdk:cloudwatchevents:jar:2.45.1; name a version that your "
    with pytest.raises(Refused, match=f"^Maven found no {named}"):
        prepare(source)
    assert not (tmp_path / "sleeper").exists()


def test_a_tag_that_the_clone_lacks_and_one_of_another_form_are_refused(tmp_path, source):
    maven(tmp_path)

    with pytest.raises(Refused, match=r"^--tag: .*/clone has no tag v0\.99\.0 to check out: "):
        prepare(source, tag="v0.99.0")
    with pytest.raises(Refused, match=r"^--tag: 'main' is not a version of the form "):
        prepare(source, tag="main")


def test_a_machine_without_maven_is_told_so(source):
    with pytest.raises(Refused, match=r"^PATH: there is no mvn; "):
        prepare(source)
