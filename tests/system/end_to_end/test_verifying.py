"""``make verify-aws``, with an empty cloud of this machine in the place of an account."""

import os
import re
import subprocess

import pytest

from tests.system.end_to_end.command_line import TIDEMARK, up
from tidemark.model.checkout import ROOT

PAGE = (ROOT / "docs" / "first-account.md").read_text(encoding="utf-8")
(COMMAND,) = re.findall(r"^\$ (.*)$", PAGE, re.MULTILINE)
PLACE = "123456789012/us-east-1"
# One machine has no layers, zones, images or logs of state machines, and changes no stack.
NOT_HERE = {
    "A deployment with other settings",
    "Powertools layer version 27",
    "`ecs:runTask.sync` gives `PullStartedAt`",
    "A state machine may log to a group",
}


@pytest.fixture(scope="module")
def account(tmp_path_factory):
    """Yield the environment variables that point programs to an empty cloud."""
    with up([TIDEMARK, "up", "--empty", "--state", tmp_path_factory.mktemp("account")]) as output:
        printed = dict(re.findall(r"^export (\w+)=(\S+)$", output, re.MULTILINE))
        without = {name: value for name, value in os.environ.items() if name[:4] != "AWS_"}
        yield {**without, **printed}


def verify(environment, *arguments):
    return subprocess.run(
        [*COMMAND.split(), "--no-print-directory", f"ARGS={' '.join(arguments)}"],
        cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True,
        check=False,
    )  # fmt: skip


@pytest.mark.systems
def test_nothing_is_made_without_the_name_of_the_account_and_region(account):
    for arguments in ((), ("--yes", "123456789012/eu-west-2")):
        done = verify(account, *arguments)

        # The lines before it set up the checkout, if that is due.
        assert done.stdout.splitlines()[-1] == (
            f"verify-aws: nothing was made; type {PLACE}, or give --yes {PLACE}, to agree"
        )
        assert "Error 2" in done.stderr


@pytest.mark.systems
def test_one_trial_confirms_what_one_machine_has_which_deletes_no_stack(account):
    arguments = ("-c images=*=none", "--records 2000", "--patience 20")

    done = verify(account, f"--yes {PLACE}", *arguments)

    missing = re.findall(r"^not confirmed  (.*?): ", done.stdout, re.MULTILINE)
    assert set(missing) == NOT_HERE, done.stdout + done.stderr
    assert len(re.findall(r"^confirmed ", done.stdout, re.MULTILINE)) == 13
    assert re.search(r"^The trial cost 0\.\d{4} USD for its tasks", done.stdout, re.MULTILINE)
    *_, deletion = done.stdout.splitlines()
    assert deletion.startswith("verify-aws: not everything is deleted: ")
    assert "DeleteStack is not supported on one machine" in deletion
    assert "Error 1" in done.stderr
