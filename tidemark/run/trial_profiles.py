"""The profiles of a profiled trial, from the folded stacks that its tasks left.

A task is not trusted: it may leave any bytes. A profile that is missing or unreadable fails itself
and nothing else.
"""

from __future__ import annotations

from io import BytesIO

from tidemark.figures.profiles.folded_stacks import SEPARATOR, Stacks
from tidemark.model.plan import Plan
from tidemark.model.profile import PROFILE_FILE, Profile
from tidemark.model.results import TestResult, TrialResult
from tidemark.store import keys
from tidemark.store.bucket import Bucket
from tidemark.store.folded_file import Tally, Unreadable, add_folded, unpacked
from tidemark.store.stored_profile import digest, name_in_run, write_profile

_MILLION = 1_000_000
_MOST_CHARACTERS = 8 << 20
"""The most characters of a trial's different stacks: its report reads the stacks of all trials."""


def with_profiles(bucket: Bucket, plan: Plan, trial: TrialResult) -> TrialResult:
    """Store the profile of each test of a trial; return the trial, with notes on missing profiles.

    A repetition stores the same profiles again.
    """
    tests = tuple(_with_profile(bucket, plan, trial, test) for test in trial.tests)
    return trial.model_copy(update={"tests": tests})


def _with_profile(bucket: Bucket, plan: Plan, trial: TrialResult, test: TestResult) -> TestResult:
    try:
        stacks = _stacks(bucket, trial, test)
    except Unreadable as missing:
        note = f"no profile is stored: {missing}"
        return test.model_copy(update={"artefact_notes": (*test.artefact_notes, note)})
    write_profile(bucket, _profile(plan, trial, test, stacks), stacks)
    return test


def _stacks(bucket: Bucket, trial: TrialResult, test: TestResult) -> Stacks:
    """Return the samples of all tasks of a test; raise Unreadable unless each task left its own.

    The name of a service is the outermost frame of its stacks.
    """
    if test.status != "ok":
        raise Unreadable(f"the test is {test.status}")
    left = [file.task for file in test.artefacts if file.name == PROFILE_FILE]
    services = {task.index: f"service {task.service}" for task in test.tasks if task.service}
    if lacking := sorted({task.index for task in test.tasks} - set(left)):
        task = services.get(lacking[0], f"task {lacking[0]}")
        raise Unreadable(f"{task} left no profile; its log may say why")
    tally = Tally(_MOST_CHARACTERS)
    for index in left:
        place = trial.run_id, trial.trial, test.test, index, PROFILE_FILE
        try:
            _add(bucket.read(keys.artefact(*place)), services.get(index), tally)
        except Unreadable as error:
            task = services.get(index, f"task {index}")
            raise Unreadable(f"the profile of {task} cannot be read: {error}") from None
    if not tally.stacks:
        raise Unreadable("it has no samples")
    return tally.stacks


def _add(file: bytes, service: str | None, tally: Tally) -> None:
    own = Tally(_MOST_CHARACTERS) if service else tally
    with unpacked(BytesIO(file)) as content:
        add_folded(content, own)
    if service:
        for stack, samples in own.stacks.items():
            tally.add(f"{service}{SEPARATOR}{stack}", samples)


def _profile(plan: Plan, trial: TrialResult, test: TestResult, stacks: Stacks) -> Profile:
    begun = test.started_at or plan.started_at
    samples = sum(stacks.values())
    return Profile(
        name=name_in_run(plan, trial, test),
        suite=plan.suite.name,
        version=trial.version,
        test=test.test,
        profiled_on=begun.date(),
        samples=samples,
        unit="samples",
        form="folded",
        file=PROFILE_FILE,
        source="",
        imported_on=begun.date(),
        digest=digest(stacks),
        seconds=_seconds(plan, samples, test),
        run=trial.run_id,
        trial=trial.trial,
        order=plan.version_order(trial.version),
    )


def _seconds(plan: Plan, samples: int, test: TestResult) -> float | None:
    """Return the CPU time per million records [s]; None if the test logs no records."""
    records = next((rate.records for rate in test.rates if rate.records), None)
    hz = plan.request.profile.hz if plan.request.profile else None
    return samples / hz / records * _MILLION if hz and records else None
