"""The exit codes of ``--fail-on slower`` over drawn stores, against verdicts worked out anew here.

Nothing of Tidemark's order of versions, of its verdicts or of its families is used to expect them.
"""

from __future__ import annotations

import math
import random
import statistics
from collections import Counter
from collections.abc import Iterable
from functools import cache, cmp_to_key
from itertools import pairwise, product

import pytest
from packaging.version import InvalidVersion, Version
from rich.console import Console
from semver.version import Version as SemVer

from tests.plans import RUN, STARTED, plan_of, with_axes
from tests.unit.fakes import FakeBucket
from tests.unit.measured_runs import ingest_of, planned
from tidemark.cli.run import _check_gate, gate
from tidemark.model.refusal import Refused
from tidemark.model.results import (
    NO_EXCLUSIONS,
    Exclusion,
    Exclusions,
    Rate,
    TestResult,
    TrialResult,
)
from tidemark.model.subject import Subject
from tidemark.report.comparison.document import ComparisonDocument, document, exit_code
from tidemark.report.comparison.publishing import choose_sides
from tidemark.report.comparison.sides import sides
from tidemark.store import keys
from tidemark.store.stored_run import StoredRun

STORES = 500
SUITE = with_axes({})
REFUSED = 2
DESCRIBED = "1.4.4-12-gabc1234"  # by git: a commit after 1.4.4, no pre-release of it
OF_PACKAGES = [
    "1.4.4", "1.4.4+1a2b3c4d", "1.4.4+g5e6f7a8b", "1.4.4rc1", "1.4.4.dev3", "1.4.4.post1",
    "1.4.4.dev3+1a2b3c4d", "1.4.10", "1.10.0", "1.4", "1.4.0", "2.0b2", "main",
]  # fmt: skip
OF_OTHERS = [
    "1.4.4", "1.4.10", "1.4.4-rc.2", "1.4.4-rc.10", "1.4.4-alpha.x", "1.4.4-1", "1.10.0",
    "1.4.4+build.7", "1.4.4+1a2b3c4d", "2.0", "deadbee", "feature-x", DESCRIBED,
]  # fmt: skip
METRICS = ("ingest_rate", "compaction_rate")


def older(one: str, other: str, *, packaged: bool) -> bool | None:
    """Tell whether a version is older than another one; None if that is not known."""
    if DESCRIBED in {one, other}:
        return None
    (a, of_a), (b, of_b) = (text.partition("+")[::2] for text in (one, other))
    try:
        if packaged:
            order = (Version(a) > Version(b)) - (Version(a) < Version(b))
        else:
            order = SemVer.parse(_three(a)).compare(_three(b))
    except (InvalidVersion, ValueError):
        return None
    if order:
        return order < 0
    return None if bool(of_a) == bool(of_b) else bool(of_b)


def _three(version: str) -> str:
    return f"{version}.0" if version.count(".") == 1 and version[0].isdigit() else version


def in_order(versions: list[str], *, packaged: bool) -> list[str] | None:
    """Return the versions in order; None if it is not known."""
    if any(older(*both, packaged=packaged) is None for both in product(versions, versions)
           if both[0] != both[1]):  # fmt: skip
        return None
    return sorted(
        versions, key=cmp_to_key(lambda a, b: -1 if older(a, b, packaged=packaged) else 1)
    )


def beyond(t: float, freedom: int) -> float:
    """Return the probability that Student's t exceeds ``t``."""
    return area(math.atan(t / math.sqrt(freedom)), freedom) / (2 * area(0, freedom))


@cache
def area(start: float, freedom: int, steps: int = 400) -> float:
    """Return the area under the density of an angle from ``start`` on, by Simpson's rule."""
    step = (math.pi / 2 - start) / steps
    heights = [math.cos(start + n * step) ** (freedom - 1) for n in range(steps + 1)]
    odd, even = math.fsum(heights[1:-1:2]), math.fsum(heights[2:-1:2])
    return step / 3 * (heights[0] + heights[-1] + 4 * odd + 2 * even)


class Store:
    """A store with one run."""

    def __init__(self, run: StoredRun, rated: Iterable[str]) -> None:
        self.run = run
        self.bucket = FakeBucket({keys.plan(RUN): run.plan.model_dump_json().encode()})
        for version in rated:
            self.bucket.write(keys.run_of_version("rocksdb", version, RUN), b"")
        self.publisher = self

    def comparison(self, suite: str, base: str, new: str) -> dict[str, str]:
        """Store the comparison of two sides, as the function of the cloud does."""
        (_, base_version), (_, version) = choose_sides(self.bucket, suite, base, new)
        # The same comparison is asked for by three tests, and takes most of their time.
        key = f"{version}-against-{base_version}.json"
        if key not in self.bucket.objects:
            found = document(sides((self.run, base_version), (self.run, version)))
            self.bucket.write(key, found.model_dump_json().encode())
        return {"json": key}


class Drawn(Store):
    """A drawn store, and what its exit codes have to be."""

    def __init__(self, seed: int) -> None:
        self.draw = draw = random.Random(seed)
        self.packaged = draw.random() < 0.6
        self.versions = draw.sample(
            OF_PACKAGES if self.packaged else OF_OTHERS, draw.choice([2, 2, 3])
        )
        self.axes = draw.choice([{}, {}, {"database": ("postgresql", "mariadb")}])
        self.decides = {name: draw.random() < 0.8 for name in METRICS}
        self.direction = {name: draw.choice(["higher", "lower"]) for name in METRICS}
        self.factors: dict[object, float] = {}
        self.plan = self._plan(draw.choice([None, None, draw.choice(self.versions)]))
        self.trials = [self._trial(planned) for planned in self.plan.trials]
        left_out = {
            f"{trial.trial:03d}": Exclusion(excluded=True, reason="a backup ran", at=STARTED)
            for trial in self.trials
            if draw.random() < 0.05
        }
        self.rates = {
            (trial.version, trial.repetition, rate.metric, tuple(rate.labels.items())): rate.value
            for trial in self.trials
            for test in trial.tests
            for rate in test.rates
            if f"{trial.trial:03d}" not in left_out and rate.value is not None
        }
        run = StoredRun(self.plan, self.trials, Exclusions(left_out), [])
        super().__init__(run, {key[0] for key in self.rates})

    def _plan(self, baseline: str | None):
        suite = SUITE.model_copy(update={"axes": self.axes})
        named = {version: version for version in (*OF_PACKAGES, *OF_OTHERS)}
        kind = {"package": "demo"} if self.packaged else {"prepare": ("sh",)}
        tests = tuple(
            test.model_copy(
                update={
                    "metrics": tuple(
                        metric.model_copy(
                            update={
                                "decides": self.decides[metric.name],
                                "direction": self.direction[metric.name],
                            }
                        )
                        for metric in test.metrics
                    )
                }
            )
            for test in suite.tests
        )
        subject = Subject(**kind, form=".+", versions=named)
        suite = suite.model_copy(update={"subject": subject, "tests": tests})
        fields = {"versions": self.versions, "repetitions": self.draw.randint(4, 9)}
        return plan_of({**fields, "baseline": baseline}, suite=suite)

    def _trial(self, planned):
        draw, factors = self.draw, self.factors
        tests = []
        for test in self.plan.suite.tests:
            (metric,) = test.metrics
            place = (planned.version, metric.name, *planned.axes.values())
            factor = factors.setdefault(place, draw.choice([0.5, 0.75, 0.96, 1, 1, 1.01, 1.33]))
            scatter = factors.setdefault(metric.name, draw.choice([0.005, 0.02, 0.1]))
            value = None if draw.random() < 0.03 else 1e6 * factor * draw.gauss(1, scatter)
            rate = Rate(
                metric=metric.name, unit=metric.unit, direction=metric.direction,
                labels=planned.axes, value=value, samples=1, expected=1, not_finite=0,
                stddev=None, min=None, max=None, records=None,
            )  # fmt: skip
            status = "failed" if value is None else "ok"
            tests.append(
                TestResult(
                    test=test.name, status=status, started_at=STARTED, ended_at=STARTED,
                    rates=(rate,),
                )
            )  # fmt: skip
        return TrialResult(
            run_id=RUN, **planned.model_dump(), status="ok", reason="", tests=tuple(tests)
        )

    def expected_code(self, pairs: list[tuple[str, str]]) -> int:
        """Return the exit code for some pairs of versions, the base first."""
        under = [
            tuple(zip(self.axes, values, strict=True)) for values in product(*self.axes.values())
        ]
        deciding = [name for name in METRICS if self.decides[name]]
        words = [
            self.word(base, new, name, axes)
            for base, new in pairs
            for name in deciding
            for axes in under
        ]
        if "slower" in words:
            return 3
        return 4 if "untold" in words or not words else 0

    def word(self, base: str, new: str, metric: str, axes: tuple) -> str:
        """Return the verdict by docs/verdicts.md: paired t, and a share of 1 % of alarms.

        Nine pairs at most have one outlier, and resemble one another by a correlation.
        """
        d = [
            math.log(self.rates[new, n, metric, axes] / self.rates[base, n, metric, axes])
            for n in range(1, self.plan.request.repetitions + 1)
            if {(base, n, metric, axes), (new, n, metric, axes)} <= self.rates.keys()
        ]
        if len(d) < 5:
            return "untold"
        middle = statistics.median(d)
        far = [abs(x - middle) for x in d]
        if len(d) >= 8 and max(far) > 8 * 1.4826 * statistics.median(far):
            del d[far.index(max(far))]
        mean, freedom = math.fsum(d) / len(d), len(d) - 1
        squares = math.fsum((x - mean) ** 2 for x in d)
        found = math.fsum((x - mean) * (y - mean) for x, y in pairwise(d)) / squares
        alike = min(max(0, found + (1 + 3 * max(0, found)) / len(d)), 0.8)
        error = math.sqrt(squares / freedom / len(d) * (1 + alike) / (1 - alike))
        combinations = math.prod(len(values) for values in self.axes.values())
        series = sum(self.decides.values()) * combinations
        share = 0.01 / series / (len(self.versions) - 1)
        if 2 * beyond(abs(mean) / error, freedom) <= share and abs(math.expm1(mean)) >= 0.03:
            return "faster" if (mean > 0) == (self.direction[metric] == "higher") else "slower"
        room = (math.log(1.05) - mean, mean - math.log(0.95))
        is_same = all(each > 0 and beyond(each / error, freedom) <= 0.05 for each in room)
        return "same" if is_same else "untold"

    def expected_gate(self) -> int:
        """Return the exit code of ``tidemark run --fail-on slower``."""
        if baseline := self.plan.request.baseline:
            return self.expected_code([(baseline, v) for v in self.versions if v != baseline])
        ordered = in_order(self.versions, packaged=self.packaged)
        return REFUSED if ordered is None else self.expected_code(list(pairwise(ordered)))

    def expected_comparison(self, base: str, new: str) -> int:
        """Return the exit code of ``tidemark compare BASE NEW --fail-on slower``."""
        rated = sorted({key[0] for key in self.rates})
        if "newest" in (base, new):
            ordered = in_order(rated, packaged=self.packaged) if len(rated) > 1 else rated
            if ordered is None or len(ordered) < 2:
                return REFUSED
            base, new = ordered[-2:]
        if not {base, new} <= {*rated}:
            return REFUSED
        return self.expected_code([(base, new)])


@pytest.fixture(scope="module")
def stores():
    return [Drawn(seed) for seed in range(STORES)]


def code_of(command) -> int:
    """Return the exit code of a command, that of a refusal among them."""
    try:
        return command()
    except Refused:
        return REFUSED


def test_a_build_that_is_a_third_slower_than_its_release_fails_the_gate(capsys):
    build = "9.8.4+1a2b3c4d"
    builds = {build: f"file:///rocksdict-9.8.4-py3-none-any.whl#sha256={'0' * 64}"}
    plan = planned([build, "9.8.4"], builds=builds, repetitions=6)
    rates = [1000, 1004, 996, 1001, 999, 1003]
    trials = ingest_of(plan, {"9.8.4": rates, build: [rate * 2 / 3 for rate in rates]})
    store = Store(StoredRun(plan, trials, NO_EXCLUSIONS, []), [build, "9.8.4"])

    assert gate(store, plan, Console(width=200)) == 3
    assert (
        f"ingest_rate: slower (no new pairs confirm it), {build} against 9.8.4, −33.3"
        in capsys.readouterr().out
    )


def code_until_decided(seed, again):
    """Return the code of a run until decided whose new pairs change by a factor of their own.

    The first pairs are a third slower: six of them alarm, and those behind them confirm or do not.
    """
    draw = random.Random(seed)
    versions = ["9.0.0", "9.8.4"]
    plan = planned(versions, baseline="9.0.0", until="decided", repetitions=30)
    scatter = draw.choice([0.001, 0.003, 0.005])
    pairs = 6 + draw.randint(5, 25)
    rates = {
        version: [
            1000
            * draw.gauss(1, scatter)
            * ((2 / 3 if place < 6 else again) if version == "9.8.4" else 1)
            for place in range(len(plan.trials))
        ]
        for version in versions
    }
    trials = [trial for trial in ingest_of(plan, rates) if trial.repetition <= pairs]
    store = Store(StoredRun(plan, trials, NO_EXCLUSIONS, []), versions)
    return gate(store, plan, Console(width=500))


def factor_of_new_pairs(seed):
    """Return a factor that is not a slowdown: no change, or a gain."""
    return random.Random(seed).choice([1, 1.003, 1.1])


def test_a_change_that_new_pairs_do_not_confirm_never_fails_the_gate(capsys):
    codes = {code_until_decided(seed, again=factor_of_new_pairs(seed)) for seed in range(20)}

    assert codes <= {0, 4}
    assert capsys.readouterr().out.count("slower at first, not confirmed by") == 20


def test_a_change_that_new_pairs_confirm_fails_the_gate():
    assert {code_until_decided(seed, again=2 / 3) for seed in range(10)} == {3}


def test_the_gate_of_a_run_has_the_exit_code_of_its_verdicts(stores):
    def gated(store):
        _check_gate(store.plan.request, store.plan.suite, gated=True)
        return gate(store, store.plan, Console(quiet=True))

    expected = [store.expected_gate() for store in stores]

    assert [code_of(lambda store=store: gated(store)) for store in stores] == expected
    assert min(Counter(expected)[code] for code in (0, REFUSED, 3, 4)) >= STORES / 50


@pytest.mark.parametrize("words", [("previous", "newest"), None])
def test_the_gate_of_a_comparison_has_the_exit_code_of_its_verdicts(stores, words):
    def compared(store, base, new):
        key = store.comparison("rocksdb", base, new)["json"]
        return exit_code([ComparisonDocument.model_validate_json(store.bucket.read(key))])

    pairs = [words or tuple(store.versions[:2]) for store in stores]
    expected = [store.expected_comparison(*pair) for store, pair in zip(stores, pairs, strict=True)]

    found = [
        code_of(lambda store=store, pair=pair: compared(store, *pair))
        for store, pair in zip(stores, pairs, strict=True)
    ]
    assert found == expected
    assert min(Counter(expected)[code] for code in (0, 3, 4)) >= STORES / 50
