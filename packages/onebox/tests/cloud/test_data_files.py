import pytest
from botocore.session import Session
from moto.utilities import utils

import onebox.cloud.data_files  # noqa: F401


def test_sessions_share_the_data_files_of_botocore():
    first, second = (Session().get_data("endpoints") for _ in range(2))
    assert first is second


def test_what_a_client_changes_in_the_model_of_its_service_is_its_own():
    Session().create_client("s3", "us-east-1", aws_access_key_id="k", aws_secret_access_key="s")

    listing = Session().get_service_data("s3")["operations"]["ListObjectsV2"]
    assert listing["http"]["requestUri"].startswith("/{Bucket}")


@pytest.mark.parametrize("kind", ["instance_types", "amis"])
def test_nothing_is_read_about_ec2(kind):
    assert utils.load_resource(f"ec2/resources/{kind}.json") == {}


def test_moto_reads_its_files_about_other_services():
    assert utils.load_resource("ssm/resources/regions.json")
