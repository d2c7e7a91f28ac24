import pytest
from botocore.exceptions import ClientError

from onebox.cloud import cloud
from tidemark.model.parameters import MOST_TASKS
from tidemark.money.capacity import QUOTAS
from tidemark.one_machine.app import machine_app


@pytest.fixture
def service(server):
    replacements = cloud.add_quotas(machine_app().quotas)
    yield server.client("service-quotas")
    replacements.restore()


def test_one_machine_has_room_for_the_widest_run_of_the_largest_tasks(service):
    values = {
        quota.code: service.get_service_quota(ServiceCode=quota.service, QuotaCode=quota.code)[
            "Quota"
        ]["Value"]
        for quota in QUOTAS
    }

    assert values["L-3032A538"] == MOST_TASKS * 16
    assert values["L-DF5E4CA3"] > MOST_TASKS


def test_an_unknown_quota_is_an_error(service):
    with pytest.raises(ClientError, match="NoSuchResource"):
        service.get_service_quota(ServiceCode="fargate", QuotaCode="L-00000000")
