"""The keys of the results bucket."""

from __future__ import annotations

from datetime import datetime

from tidemark.model.run_id import is_profiled

# The end of the year 9999: seconds count down from it, so that the newest run sorts first.
_LAST_SECOND = 99991231235959

CLAIMS = "claims/"
HISTORY = "history/"
PROFILES = "profiles/"
REPORTS = "reports/"
RUNS = "runs/"
TABLES = "tables/"
VERSIONS = "versions/"
WORK = "work/"
DATA = f"{WORK}data/"
COURSES = f"{WORK}courses/"
"""The prefix of the data that tasks store, apart from all that Tidemark itself reads."""
SECRET_DIGITS = 32
"""The hexadecimal digits of the secret in the place of a trial's data."""
# The name of a run has 23 characters, the number of a trial three, and a ? in a policy is any one.
BELOW_A_SECRET = f"{DATA}{'?' * 23}/???/{'?' * SECRET_DIGITS}/*"
"""The prefixes that tasks may list, as a pattern of IAM. A prefix that fits is at least as long as
the place of a trial's data, so it lists that place only if it has the whole secret."""
ARTEFACTS = "artefacts/"
ROWS = ".jsonl.gz"
"""The ending of the file of a run's rows of a table."""
# A part of the file names of a comparison and of its flame graphs.
AGAINST = "-against-"
FLAME_GRAPHS = "functions-"
"""The beginning of the file names of flame graphs."""
BLOCKS = "blocks.json"
"""The ending of the file names of reports and comparisons that a terminal prints."""


def claim(suite: str) -> str:
    """Return the key of the claim on a suite."""
    return f"{CLAIMS}{suite}.json"


def begun_at(moment: datetime) -> str:
    """Return the prefix of all objects of the runs whose names have this start, in UTC."""
    return f"{RUNS}{moment:%Y%m%dT%H%M%SZ}-"


def run_of(key: str) -> str:
    """Return the run of a key below ``runs/``."""
    return key.split("/")[1]


def plan(run_id: str) -> str:
    """Return the key of a run's plan."""
    return f"{RUNS}{run_id}/plan.json"


def restore(run_id: str) -> str:
    """Return the key of the record of what a run has paused."""
    return f"{RUNS}{run_id}/restore.json"


def outcome(run_id: str) -> str:
    """Return the key of a run's outcome."""
    return f"{RUNS}{run_id}/outcome.json"


def trials(run_id: str) -> str:
    """Return the prefix of a run's trials, which count in its rates."""
    return f"{RUNS}{run_id}/trials/"


def profiled_trials(run_id: str) -> str:
    """Return the prefix of a run's profiled trials, which no reader of rates lists."""
    return f"{RUNS}{run_id}/profiled/"


def trial(run_id: str, number: int) -> str:
    """Return the key of one trial's result, written once."""
    folder = profiled_trials(run_id) if is_profiled(number) else trials(run_id)
    return f"{folder}{number:03d}.json"


def resumes(run_id: str) -> str:
    """Return the prefix of a run's resumes."""
    return f"{RUNS}{run_id}/resumes/"


def resume(run_id: str, name: str) -> str:
    """Return the key of one resume, written once; its name is unique and sorts by time."""
    return f"{resumes(run_id)}{name}.json"


def comments(run_id: str) -> str:
    """Return the prefix of the comments on a run and on comparisons with its versions."""
    return f"{RUNS}{run_id}/comments/"


def comment(run_id: str, name: str) -> str:
    """Return the key of one comment, written once; its name is unique and sorts by time."""
    return f"{comments(run_id)}{name}.json"


def exclusions(run_id: str) -> str:
    """Return the prefix of a run's exclusions: ``run.json``, ``<nnn>.json``."""
    return f"{RUNS}{run_id}/exclusions/"


def exclusion(run_id: str, trial: int | None) -> str:
    """Return the key of the last exclusion or inclusion of a trial, or of the whole run."""
    return f"{exclusions(run_id)}{'run' if trial is None else f'{trial:03d}'}.json"


def work(run_id: str) -> str:
    """Return the prefix of a run's working state."""
    return f"{WORK}{run_id}/"


def standing(run_id: str) -> str:
    """Return the key of the running sums of a run until decided."""
    return f"{work(run_id)}standing.json"


def data_of(run_id: str) -> str:
    """Return the prefix of the data of a run's trials."""
    return f"{DATA}{run_id}/"


def data(run_id: str, number: int) -> str:
    """Return the prefix of the data that a trial's tasks store, deleted after the trial."""
    return f"{data_of(run_id)}{number:03d}/"


def levels(test: str) -> str:
    """Return the key of the levels of a test's load, below the data of its trial."""
    return f"levels/{test}.json"


def course(levels: str) -> str:
    """Return the key of a load's course, which tasks cannot write, from the key of its levels."""
    return f"{COURSES}{levels.removeprefix(DATA)}"


def measurements(run_id: str, number: int) -> str:
    """Return the prefix of the results of a trial's tests, kept until the trial is recorded."""
    return f"{work(run_id)}{number:03d}/measured/"


def measured(run_id: str, number: int, test: str) -> str:
    """Return the key of the result of one test of a trial."""
    return f"{measurements(run_id, number)}{test}.json"


def artefact(run_id: str, number: int, test: str, task: int, name: str) -> str:
    """Return the key of a file that a task of a trial's test left."""
    return f"{ARTEFACTS}{run_id}/{number:03d}/{test}/{task}/{name}"


def rows(table: str) -> str:
    """Return the prefix of all rows of a table."""
    return f"{TABLES}{table}/"


def tables(name: str, suite: str) -> str:
    """Return the prefix of a suite's rows of a table; its keys are in the order of runs."""
    return f"{rows(name)}suite={suite}/"


def table(name: str, suite: str, run_id: str) -> str:
    """Return the key of a run's rows of a table; the partition's year is the run's."""
    return f"{tables(name, suite)}year={run_id[:4]}/{run_id}{ROWS}"


def profiles(suite: str) -> str:
    """Return the prefix of a suite's profiles."""
    return f"{PROFILES}{suite}/"


def profile(suite: str, name: str) -> str:
    """Return the key of the origin of a profile."""
    return f"{profiles(suite)}{name}.json"


def stacks(suite: str, name: str) -> str:
    """Return the key of the folded stacks of a profile."""
    return f"{profiles(suite)}{name}.folded.gz"


def report(suite: str, run_id: str, file: str) -> str:
    """Return the key of a file of a run's report."""
    return f"{REPORTS}{suite}/{run_id}/{file}"


def comparison(suite: str, base: tuple[str, str], new: tuple[str, str], form: str) -> str:
    """Return the key of a comparison, ``form`` being ``md``, ``html``, ``json`` or ``BLOCKS``.

    Each side is a run and a version. The comparison is beside the report of the new side's run.
    """
    return report(suite, new[0], f"{_against(base, new)}.{form}")


def flame_graphs(suite: str, base: tuple[str, str], new: tuple[str, str], test: str) -> str:
    """Return the key of the flame graphs of a test, which are beside the comparison."""
    return report(suite, new[0], f"{FLAME_GRAPHS}{test}-{_against(base, new)}.html")


def _against(base: tuple[str, str], new: tuple[str, str]) -> str:
    (base_run, base_version), (run_id, version) = base, new
    against = base_version if base_run == run_id else f"{base_run}-{base_version}"
    return f"{version}{AGAINST}{against}"


def history(suite: str) -> str:
    """Return the key of the medians of a suite's runs."""
    return f"{HISTORY}{suite}/runs.json"


def history_windows(suite: str) -> str:
    """Return the key of the windows of a suite's history that are searched for changes."""
    return f"{HISTORY}{suite}/windows.json"


def acknowledgements(suite: str) -> str:
    """Return the prefix of the acknowledgements of a suite's changes of level."""
    return f"{HISTORY}{suite}/acknowledgements/"


def acknowledgement(suite: str, run_id: str, test: str, metric: str) -> str:
    """Return the key of the last acknowledgement of a metric's change at a run."""
    return f"{acknowledgements(suite)}{run_id}/{test}/{metric}.json"


def alarms(suite: str) -> str:
    """Return the key of the alarms of a suite's changes of level."""
    return f"{HISTORY}{suite}/alarms.json"


def versions_of(suite: str) -> str:
    """Return the prefix of the versions with a counted rate; each version is a folder."""
    return f"{VERSIONS}{suite}/"


def runs_of(suite: str, version: str) -> str:
    """Return the prefix of the runs with a counted rate of a version, the newest first."""
    return f"{versions_of(suite)}{version}/"


def run_of_version(suite: str, version: str, run_id: str) -> str:
    """Return the key that marks a run as having a counted rate of a version."""
    moment = int(run_id[:15].replace("T", ""))
    return f"{runs_of(suite, version)}{_LAST_SECOND - moment:014d}-{run_id}"
