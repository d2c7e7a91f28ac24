import os
import socket
import subprocess
import sys
import urllib.error
import urllib.request
from contextlib import ExitStack, closing
from datetime import UTC, datetime, timedelta
from http.client import HTTPConnection

import boto3
import pytest
from botocore.auth import S3SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from botocore.exceptions import ClientError

from onebox.app import ACCOUNT, REGION
from onebox.cloud.endpoint import Endpoint
from onebox.cloud.server import PortTaken, Server

ROLE = f"arn:aws:iam::{ACCOUNT}:role/reader"


@pytest.fixture(scope="module")
def server():
    with Server(0) as server:
        yield server


def status(server, path="/", **headers):
    request = urllib.request.Request(server.endpoint.url + path, headers=headers)
    try:
        with urllib.request.urlopen(request) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        with error:
            return error.code


def keywords(endpoint):
    """Return the arguments that lead a client of its own to the endpoint."""
    variables = endpoint.environment()
    return {
        "endpoint_url": variables["AWS_ENDPOINT_URL"],
        "aws_access_key_id": variables["AWS_ACCESS_KEY_ID"],
        "aws_secret_access_key": variables["AWS_SECRET_ACCESS_KEY"],
    }


def refusal(call, **arguments):
    with pytest.raises(ClientError) as error:
        call(**arguments)
    answer = error.value.response
    return answer["ResponseMetadata"]["HTTPStatusCode"], answer["Error"]["Code"]


def silent_connection(server):
    return socket.create_connection(("127.0.0.1", server.endpoint.port), timeout=60)


def test_silent_connections_of_strangers_leave_room_for_programs_of_the_cloud(server, monkeypatch):
    monkeypatch.setattr(server._server, "_most_strangers", 4)
    with ExitStack() as opened:
        first, *_ = [opened.enter_context(silent_connection(server)) for _ in range(5)]

        assert server.endpoint.client("sts").get_caller_identity()["Account"] == ACCOUNT
        assert first.recv(1) == b""


def test_a_trusted_connection_outlives_those_of_strangers(server, monkeypatch):
    monkeypatch.setattr(server._server, "_most_strangers", 4)
    own = boto3.client("sts", region_name=REGION, **keywords(server.endpoint))
    own.get_caller_identity()
    with ExitStack() as opened:
        for _ in range(20):
            opened.enter_context(silent_connection(server))
        assert own.get_caller_identity()["Account"] == ACCOUNT


def test_bad_requests_of_strangers_write_nothing_into_the_terminal(server, capfd):
    for request in (b"\x00\xff\r\n\r\n", b"GET / HTTP/9\r\n\r\n", b"GET " + b"a" * 70_000):
        with silent_connection(server) as stranger:
            stranger.sendall(request)
            stranger.shutdown(socket.SHUT_WR)
            while stranger.recv(4096):
                pass

    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize("role", ["", ROLE])
def test_a_program_with_a_key_of_the_cloud_is_answered(server, role):
    identity = server.endpoint.client("sts", role=role).get_caller_identity()

    assert identity["Account"] == ACCOUNT


def test_an_object_with_any_key_and_metadata_is_stored_and_read(server):
    s3 = server.endpoint.client("s3")
    s3.create_bucket(Bucket="results")
    name, metadata = "a b/ü+%2F?#'(1)//c", {"my_key": "a  b", "other-key": "c"}
    s3.put_object(Bucket="results", Key=name, Body=b"1", Metadata=metadata)

    assert s3.get_object(Bucket="results", Key=name)["Metadata"] == metadata
    (found,) = s3.list_objects_v2(Bucket="results", Prefix="a b/ü+")["Contents"]
    assert found["Key"] == name


def signed_head(endpoint, method, path, headers):
    """Return the head of a signed S3 request, as a client sends it."""
    variables = endpoint.environment()
    keys = (variables["AWS_ACCESS_KEY_ID"], variables["AWS_SECRET_ACCESS_KEY"])
    request = AWSRequest(method=method, url=endpoint.url + path, headers=headers)
    S3SigV4Auth(Credentials(*keys), "s3", REGION).add_auth(request)
    fields = {"Host": f"127.0.0.1:{endpoint.port}", **request.headers}
    lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {text}" for name, text in fields.items())]
    return "\r\n".join([*lines, "", ""]).encode()


def test_an_upload_that_asks_whether_to_continue_is_told_so_once(server):
    endpoint = server.endpoint
    endpoint.client("s3").create_bucket(Bucket="uploads")
    headers = {"Expect": "100-continue", "Content-Length": "4"}
    with (
        socket.create_connection(("127.0.0.1", endpoint.port), timeout=60) as connection,
        connection.makefile("rb") as answer,
    ):
        connection.sendall(signed_head(endpoint, "PUT", "/uploads/a", headers))
        assert [answer.readline(), answer.readline()] == [b"HTTP/1.1 100 Continue\r\n", b"\r\n"]
        connection.sendall(b"body")
        assert answer.readline().startswith(b"HTTP/1.1 200 ")
    # The Java SDK's asynchronous client takes a second 100 for the answer to its upload.
    assert endpoint.client("s3").get_object(Bucket="uploads", Key="a")["Body"].read() == b"body"


@pytest.mark.parametrize(
    ("service", "call"),
    [
        ("cloudformation", "list_stacks"),
        ("ecs", "list_clusters"),
        ("lambda", "list_functions"),
        ("s3", "list_buckets"),
    ],
)
def test_a_key_of_another_cloud_is_refused(server, service, call):
    stranger = Endpoint(server.endpoint.port, "another key")

    assert refusal(getattr(stranger.client(service), call)) == (403, "SignatureDoesNotMatch")


@pytest.mark.parametrize("length", [str(1 << 40), "-1", "many"])
def test_a_stranger_cannot_fill_the_memory_with_a_body(server, length):
    signature = f"AWS4-HMAC-SHA256 Credential=A/20261120/{REGION}/ecs/aws4_request, "
    signature += f"SignedHeaders=host, Signature={'0' * 64}"
    connection = HTTPConnection("127.0.0.1", server.endpoint.port, timeout=60)
    connection.putrequest("POST", "/")
    for name, value in {"Authorization": signature, "Content-Length": length}.items():
        connection.putheader(name, value)
    connection.endheaders()

    with closing(connection), connection.getresponse() as answer:
        assert (answer.status, answer.headers["x-amzn-ErrorType"]) == (
            403,
            "RequestEntityTooLargeException",
        )


def test_the_secret_of_one_role_signs_for_no_other(server, monkeypatch):
    secret = server.endpoint.environment(ROLE)["AWS_SECRET_ACCESS_KEY"]
    monkeypatch.setattr("onebox.cloud.endpoint.secret_access_key", lambda *_: secret)

    assert refusal(server.endpoint.client("sts").get_caller_identity) == (
        403,
        "SignatureDoesNotMatch",
    )


def test_the_answer_of_assume_role_has_a_key_that_is_accepted(server):
    sts = server.endpoint.client("sts")
    keys = sts.assume_role(RoleArn=ROLE, RoleSessionName="cdk")["Credentials"]
    client = boto3.client(
        "s3",
        endpoint_url=server.endpoint.url,
        region_name=REGION,
        aws_access_key_id=keys["AccessKeyId"],
        aws_secret_access_key=keys["SecretAccessKey"],
        aws_session_token=keys["SessionToken"],
    )

    assert "Buckets" in client.list_buckets()


@pytest.mark.parametrize(
    ("service", "call", "change"),
    [
        ("s3", "list_buckets", {"url": "/results"}),
        ("s3", "list_buckets", {"method": "PUT"}),
        ("ecs", "list_clusters", {"body": b'{"maxResults": 1}'}),
        ("iam", "list_roles", {"body": b"Action=ListUsers&Version=2010-05-08"}),
    ],
)
def test_a_signature_is_good_for_its_own_request_alone(server, service, call, change):
    client = boto3.client(service, region_name=REGION, **keywords(server.endpoint))

    def alter(request, **_):
        for name, value in change.items():
            setattr(request, name, request.url.rstrip("/") + value if name == "url" else value)

    assert getattr(client, call)()
    client.meta.events.register("before-send", alter)
    assert refusal(getattr(client, call)) == (403, "SignatureDoesNotMatch")


def sign_at(monkeypatch, minutes):
    """Let clients sign as if they did so ``minutes`` from now."""
    monkeypatch.setattr(
        "botocore.auth.get_current_datetime",
        lambda **_: datetime.now(UTC).replace(tzinfo=None) + timedelta(minutes=minutes),
    )


@pytest.mark.parametrize("minutes", [-16, 16])
@pytest.mark.parametrize(
    ("service", "call", "code"),
    [
        ("s3", "list_buckets", "RequestTimeTooSkewed"),
        ("ecs", "list_clusters", "SignatureDoesNotMatch"),
        ("iam", "list_roles", "SignatureDoesNotMatch"),
    ],
)
def test_a_signature_of_another_quarter_of_an_hour_is_refused(
    server, monkeypatch, minutes, service, call, code
):
    sign_at(monkeypatch, minutes)

    assert refusal(getattr(server.endpoint.client(service), call)) == (403, code)


def test_a_signature_of_a_clock_that_is_somewhat_off_is_accepted(server, monkeypatch):
    sign_at(monkeypatch, -14)

    assert "Buckets" in server.endpoint.client("s3").list_buckets()


@pytest.mark.parametrize("path", ["/", "/moto-api/data.json", "/results/runs/a?list-type=2"])
def test_a_request_without_a_signature_is_refused(server, path):
    assert status(server, path) == 403


def test_a_web_page_of_any_site_is_refused(server):
    assert status(server, Origin="https://example.org") == 403


@pytest.mark.parametrize(
    ("host", "expected"),
    [
        ("127.0.0.1:{port}", 200),
        ("127.0.0.1:1", 403),
        ("127.0.0.1", 403),
        ("localhost:{port}", 403),
        ("example.org:{port}", 403),
    ],
)
def test_a_request_for_another_host_is_refused_even_if_it_is_signed(server, host, expected):
    host = host.format(port=server.endpoint.port)
    request = AWSRequest("GET", f"http://{host}/", headers={"Host": host})
    keys = Credentials(*server.endpoint.access_key("").values())
    S3SigV4Auth(keys, "s3", REGION).add_auth(request)

    assert status(server, **dict(request.headers)) == expected


def test_the_endpoint_does_not_show_its_key(server):
    assert server.endpoint.key not in repr(server.endpoint)


def test_the_aws_profile_of_the_user_is_ignored():
    environment = {**os.environ, "AWS_PROFILE": "nope"}
    program = "from onebox.cloud.endpoint import Endpoint; Endpoint(1, 'key').client('s3')"

    assert (
        subprocess.run([sys.executable, "-c", program], env=environment, check=False).returncode
        == 0
    )


def test_the_error_of_a_taken_port_names_it(server):
    port = server.endpoint.port
    with pytest.raises(PortTaken, match=rf"^--port: {port} cannot be used: "):
        Server(port)
