"""``make verify-aws``: deploy into an account, measure a trial, check docs/verified.md, delete all.

It asks for the account and the region before it makes anything; ``--yes ACCOUNT/REGION`` answers.
All that it makes is named TidemarkVerify, and is deleted at the end, also after an error or Ctrl-C.
The exit code is 0 if every claim was confirmed and nothing is left.
"""

from __future__ import annotations

import argparse
import os
import signal
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any, NoReturn

import boto3
from botocore.exceptions import BotoCoreError, ClientError

from aws.client.before_deployment import ensure_role
from aws.client.deployed import deployed_stack
from tests.checks.account import stacks
from tests.checks.account.claims import CLAIMS, Check, NotSeen, Verified
from tests.checks.account.stacks import Client, CommandFailed
from tidemark.client.deployed import DeploymentFailed, Stack
from tidemark.money.run_cost import run_cost
from tidemark.store.run_ends import find_outcome
from tidemark.store.run_objects import all_trials
from tidemark.store.stored_plan import find_plan

_POLL_SECONDS = 2.0
_BY_HAND = (
    "Delete the stacks TidemarkVerify and TidemarkVerify-Data in the CloudFormation console, in "
    "this order, and empty the bucket of the second one first."
)


def main() -> int:
    """Run the verification; return the exit code."""
    options = _options()
    try:
        session: Any = boto3.Session(region_name=os.environ.get("AWS_REGION"))
        account = session.client("sts").get_caller_identity()["Account"]
        place = f"{account}/{session.region_name}"
        if not agreed(place, options.yes):
            return 2
        if there := stacks.present(session.client):
            print(f"verify-aws: the account already has {' and '.join(there)}. {_BY_HAND}")
            return 2
    except (BotoCoreError, ClientError) as error:
        print(f"verify-aws: {error}", file=sys.stderr)
        return 2
    signal.signal(signal.SIGTERM, _interrupt)
    return verified_and_removed(session.client, options)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make verify-aws", description=__doc__)
    parser.add_argument("--yes", metavar="ACCOUNT/REGION", help="agree without a question")
    parser.add_argument("-c", dest="context", action="append", default=[], metavar="NAME=VALUE")
    parser.add_argument("--records", type=int, default=1_000_000, help="records of the trial")
    parser.add_argument("--patience", type=float, default=300, help="seconds for late events")
    return parser.parse_args()


def agreed(place: str, answer: str | None) -> bool:
    """Tell whether the user agrees to a deployment into this account and region."""
    if answer is None and sys.stdin.isatty():
        print("This deploys Tidemark, measures one trial for some cents, and deletes everything.")
        answer = input(f"Type {place} to go on: ").strip()
    if answer != place:
        print(f"verify-aws: nothing was made; type {place}, or give --yes {place}, to agree")
    return answer == place


def _interrupt(_number: int, _frame: FrameType | None) -> NoReturn:
    raise KeyboardInterrupt


def verified_and_removed(client: Client, options: argparse.Namespace) -> int:
    """Deploy, measure, deploy again and check; delete everything; return the exit code."""
    confirmed = False
    try:
        with tempfile.TemporaryDirectory(prefix="tidemark-verify-") as assembly:
            ensure_role(client("iam"))
            stack = stacks.deploy(client, Path(assembly), options.context)
            measured = _measured(client, stack, options.records)
            verified = replace(measured, update=_updated(client, Path(assembly), options.context))
            confirmed = _checked(verified, options.patience)
    except KeyboardInterrupt:
        print("verify-aws: interrupted; everything is deleted now")
    except (BotoCoreError, ClientError, CommandFailed, DeploymentFailed) as error:
        print(f"verify-aws: {error}")
    finally:
        removed = _removed(client)
    return 0 if confirmed and removed else 1


def _updated(client: Client, assembly: Path, context: list[str]) -> stacks.Update | None:
    """Deploy other settings; return None, and say why, if that fails: the other claims stand."""
    try:
        return stacks.update(client, assembly, context)
    except CommandFailed as error:
        print(f"verify-aws: the deployment of other settings: {error}")
        return None


def _removed(client: Client) -> bool:
    try:
        left = stacks.remove(client)
    except (BotoCoreError, ClientError) as error:
        print(f"verify-aws: not everything is deleted: {error}. {_BY_HAND}")
        return False
    print(f"Left in the account: {', '.join(left) or 'nothing'}.")
    return not left


def _checked(verified: Verified, patience: float) -> bool:
    """Print what a trial confirms and costs; tell whether all was confirmed."""
    deadline = time.monotonic() + patience
    results = [_confirmed(claim, check, verified, deadline) for claim, check in CLAIMS.items()]
    print(f"{sum(results)} of {len(results)} claims are confirmed.")
    _print_cost(verified)
    return all(results)


def _measured(client: Client, stack: Stack, records: int) -> Verified:
    app = deployed_stack(client, stack, _POLL_SECONDS)
    fields = {"suite": "rocksdb", "versions": ["newest"], "repetitions": 1, "records": records}
    run = app.runs.start({**fields, "note": "verify-aws"})
    print(f"Run {run.run_id} measures one trial.", flush=True)
    while app.runs.active(run):
        time.sleep(_POLL_SECONDS)
    plan, outcome = find_plan(app.bucket, run.run_id), find_outcome(app.bucket, run.run_id)
    trials = list(all_trials(app.bucket, run.run_id))
    if plan is None or outcome is None or not trials:
        status, cause = app.runs.status(run)
        raise DeploymentFailed(f"run {run.run_id} ended as {status} without a trial: {cause}")
    return Verified(client, app, run, plan, trials[0], outcome, update=None)


def _confirmed(claim: str, check: Check, verified: Verified, deadline: float) -> bool:
    """Check a claim, again and again until the deadline: logs and metrics arrive late."""
    while True:
        try:
            evidence = check(verified)
        except (NotSeen, ClientError) as error:
            if time.monotonic() < deadline:
                time.sleep(_POLL_SECONDS)
                continue
            print(f"not confirmed  {claim}: {error}", flush=True)
            return False
        print(f"confirmed      {claim}: {evidence}", flush=True)
        return True


def _print_cost(verified: Verified) -> None:
    cost, estimate = run_cost(verified.plan, [verified.trial]), verified.plan.estimate
    if cost and estimate:
        print(
            f"The trial cost {cost.total:.4f} USD for its tasks and log queries, and about "
            f"{estimate.services_usd:.4f} USD for the other services, at list prices."
        )


if __name__ == "__main__":
    sys.exit(main())
