"""``tidemark import`` of a CSV that no suite describes, and the answer of its history."""

import json
import random
import re
import subprocess

from click.testing import CliRunner

from tidemark.cli import history, import_figures


def invoke(command, state, *words):
    done = CliRunner().invoke(command, [*map(str, words), "--state", str(state)])
    assert done.exit_code == 0, done.output
    return done


def nightly(days, change):
    chance = random.Random(1)
    lines = ["date,commit,Ingest rate (rows/s)"]
    for day in range(days):
        rate = chance.gauss(1000, 10) * (0.8 if day >= change else 1)
        lines.append(f"2026-01-{day + 1:02},c{day:07x},{rate:.1f}")
    return "\n".join(lines) + "\n"


def test_one_command_answers_from_a_csv_and_nothing_else(tmp_path):
    file, state = tmp_path / "Nightly runs.csv", tmp_path / "state"
    file.write_text(nightly(28, 20), encoding="utf-8")

    done = invoke(import_figures.command, state, file)

    assert re.search(r"ingest_rate has been \d+\.\d+ % slower since run 20260121T", done.output)
    assert "28 figures added, 0 stored already." in done.output
    assert "suite: nightly_runs; `tidemark history nightly_runs" in done.output
    events = invoke(history.command, state, "nightly_runs", "--events").output
    assert "c0000014 after c0000013" in events
    (row,) = json.loads(
        invoke(history.command, state, "nightly_runs", "--open", "--format", "json").stdout
    )
    assert (row["version"], row["state"], row["is_open"]) == ("c0000014", "lasting", "true")


def test_the_next_night_is_judged_by_its_own_import(tmp_path):
    file, state = tmp_path / "nightly.csv", tmp_path / "state"
    file.write_text(nightly(20, 99), encoding="utf-8")
    assert "No level of 1 figure changed." in invoke(import_figures.command, state, file).output

    file.write_text(nightly(21, 20), encoding="utf-8")
    done = invoke(import_figures.command, state, file)

    assert "1 figure added, 20 stored already." in done.output
    assert re.search(r"suspected to be \d+\.\d+ % slower in run 20260121T", done.output)


def test_a_repository_orders_commits_whatever_the_order_of_the_file(tmp_path):
    def git(*words):
        who = ["-c", "user.name=a", "-c", "user.email=a@b"]
        return subprocess.run(
            ["git", "-C", str(tmp_path), *who, *words], check=True, capture_output=True, text=True
        ).stdout.strip()

    git("init", "-q")
    commits = []
    for _ in range(24):
        git("commit", "-q", "--allow-empty", "-m", "change")
        commits.append(git("rev-parse", "HEAD"))
    rates = nightly(24, 16).splitlines()[1:]
    rows = [f"{commit},{rate.split(',')[2]}" for commit, rate in zip(commits, rates, strict=True)]
    random.Random(2).shuffle(rows)
    file = tmp_path / "commits.csv"
    file.write_text("\n".join(["commit,Ingest rate", *rows]), encoding="utf-8")

    done = invoke(import_figures.command, tmp_path / "state", file, "--repo", tmp_path)

    assert f"({commits[16]} after {commits[15]})" in done.output
