"""The pins of the workloads, which are those of the rest of the repository."""

import re

import pytest

from tidemark.model.checkout import ROOT
from tidemark.model.suite_files import read_suites
from tidemark.model.task import HARNESS

PACKAGED = [suite for suite in read_suites().values() if suite.subject.package]


def packages(text):
    return re.findall(r"^[^\s#]+==\S+", text, re.MULTILINE)


def _folders(suite):
    tasks = [suite.task, *(service.task for service in suite.services.values())]
    return [ROOT / "workloads" / task.workload for task in tasks]


def test_the_tools_of_the_harness_have_the_versions_that_are_pinned_here():
    here = set(packages((ROOT / "requirements.txt").read_text()))
    tools = packages((HARNESS / "tools.txt").read_text())

    assert any(tool.startswith("boto3==") for tool in tools)
    assert set(tools) <= here


@pytest.mark.parametrize("suite", PACKAGED, ids=lambda suite: suite.name)
def test_every_version_of_a_suite_is_pinned_with_the_hashes_of_all_its_files(suite):
    (folder,) = (folder for folder in _folders(suite) if (folder / "pins").is_dir())
    for version in suite.subject.versions:
        pins = (folder / "pins" / f"{version}.txt").read_text()

        assert set(suite.subject.requirement(version).split()) <= set(packages(pins))
        blocks = re.findall(r"^\S+==\S+(?: \\\n    --hash=sha256:[0-9a-f]{64})+$", pins, re.M)
        assert len(blocks) == len(packages(pins))


def test_uv_in_the_images_has_the_version_and_the_hashes_that_are_pinned_here():
    pinned = (HARNESS / "uv.txt").read_text()

    assert pinned in (ROOT / "requirements.txt").read_text()


def test_every_listed_version_of_rocksdb_for_java_has_the_digest_of_its_file():
    pinned = (ROOT / "workloads" / "rocksdbjni" / "jars.sha256").read_text()

    versions = re.findall(r"^[0-9a-f]{64}  (\S+)$", pinned, re.MULTILINE)
    assert versions == list(read_suites()["rocksdbjni"].subject.versions)


def test_every_base_image_has_a_digest():
    folders = (ROOT / name for name in ("workloads", "images", "tests"))
    files = [file for folder in folders for file in folder.rglob("Dockerfile")]
    bases = [
        line.split()[1]
        for file in files
        for line in file.read_text(encoding="utf-8").splitlines()
        if line.startswith("FROM ")
    ]

    assert len(bases) > len(files)
    assert all(re.fullmatch(r"\S+:\S+@sha256:[0-9a-f]{64}", base) for base in bases)


def test_every_action_of_a_workflow_in_the_docs_is_named_by_its_commit():
    pages = [ROOT / "README.md", *(ROOT / "docs").rglob("*.md")]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    actions = re.findall(r"\buses: (\S+)", text)

    assert actions
    assert all(re.fullmatch(r"[\w-]+/[\w-]+@([0-9a-f]{40}|COMMIT)", each) for each in actions)
