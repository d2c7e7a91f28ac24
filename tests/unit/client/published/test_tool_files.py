"""Files that benchmark tools wrote, run by hand; the tool's own summary is the right answer.

Names of machines and paths are replaced, and nothing else. Otava reads files and writes none: these
are of its own tests, https://github.com/apache/otava, under the Apache License 2.0. What Otava and
github-action-benchmark printed of their files is in ``tool_summaries``.
"""

import csv
import json
import re
import statistics
from collections import defaultdict
from datetime import date
from pathlib import Path

import pytest

from tidemark.client.published.file_figures import figures_without_suite
from tidemark.client.published.release_tables import Wishes
from tidemark.model.refusal import Refused

FOLDER = Path(__file__).parent / "tool_files"
TODAY = date(2026, 11, 28)
FILES = sorted(FOLDER.iterdir())


def means(text):
    """Return the mean of the trials of each metric."""
    read = figures_without_suite(text, Wishes(version="1.0"), TODAY)
    trials = defaultdict(list)
    for each in read.figures:
        trials[each.metric].append(each.amount.value)
    return {name: statistics.fmean(values) for name, values in trials.items()}


def hyperfine(text):
    for result in json.loads(text)["results"]:
        parameters = result.get("parameters") or {}
        name = " ".join([result["command"], *(f"{k}={v}" for k, v in parameters.items())])
        yield name, result["mean"]


def google_benchmark(text):
    entries = json.loads(text)["benchmarks"]
    repeated = any(each["run_type"] == "aggregate" for each in entries)
    for entry in entries:
        if not repeated or entry.get("aggregate_name") == "mean":
            yield entry["run_name"], entry["real_time"]
            if "items_per_second" in entry:
                yield f"{entry['run_name']} items_per_second", entry["items_per_second"]


def pytest_benchmark(text):
    for entry in json.loads(text)["benchmarks"]:
        yield entry["fullname"], entry["stats"]["mean"]


# As asv prints them [s].
ASV_SUM = {"a8d15233": 16.5e-6, "aa0e77bc": 14.9e-6, "bdafba19": 23.1e-6}


def asv(text):
    commit = json.loads(text)["commit_hash"][:8]
    yield "sorts.time_sum", ASV_SUM[commit]
    yield "sorts.track_length", 42


def jmh(text):
    for entry in json.loads(text):
        name = f"{entry['benchmark']} n={entry['params']['n']}"
        yield name, entry["primaryMetric"]["score"]


# As k6 prints them [ms], and requests each second.
K6 = (
    (5.7, 0.3369, 6.84, 29.01, 24.252539, 0.6),
    (3.73, 0.89702, 1.45, 6.07, 61.489404, 0.2),
    (1.11, 0.91433, 1.07, 2.68, 69.738358, 0.2),
)
K6_NAMES = (
    *(f"http_req_duration {statistic}" for statistic in ("avg", "med", "p(90)", "p(95)")),
    "http_reqs rate", "http_req_failed",
)  # fmt: skip
K6_OF = {
    (FOLDER / f"k6_{number}.json").read_text(encoding="utf-8"): printed
    for number, printed in enumerate(K6, start=1)
}


def k6(text):
    return zip(K6_NAMES, K6_OF[text], strict=True)


def locust(text):
    for row in csv.DictReader(text.splitlines()):
        name = " ".join(filter(None, (row["Type"], row["Name"])))
        for column in ("Average Response Time", "50%", "95%", "99%", "Requests/s", "Failures/s"):
            yield f"{name} {column}", float(row[column])


# The means that Criterion wrote into estimates.json beside each file [ns].
CRITERION = (24.922312684595056, 1272.4558631369566, 449.0530680582735)


CRITERION_OF = {
    (FOLDER / f"Criterion_{number}.json").read_text(encoding="utf-8"): mean
    for number, mean in enumerate(CRITERION, start=1)
}


def printed(text):
    """Return the lines that a tool printed of a file."""
    (path,) = [path for path in FILES if path.read_text(encoding="utf-8") == text]
    (summary,) = FOLDER.with_name("tool_summaries").glob(f"{path.stem}.*")
    return summary.read_text(encoding="utf-8").splitlines()


def github_action_benchmark(text):
    """Yield the mean of each figure over its commits; a table has those of two commits."""
    cells = [line.split("|")[1:4] for line in printed(text) if line.startswith("| `")]
    figures = [[re.search("`(.*)`", cell)[1].split("`")[0] for cell in row] for row in cells]
    names = {name for name, *_ in figures}
    # The line of a Go benchmark of several figures comes with each of them alone.
    for name in names - {each.partition(" - ")[0] for each in names if " - " in each}:
        (_, new, first), *later = [row for row in figures if row[0] == name]
        yield name, statistics.fmean(map(float, [first, new, *(row[1] for row in later)]))


def otava(text):
    """Yield the mean of each column that Otava printed."""
    names, _, *rows = (line.split() for line in printed(text))
    rows = [row for row in rows if re.match("[0-9]", row[0])]
    for place in (-2, -1):
        yield names[place], statistics.fmean(float(row[place]) for row in rows)


COUNTS = {"asv": 10, "k6": 41}
SUMMARIES = {
    "hyperfine": hyperfine, "google-benchmark": google_benchmark, "JMH": jmh, "asv": asv,
    "pytest-benchmark": pytest_benchmark, "locust": locust,
    "github-action-benchmark": github_action_benchmark, "Otava": otava,
    "k6": k6, "Criterion": lambda text: [("time", CRITERION_OF[text])],
}  # fmt: skip


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_the_trials_of_a_file_have_the_mean_that_its_tool_says(path):
    text = path.read_text(encoding="utf-8")
    tool = path.stem.partition("_")[0]

    expected, found = dict(SUMMARIES[tool](text)), means(text)

    # asv and k6 print three digits, and more figures than are repeated here.
    precision = 0.01 if tool in COUNTS else 1e-9
    assert {name: found[name] for name in expected} == pytest.approx(expected, rel=precision)
    assert len(found) == COUNTS.get(tool, len(expected))


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_a_file_that_is_cut_off_is_refused_in_one_sentence(path):
    text = path.read_text(encoding="utf-8")
    cut = text[: len(text) // 2] if path.suffix == ".json" else text.replace(",GET", ",")[:190]

    with pytest.raises(Refused) as refused:
        figures_without_suite(cut, Wishes(version="1.0"), TODAY)

    assert str(refused.value).startswith("FILE: ")
    assert "\n" not in str(refused.value)


def test_the_machine_that_a_tool_names_goes_with_its_figures():
    machines = {}
    for path in FILES:
        read = figures_without_suite(path.read_text(encoding="utf-8"), Wishes("1.0"), TODAY)
        machines[path.stem.partition("_")[0]] = dict(read.figures[0].environment)

    assert machines["pytest-benchmark"] == {
        "arch": "x86_64", "cores": "2", "cpu_model": "AMD EPYC", "instance_type": "bench-1",
    }  # fmt: skip
    assert machines["google-benchmark"] == {"cores": "2", "instance_type": "bench-1"}
    assert machines["asv"] == {"instance_type": "quiet"}
