"""Proof from recordings: IAM allows every call, and calls need every grant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain, product

from onebox.cloud.policy_evaluation import Request, Statement, allowed, read_statements
from tests.system.policies.authorization import requests
from tests.system.policies.deployment import Deployment
from tests.system.policies.reasons import REASONS
from tests.system.policies.recording import Recording


@dataclass(frozen=True)
class Grant:
    """
    Grant of one action on one resource to a role, with one value of each condition.

    Attributes
    ----------
    role
        Logical id of the role.
    place
        Number of the grant within its role, the same in every deployment of an app.
    """

    role: str
    place: int


@dataclass(frozen=True)
class RoleRequest:
    """IAM request of a role, by the logical id of the role."""

    role: str
    request: Request
    grants: Mapping[Grant, Statement]
    """Grants of the role that apply to the request."""
    denials: Sequence[Statement]
    """Denials in the policies of resources."""

    def allowed_without(self, *missing: Grant) -> bool:
        """Tell whether IAM allows the request if some grants are missing."""
        left = [statement for grant, statement in self.grants.items() if grant not in missing]
        return allowed(self.request, [*left, *self.denials])

    def __str__(self) -> str:
        context = ", ".join(f"{key} {value}" for key, value in sorted(self.request.context))
        return f"{self.role}: {self.request.action} on {self.request.resource} ({context})"


def grants(deployment: Deployment) -> dict[Grant, Statement]:
    """Return all grants of the roles, each with the narrow statement of this grant only."""
    return {
        Grant(deployment.logical_ids[role], place): narrow
        for role, policies in deployment.policies.items()
        for place, narrow in enumerate(chain.from_iterable(map(narrowed, policies.values())))
    }


def role_requests(recording: Recording) -> Iterator[RoleRequest]:
    """Yield each IAM request of a recording once."""
    deployment = recording.deployment
    all_grants = grants(deployment)
    denials = [
        statement
        for policy in deployment.guards.values()
        for statement in read_statements(policy)
        # Their allowances are for other principals; only their own policies grant roles anything.
        if statement.effect == "Deny"
    ]
    distinct = {
        (deployment.logical_ids[call.role], request)
        for call in recording.calls
        for request in requests(call, deployment)
    }
    for role, request in distinct:
        applicable = {
            grant: statement
            for grant, statement in all_grants.items()
            if grant.role == role and statement.applies(request)
        }
        yield RoleRequest(role, request, applicable, denials)


def denied(recordings: Iterable[Recording]) -> list[RoleRequest]:
    """Return the requests of recorded calls that AWS would deny."""
    return [
        each
        for recording in recordings
        for each in role_requests(recording)
        if not each.allowed_without()
    ]


def unneeded(recordings: Sequence[Recording]) -> dict[Grant, Statement]:
    """Return the grants of one app that no recorded call needs."""
    needed = {
        grant
        for recording in recordings
        for each in role_requests(recording)
        for grant in each.grants
        if not each.allowed_without(grant)
    }
    all_grants = grants(recordings[0].deployment)
    return {grant: statement for grant, statement in all_grants.items() if grant not in needed}


def refused(recordings: Iterable[Recording]) -> set[str]:
    """Return the violations of the models of APIs, each with its call."""
    return {
        f"{call.operation} by {recording.deployment.logical_ids[call.role]}: {violation}"
        for recording in recordings
        for call in recording.calls
        for violation in call.violations
    }


def problems(recordings: Sequence[Recording], *, whole: bool) -> Iterator[str]:
    """Yield refused calls and violations of least privilege.

    Grants are checked only if the calls use the ``whole`` app.
    """
    yield from sorted(refused(recordings))
    yield from sorted({f"IAM would deny {each}" for each in denied(recordings)})
    if whole:
        for grant, statement in unneeded(recordings).items():
            if not any(reason.covers(statement) for reason in REASONS):
                yield f"no call needs this grant of {grant.role}: {statement}"


def narrowed(policy: Mapping[str, object]) -> Iterator[Statement]:
    """Yield the statements of a policy with one action, one resource and one value a condition."""
    for each in read_statements(policy):
        values = [
            [(operator, key, (value,)) for value in listed]
            for operator, key, listed in each.conditions
        ]
        for action, resource, conditions in product(each.actions, each.resources, product(*values)):
            yield Statement(each.effect, (action,), (resource,), conditions)
