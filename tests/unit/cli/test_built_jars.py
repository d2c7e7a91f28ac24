"""``tidemark suite prepare``, with a program in the place of Maven."""

import shutil
import subprocess

import pytest
from click.testing import CliRunner

from tidemark.cli.suite import command
from tidemark.model.refusal import Refused

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
    with pytest.raises(Refused, match=r"^--tag: 'main' is no version of the form "):
        prepare(source, tag="main")


def test_a_machine_without_maven_is_told_so(source):
    with pytest.raises(Refused, match=r"^PATH: there is no mvn; "):
        prepare(source)
