import os
import subprocess
import sys
import urllib.error
import urllib.request

import pytest

from local.account import ACCOUNT
from local.cloud.endpoint import Endpoint
from local.cloud.server import PortTaken, Server


def status(server, path="/", **headers):
    request = urllib.request.Request(f"http://127.0.0.1:{server.port}{path}", headers=headers)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


@pytest.fixture
def server():
    with Server(0) as server:
        yield server


def test_a_program_on_this_machine_is_answered(server):
    identity = Endpoint(server.port).client("sts").get_caller_identity()

    assert identity["Account"] == ACCOUNT


def test_the_users_aws_profile_is_not_for_this_cloud():
    told = {**os.environ, "AWS_PROFILE": "nope"}
    program = "from local.cloud.endpoint import Endpoint; Endpoint(1).client('s3')"

    assert subprocess.run([sys.executable, "-c", program], env=told, check=False).returncode == 0


def test_a_web_page_of_any_site_is_refused(server):
    assert status(server, Origin="https://example.org") == 403


def test_a_name_that_only_resolves_to_this_machine_is_refused(server):
    assert status(server, Host="example.org") == 403


def test_the_emulators_own_controls_are_closed(server):
    assert status(server, "/moto-api/data.json") == 403


def test_a_port_that_is_taken_is_named(server):
    with pytest.raises(PortTaken, match=rf"^--port: {server.port} cannot be used: "):
        Server(server.port)
