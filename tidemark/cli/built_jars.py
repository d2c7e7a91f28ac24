"""``tidemark suite prepare``: the jars of a tag, which Maven builds from the system's source."""

from __future__ import annotations

import io
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NoReturn

import click

from tidemark.cli.chosen_suite import written_suite
from tidemark.model.refusal import Refused
from tidemark.model.sentences import listed, shown
from tidemark.model.subject import MavenBuild, Subject

_PROGRAMS = ("git", "java", "mvn")
# Maven: "Could not find artifact g:a:jar:1.2 in central (…)".
_LACKING = re.compile(r"Could not find artifact (?P<artifact>[^\s,]+)")
_LAST_LINES = 5


@click.command("prepare", context_settings={"ignore_unknown_options": True})
@click.argument("suite")
@click.argument("options", nargs=-1, metavar="[-- MAVEN OPTIONS]")
@click.option(
    "--source",
    required=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A clone of the system's Git repository; nothing in it changes.",
)
@click.option("--tag", required=True, help="The tag to build, such as v0.36.1.")
def command(suite: str, options: Sequence[str], source: Path, tag: str) -> None:
    """Build the jars of a version of SUITE from its source.

    The jars get into the folder that the suite names, below the tag without its v. Options behind
    two hyphens go to Maven, such as the version of a library that your repository has.

    \b
    Example:
      tidemark suite prepare sleeper --source ~/src/sleeper --tag v0.36.1
    """
    subject = written_suite(suite).subject
    build = subject.maven
    if build is None or subject.folder is None:
        raise Refused(f"SUITE: versions of {suite} are not built from source; expected no prepare")
    if lacking := [program for program in _PROGRAMS if shutil.which(program) is None]:
        raise Refused(f"PATH: there is no {listed(lacking)}; install what builds the jars")
    jars = _place(subject, tag)
    with tempfile.TemporaryDirectory(prefix="tidemark-build-") as folder:
        checkout, made = Path(folder, "source"), Path(folder, "jars")
        _check_out(source, tag, checkout)
        for words in _commands(build, made, options):
            click.echo(f"Running {words[2]} of Maven for {tag}.")
            _run(words, checkout / build.folder, Path(folder, "maven.log"))
        for jar in _own_jars(build, checkout):
            shutil.copy2(jar, made)
        jars.parent.mkdir(parents=True, exist_ok=True)
        shutil.move(made, jars)
    count = len([*jars.glob("*.jar")])
    click.echo(
        f"{jars} has {count} jars. To measure it: tidemark run {suite} --versions {jars.name}"
    )


def _place(subject: Subject, tag: str) -> Path:
    """Return the folder for the jars of a tag; refuse a folder that is there already."""
    version = tag.removeprefix("v")
    if not subject.has_form(version):
        raise Refused(f"--tag: {shown(tag)} is no version of the form {shown(subject.form)}")
    folder = Path(subject.folder or "").expanduser() / subject.requirement(version)
    if folder.exists():
        raise Refused(f"--tag: {folder} is there already; remove it to build {tag} again")
    return folder


def _check_out(source: Path, tag: str, folder: Path) -> None:
    """Write the files of a tag into a folder."""
    reference = f"refs/tags/{tag}"
    done = subprocess.run(
        ["git", "-C", source, "archive", "--format=tar", reference],
        capture_output=True,
        check=False,
    )
    if done.returncode:
        why = done.stderr.decode(errors="replace").strip().splitlines()[-1:]
        raise Refused(f"--tag: {source} has no tag {tag} to check out: {' '.join(why)}")
    with tarfile.open(fileobj=io.BytesIO(done.stdout)) as archive:
        archive.extractall(folder, filter="data")


def _commands(build: MavenBuild, jars: Path, options: Sequence[str]) -> Iterator[list[str]]:
    """Yield the command that builds the modules, and the one that collects what they depend on."""
    modules, common = ["-pl", ",".join(build.modules)], [*build.options, *options]
    yield ["mvn", "-B", "install", "-DskipTests", *common, *modules, "-am"]
    collect = [
        "dependency:copy-dependencies",
        "-DincludeScope=runtime",
        f"-DoutputDirectory={jars}",
    ]
    yield ["mvn", "-B", *collect, *common, *modules]


def _run(words: Sequence[str], folder: Path, log: Path) -> None:
    with log.open("w", encoding="utf-8") as file:
        done = subprocess.run(words, cwd=folder, stdout=file, stderr=subprocess.STDOUT, check=False)
    if done.returncode:
        _fail(log.read_text(encoding="utf-8", errors="replace"))


def _fail(output: str) -> NoReturn:
    """Refuse a build by the artefact that Maven does not find, or by its first errors."""
    if lacking := _LACKING.search(output):
        raise Refused(
            f"Maven found no {lacking['artifact']}; name a version that your repository has, as in "
            "-- -Daws-java-sdk-v2.version=2.40.2"
        )
    errors = [line for line in output.splitlines() if "ERROR" in line] or output.splitlines()
    print(*errors[:_LAST_LINES], sep="\n", file=sys.stderr)
    raise Refused("Maven could not build the jars; its first errors are above")


def _own_jars(build: MavenBuild, checkout: Path) -> Iterator[Path]:
    """Yield the jars of the modules themselves, without those of their tests and sources."""
    for module in build.modules:
        for jar in sorted((checkout / build.folder / module / "target").glob("*.jar")):
            if not jar.stem.endswith(("-tests", "-sources", "-javadoc")):
                yield jar
