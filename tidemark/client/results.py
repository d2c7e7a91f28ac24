"""The results of runs in the results bucket."""

from __future__ import annotations

import json
from collections.abc import Collection, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, date, datetime
from pathlib import Path
from typing import TYPE_CHECKING

from tidemark.model.run_id import is_profiled
from tidemark.store import keys
from tidemark.store.bucket import Bucket, Damaged, Tagged

if TYPE_CHECKING:
    from tidemark.figures.profiles.folded_stacks import Stacks
    from tidemark.figures.verdicts.sequential_run import SequentialRun
    from tidemark.model.exclusions import Exclusions
    from tidemark.model.outcome import Outcome
    from tidemark.model.plan import Plan
    from tidemark.model.profile import Profile
    from tidemark.model.results import TestResult, TrialResult
    from tidemark.store.imported_run import Release


@dataclass(frozen=True)
class Progress:
    """The numbers of recorded and planned trials of a run."""

    recorded: int
    planned: int


class Results:
    """The results of one stack.

    The models take longer to import than a list of runs takes: a method that needs a model imports
    it.
    """

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket

    def plan(self, run_id: str) -> Plan | None:
        """Return the plan of a run, None if it has no plan yet."""
        from tidemark.store.stored_plan import find_plan  # noqa: PLC0415

        return find_plan(self._bucket, run_id)

    def newest_runs(self, suite: str) -> Iterator[str]:
        """Yield the ended and the imported runs of a suite, the newest first."""
        for key in reversed(list(self._bucket.keys(keys.tables("runs", suite)))):
            yield Path(key).name.removesuffix(keys.ROWS)

    def outcome(self, run_id: str) -> Outcome | None:
        """Return the outcome of a run, None if it has not ended."""
        from tidemark.model.outcome import Outcome  # noqa: PLC0415

        stored = self._bucket.find(keys.outcome(run_id))
        return Outcome.model_validate_json(stored.body) if stored else None

    def claims(self) -> dict[str, str]:
        """Return the ARN of the execution of each run that holds the claim of its suite, by run id.

        Each execution is running or has died.
        """
        bodies = (self._find_whole(key) for key in self._bucket.keys(keys.CLAIMS))
        # A claim may be released between its listing and its reading.
        claims = [json.loads(found.body) for found in bodies if found]
        return {claim["run_id"]: claim["execution_arn"] for claim in claims}

    def _find_whole(self, key: str) -> Tagged | None:
        """Return an object, None if there is none or it is damaged: it hides no other."""
        with suppress(Damaged):
            return self._bucket.find(key)
        return None

    def recorded(self, run_id: str, after: int = 0) -> list[int]:
        """Return the numbers of a run's finished trials beyond trial ``after``, in order.

        The profiled trials are among them.
        """
        last, profiled = keys.trial(run_id, after), is_profiled(after)
        counted = () if profiled else self._bucket.keys(keys.trials(run_id), after=last)
        behind = self._bucket.keys(keys.profiled_trials(run_id), after=last if profiled else "")
        return [int(Path(key).stem) for key in (*counted, *behind)]

    def trial(self, run_id: str, number: int) -> TrialResult:
        """Return the result of a finished trial."""
        from tidemark.store.run_objects import read_trial  # noqa: PLC0415

        return read_trial(self._bucket, run_id, number)

    def tests_of(self, run_id: str, number: int) -> Collection[TestResult]:
        """Return the results of a trial's finished tests, also before the trial is finished."""
        from tidemark.store.run_objects import read_measured  # noqa: PLC0415

        measured = read_measured(self._bucket, run_id, number)
        recorded = number in self.recorded(run_id, after=number - 1)
        return self.trial(run_id, number).tests if recorded else measured.values()

    def trials(self, run_id: str) -> Iterator[TrialResult]:
        """Yield the results of a run's finished trials."""
        return (self.trial(run_id, number) for number in self.recorded(run_id))

    def progress(self, run_id: str) -> Progress | None:
        """Return the progress of a run, None if it has no plan."""
        plan = self.plan(run_id)
        if plan is None:
            return None
        return Progress(len(self.recorded(run_id)), len(self.so_far(plan).all_trials))

    def so_far(self, plan: Plan) -> Plan:
        """Return a plan with the trials that its run needs, as far as its recorded trials say."""
        from tidemark.store.stored_run import read_run  # noqa: PLC0415

        return read_run(self._bucket, plan).plan if plan.request.until else plan

    def standing(self, run_id: str) -> SequentialRun:
        """Return the standing of an active run until decided, empty if it has none."""
        from tidemark.store.stored_run import read_standing  # noqa: PLC0415

        return read_standing(self._bucket, run_id)

    def report(self, suite: str, run_id: str, file: str) -> bytes | None:
        """Return a file of a run's report, None if it does not exist."""
        stored = self._bucket.find(keys.report(suite, run_id, file))
        return stored.body if stored else None

    def comparisons(self, suite: str, run_id: str) -> list[str]:
        """Return the files of the comparisons beside a run's report, in order."""
        stored = self._bucket.keys(keys.report(suite, run_id, ""))
        files = (Path(key).name for key in stored)
        return [each for each in files if keys.AGAINST in each and not each.endswith(keys.BLOCKS)]

    def exclusions(self, run_id: str) -> Exclusions:
        """Return the excluded trials of a run."""
        from tidemark.store.run_objects import read_exclusions  # noqa: PLC0415

        return read_exclusions(self._bucket, run_id)

    def is_excluded(self, run_id: str, trial: int | None) -> bool:
        """Tell whether a trial, or the whole run if there is no trial, is itself excluded."""
        stored = self._bucket.find(keys.exclusion(run_id, trial))
        return bool(stored and json.loads(stored.body)["excluded"])

    def exclude(self, run_id: str, trial: int | None, reason: str, *, excluded: bool) -> None:
        """Exclude or include a trial or the whole run; publishing updates the figures."""
        from tidemark.model.exclusions import Exclusion  # noqa: PLC0415

        exclusion = Exclusion(excluded=excluded, reason=reason, at=datetime.now(UTC))
        key = keys.exclusion(run_id, trial)
        self._bucket.write(key, exclusion.model_dump_json().encode())

    def acknowledge(
        self, suite: str, change: tuple[str, str, str], reason: str, until: date
    ) -> None:
        """Accept the level of a metric since its change: the run, the test and the metric."""
        from tidemark.model.level_alarm import Acknowledgement  # noqa: PLC0415

        decision = Acknowledgement(reason=reason, until=until, at=datetime.now(UTC))
        key = keys.acknowledgement(suite, *change)
        self._bucket.write(key, decision.model_dump_json().encode())

    def import_release(self, suite: str, title: str, release: Release) -> str:
        """Write the run of a published release; publishing its rates completes it."""
        from tidemark.store.imported_run import write_release  # noqa: PLC0415

        return write_release(self._bucket, suite, title, release)

    def profiles(self, suite: str) -> list[Profile]:
        """Return the profiles of a suite."""
        from tidemark.store.profiles.stored_profile import read_profiles  # noqa: PLC0415

        return read_profiles(self._bucket, suite)

    def stacks(self, profile: Profile) -> Stacks:
        """Return the stacks of a profile."""
        from tidemark.store.profiles.stored_profile import read_stacks  # noqa: PLC0415

        return read_stacks(self._bucket, profile)

    def add_profile(self, profile: Profile, stacks: Stacks) -> Profile | None:
        """Store a profile; return the stored one with the same stacks, if there is one."""
        from tidemark.store.profiles.stored_profile import add_profile  # noqa: PLC0415

        return add_profile(self._bucket, profile, stacks)

    def remove_profile(self, profile: Profile) -> None:
        """Delete a profile."""
        from tidemark.store.profiles.stored_profile import remove_profile  # noqa: PLC0415

        remove_profile(self._bucket, profile)

    def is_indexed(self, suite: str, version: str) -> bool:
        """Tell whether a comparison can find a run of a version without the run's id."""
        return any(self._bucket.keys(keys.runs_of(suite, version)))

    def read(self, key: str) -> bytes:
        """Return the body of an object; raise the bucket service's error if it does not exist."""
        return self._bucket.read(key)
