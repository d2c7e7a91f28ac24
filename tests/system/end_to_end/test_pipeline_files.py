"""The Action of GitHub and the template of GitLab, whose shell runs here as runners run it."""

import json
import os
import re
import subprocess

import pytest
import yaml

from tests.system.end_to_end.command_line import SMALL
from tests.unit.cli.test_pull_request import Forge, serving
from tidemark.model.checkout import ROOT

ACTION = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
SPEC, JOBS = yaml.safe_load_all((ROOT / "templates" / "tidemark.yml").read_text(encoding="utf-8"))
INPUTS = {"github": ACTION["inputs"], "gitlab": SPEC["spec"]["inputs"]}
GIVEN = {"suite": "rocksdb", "base": "9.0.0", "new": "9.8.4", "options": " ".join(SMALL[2:])}


def filled(value, inputs, given):
    """Return a value of a file with its inputs filled in, as a runner does it."""
    for name in inputs:
        text = str(given.get(name, inputs[name].get("default", "")))
        value = value.replace(f"${{{{ inputs.{name} }}}}", text).replace(
            f"$[[ inputs.{name} ]]", text
        )
    return value


def run(script, cwd, variables):
    clean = {name: each for name, each in os.environ.items() if not name.startswith(("CI", "GIT"))}
    environment = {**clean, **{name: str(each) for name, each in variables.items()}}
    return subprocess.run(
        ["bash", "--noprofile", "--norc", "-eo", "pipefail", "-c", script],
        cwd=cwd, env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip


def test_every_input_of_both_files_is_declared_and_used():
    texts = {"github": json.dumps(ACTION["runs"]), "gitlab": json.dumps(JOBS)}
    for forge, text in texts.items():
        assert {*re.findall(r"inputs\.([\w-]+)", text)} == INPUTS[forge].keys()


def test_the_action_runs_no_other_action_but_by_its_digest():
    used = [step["uses"] for step in ACTION["runs"]["steps"] if "uses" in step]
    pages = (ROOT / "docs").glob("*.md")
    used += [each for page in pages for each in re.findall(r"uses: (\S+)", page.read_text())]

    assert used
    assert [
        each for each in used if not re.fullmatch(r"[\w./-]+@([0-9a-f]{40}|COMMIT)", each)
    ] == []


def test_options_on_several_lines_all_reach_the_command(tmp_path):
    job = JOBS["tidemark"]
    scripts = {
        "github": (ACTION["runs"]["steps"][-1]["run"], "here/.venv/bin"),
        "gitlab": ("\n".join(job["script"]), ".tidemark-source/.venv/bin"),
    }
    for script, folder in scripts.values():
        program = tmp_path / folder / "tidemark"
        program.parent.mkdir(parents=True)
        program.write_text('#!/bin/sh\necho "$@"\n')
        program.chmod(0o755)
        given = {
            "OPTIONS": "--within 600\n  --until decided\n",
            "SUITE": "s",
            "BASE": "1",
            "NEW": "2",
        }
        done = run(script, tmp_path, {**given, "GITHUB_ACTION_PATH": tmp_path / "here"})

        words = "run s --versions 1,2 --baseline 1 --within 600 --until decided\n"
        assert (done.stdout, done.stderr) == (words, "")


def test_a_kept_clone_of_the_template_gets_a_newer_revision(tmp_path):
    source = tmp_path / "source"
    git = f"git -C {source} -c user.name=x -c user.email=x@example.com"
    make = f"echo .venv/.ready: > {source}/Makefile && {git} add Makefile"
    run(f"git init -q {source} && {make} && {git} commit -qm one", tmp_path, {})
    steps = "\n".join(JOBS["tidemark"]["before_script"])
    for _ in range(2):
        head = run(f"{git} commit -q --allow-empty -m more; {git} rev-parse HEAD", tmp_path, {})
        own = {"REPOSITORY": f"file://{source}", "REVISION": head.stdout.strip(), "PYTHON": "x"}
        done = run(steps, tmp_path, own)

        assert done.returncode == 0, done.stderr
        assert run("git -C .tidemark-source rev-parse HEAD", tmp_path, {}).stdout == head.stdout


@pytest.mark.systems
def test_the_action_measures_comments_and_ends_with_the_code_of_the_gate(tmp_path, new_state):
    event = tmp_path / "event.json"
    event.write_text(json.dumps({"pull_request": {"number": 7}}))
    with serving(Forge()) as forge:
        variables = {
            "GITHUB_ACTIONS": "true", "GITHUB_ACTION_PATH": ROOT, "GITHUB_API_URL": forge.url,
            "GITHUB_REPOSITORY": "o/r", "GITHUB_EVENT_PATH": event, "TIDEMARK_STATE": new_state(),
        }  # fmt: skip
        for step in ACTION["runs"]["steps"]:
            given = {**GIVEN, "token": "ghs_x", "python": "python3"}
            own = {
                name: filled(each, INPUTS["github"], given) for name, each in step["env"].items()
            }
            done = run(step["run"], tmp_path, {**variables, **own})
            codes = [done.returncode]

    # One repetition cannot tell.
    assert codes[-1] == 4, done.stdout + done.stderr
    assert "The comment on the pull request is written." in done.stdout
    (comment,) = forge.bodies
    assert comment.startswith("<!-- tidemark rocksdb -->\n# ")
    assert "9.8.4" in comment


@pytest.mark.systems
def test_the_template_clones_its_revision_measures_and_comments(tmp_path, new_state):
    head = subprocess.check_output(["git", "-C", ROOT, "rev-parse", "HEAD"], text=True).strip()
    given = {**GIVEN, "repository": f"file://{ROOT}", "revision": head, "python": "python3"}
    job = JOBS["tidemark"]
    own = {name: filled(each, INPUTS["gitlab"], given) for name, each in job["variables"].items()}
    with serving(Forge()) as forge:
        variables = {
            "GITLAB_CI": "true", "CI_API_V4_URL": forge.url, "CI_PROJECT_ID": 5,
            "CI_MERGE_REQUEST_IID": 7, "GITLAB_TOKEN": "x", "TIDEMARK_STATE": new_state(), **own,
        }  # fmt: skip
        done = run("\n".join([*job["before_script"], *job["script"]]), tmp_path, variables)

    assert done.returncode == 4, done.stdout + done.stderr
    assert "9.8.4" in forge.bodies[0]
