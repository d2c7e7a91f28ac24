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


def test_the_aws_profile_of_the_user_is_ignored():
    environment = {**os.environ, "AWS_PROFILE": "nope"}
    program = "from local.cloud.endpoint import Endpoint; Endpoint(1).client('s3')"

    assert (
        subprocess.run([sys.executable, "-c", program], env=environment, check=False).returncode
        == 0
    )


def test_a_web_page_of_any_site_is_refused(server):
    assert status(server, Origin="https://example.org") == 403


def test_a_name_that_only_resolves_to_this_machine_is_refused(server):
    assert status(server, Host="example.org") == 403


def test_the_controls_of_moto_are_closed(server):
    assert status(server, "/moto-api/data.json") == 403


def test_the_error_of_a_taken_port_names_it(server):
    with pytest.raises(PortTaken, match=rf"^--port: {server.port} cannot be used: "):
        Server(server.port)
