"""Whole pages and tables of drawn runs, every figure, label and chart, against those last seen."""

import gzip
import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from tests.last_seen import assert_last_seen
from tests.plans import RUN, plan_of, rocksdb
from tests.unit import drawn_runs, two_of_everything
from tests.unit.prepared_results import PREPARED
from tests.unit.report import test_grown_functions, test_labels, test_loads
from tests.unit.run import test_profiled_trials, test_search
from tests.unit.run.test_choose_trial import BASE, NEW, OTHER, Measuring
from tidemark.model.suite_files import read_suites
from tidemark.report.blocks import Report
from tidemark.report.comparison.contents import comparison
from tidemark.report.comparison.sides import sides
from tidemark.report.markdown import markdown
from tidemark.report.page import page
from tidemark.report.run_report.measured import measured_run
from tidemark.report.run_report.publishing import publish_report, report
from tidemark.report.terminal import print_blocks
from tidemark.store import keys

DIGESTS = Path(__file__).with_name("whole_pages.json")
# A terminal's lines take seconds for a large page.
PRINTED = {"mixed", "one missing", "engines", "labels", "decided", "a search"}


def _both(run, base, new):
    return report(measured_run(run)), comparison(sides((run, base), (run, new)))


def _of_two_of_everything():
    """Yield the reports and comparisons of runs on two databases with failures."""
    for run, planned in zip(two_of_everything.stored_runs(), two_of_everything.RUNS, strict=True):
        if planned.versions[1:]:
            yield from _both(run, *planned.versions[-2:])


def _across_runs():
    """Yield comparisons of versions in different runs, of other sizes."""
    for larger, smaller in (
        (drawn_runs.loads(), drawn_runs.smaller_loads()),
        (drawn_runs.engines(), drawn_runs.smaller_engines()),
    ):
        base, new = larger.plan.request.versions[:2]
        yield comparison(sides((smaller, base), (larger, new)))


def _measured(*, until=None, **fields):
    run = Measuring(fields.pop("losses"), **fields)
    run.go_on(**({} if until is None else {"most": until}))
    return run.stored


def _profiled():
    """Yield the name and the text of each file of profiled trials, flame graphs among them."""
    bucket = test_grown_functions.stored(test_profiled_trials.plan(), slower=1.5)
    publish_report(bucket, RUN)
    for key, body in sorted(bucket.objects.items()):
        if key.startswith(keys.REPORTS):
            text = body.decode()
            yield Path(key).name, text.partition("</style>")[2].partition("<script>")[0] or text


def _tables():
    """Yield the name and the rows of each table, from runs on two databases with failures."""
    for key, body in two_of_everything.tables(two_of_everything.stored_runs()).items():
        yield key.split("/")[1], gzip.decompress(body).decode()


def _plans():
    """Yield the name, the request and the trials of plans of each kind."""
    canary = rocksdb().model_copy(update={"canary": "8.8.1"})
    requests = [({"repetitions": 3}, suite) for suite in read_suites().values()] + [
        ({"versions": ["9.8.4", "8.8.1", "9.0.0"], "baseline": "9.0.0"}, canary),
        ({"versions": ["9.0.0", "9.8.4"], "note": "by hand", "tasks": 2}, canary),
        ({"versions": ["9.0.0", "9.8.4"], "until": "decided", "budget_usd": 2}, canary),
        ({"bisect": test_search.BISECT, "trigger": "schedule", "keep_going": True}, canary),
    ]
    plans = (plan_of(fields, suite=suite) for fields, suite in requests)
    for plan in (*plans, test_profiled_trials.plan()):
        yield "requests", plan.request.model_dump_json(indent=1)
        yield "trials", plan.model_dump_json(include={"trials"})


PAGES = {
    **{name: lambda prepared=prepared: [prepared.report()] for name, prepared in PREPARED.items()},
    "two of everything": _of_two_of_everything,
    "loads": lambda: _both(drawn_runs.loads(), drawn_runs.BASE, drawn_runs.NEW),
    "a load that failed": lambda: _both(
        test_loads.load_run(change=test_loads.dies), drawn_runs.BASE, drawn_runs.NEW
    ),
    "engines": lambda: _both(drawn_runs.engines(), "9.0.0", "9.8.4"),
    "across runs": _across_runs,
    "labels": lambda: _both(test_labels.run_of(test_labels.latency_plan()), "9.0.0", "9.8.4"),
    "decided": lambda: _both(_measured(losses={NEW: 0, OTHER: 0.2}), BASE, OTHER),
    "undecided": lambda: _both(_measured(losses={NEW: 0.03}, scatter=0.06, until=7), BASE, NEW),
    "profiled trials": _profiled,
    "tables": _tables,
    "plans": _plans,
}  # fmt: skip


def _forms(name, whole):
    """Yield the name and the text of each part of a page: its sections and its other forms."""
    if not isinstance(whole, Report):
        yield whole
        return
    yield "summary", json.dumps([whole.title, whole.summary], default=sorted, ensure_ascii=False)
    for section in whole.sections:
        text = json.dumps(section, default=sorted, ensure_ascii=False)
        yield section.heading.partition(":")[0].partition(" ")[0], text
    yield "markdown", markdown(whole)
    yield "page", page(whole).partition("<main>")[2].partition("<script")[0]
    for width in (80, 200) if name in PRINTED else ():
        printed = io.StringIO()
        console = Console(file=printed, width=width, color_system="truecolor", force_terminal=True)
        print_blocks([*whole.summary, *(b for s in whole.sections for b in s.blocks)], console)
        yield "terminal", printed.getvalue()


def parts(name):
    """Return the texts of a page's parts by their name; parts of one name follow each other."""
    texts = {}
    for whole in PAGES[name]():
        for part, text in _forms(name, whole):
            texts[part] = texts.get(part, "") + text + "\n"
    return texts


@pytest.mark.parametrize("name", PAGES)
def test_a_whole_page_is_the_page_last_seen(name):
    assert_last_seen(DIGESTS, name, parts(name))
