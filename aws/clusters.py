"""Clusters of Amazon ECS."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from mypy_boto3_ecs import ECSClient


class EcsClusters:
    """The clusters of the account and region."""

    def __init__(self, client: ECSClient) -> None:
        self._client = client

    def left(self, name: str) -> int | None:
        """Return the running and pending tasks of a cluster; None without an active cluster."""
        found = self._client.describe_clusters(clusters=[name])["clusters"]
        # Amazon ECS API reference, DeleteCluster: a deleted cluster may remain as INACTIVE.
        active = [cluster for cluster in found if cluster["status"] == "ACTIVE"]
        counts = [each["runningTasksCount"] + each["pendingTasksCount"] for each in active]
        return counts[0] if counts else None
