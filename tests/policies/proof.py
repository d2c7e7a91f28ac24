"""What recordings prove: that every call is allowed, and which grants no call needs."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from tests.policies.authorization import requests
from tests.policies.deployment import Deployment
from tests.policies.evaluation import Request, Statement, allowed, read_statements
from tests.policies.reasons import REASONS
from tests.policies.recording import Recording


@dataclass(frozen=True)
class Grant:
    """
    One action on one resource that a role is allowed, with one value of each condition.

    Attributes
    ----------
    role
        The role's logical id.
    place
        Its number among the grants of the role, which is the same in every deployment of an app.
    """

    role: str
    place: int


@dataclass(frozen=True)
class Asked:
    """What IAM is asked when a role, by its logical id, makes a call."""

    role: str
    request: Request
    granting: Mapping[Grant, Statement]
    """The role's grants that speak of it."""
    guarding: Sequence[Statement]
    """What the policies of resources deny everybody."""

    def allowed_without(self, *taken: Grant) -> bool:
        """Tell whether the call succeeds, if some grants are taken away."""
        left = [statement for grant, statement in self.granting.items() if grant not in taken]
        return allowed(self.request, [*left, *self.guarding])

    def __str__(self) -> str:
        context = ", ".join(f"{key} {value}" for key, value in sorted(self.request.context))
        return f"{self.role}: {self.request.action} on {self.request.resource} ({context})"


def grants(deployment: Deployment) -> dict[Grant, Statement]:
    """Return all that roles are granted, each with the statement that says it and no more."""
    return {
        Grant(deployment.logical_ids[role], place): narrow
        for role, policies in deployment.policies.items()
        for place, narrow in enumerate(_narrowed(policies.values()))
    }


def asked(recording: Recording) -> Iterator[Asked]:
    """Yield what IAM is asked in a recording, each once."""
    deployment = recording.deployment
    granted = grants(deployment)
    guarding = [
        statement
        for policy in deployment.guards.values()
        for statement in read_statements(policy)
        # What they allow, they allow others: roles are granted by their own policies alone.
        if statement.effect == "Deny"
    ]
    once = {
        (deployment.logical_ids[call.role], request)
        for call in recording.calls
        for request in requests(call, deployment)
    }
    for role, request in once:
        granting = {
            grant: statement
            for grant, statement in granted.items()
            if grant.role == role and statement.applies(request)
        }
        yield Asked(role, request, granting, guarding)


def denied(recordings: Iterable[Recording]) -> list[Asked]:
    """Return what was called in recordings and would be denied on AWS."""
    return [
        each for recording in recordings for each in asked(recording) if not each.allowed_without()
    ]


def unneeded(recordings: Sequence[Recording]) -> dict[Grant, Statement]:
    """Return the grants of one app without which all that was called in it is still allowed."""
    needed = {
        grant
        for recording in recordings
        for each in asked(recording)
        for grant in each.granting
        if not each.allowed_without(grant)
    }
    granted = grants(recordings[0].deployment)
    return {grant: statement for grant, statement in granted.items() if grant not in needed}


def problems(recordings: Sequence[Recording], *, whole: bool) -> Iterator[str]:
    """Yield in words what least privilege forbids; of grants only if the ``whole`` app was used."""
    yield from sorted({f"IAM would deny {each}" for each in denied(recordings)})
    if whole:
        for grant, statement in unneeded(recordings).items():
            if not any(reason.covers(statement) for reason in REASONS):
                yield f"no call needs what {grant.role} is granted: {statement}"


def _narrowed(policies: Iterable[Mapping[str, object]]) -> Iterator[Statement]:
    for policy in policies:
        for statement in read_statements(policy):
            yield from statement.narrowed()
