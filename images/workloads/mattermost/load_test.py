"""The files of mattermost-load-test-ng: what it connects to, and how its users behave."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

VERSION = "mattermost-load-test-ng 1.27.0"
PORT = 8065
ADMIN = {
    "email": "sysadmin@sample.mattermost.com",
    "username": "sysadmin",
    "password": "Sys@dmin-sample1",
}
"""The first user of a new server, who is its administrator."""
# The tool's documentation, "SimulController": its users do an action every 20 s on average.
SIMULATION = {
    "MinIdleTimeMs": 1000,
    "AvgIdleTimeMs": 20000,
    "PercentUrgentPosts": 0.001,
    "PercentReplies": 0.18,
}
# The sample of the tool's configuration: the rates of actions, and the channels of an instance.
_RATES = {1.0: 0.05, 2.0: 0.1, 3.0: 0.15, 6.0: 0.4, 30.0: 0.3}
_INSTANCE = {
    "NumReactions": 0,
    "NumAdmins": 0,
    "PercentReplies": 0.5,
    "PercentRepliesInLongThreads": 0.05,
    "PercentUrgentPosts": 0.001,
    "PercentPublicChannels": 0.2,
    "PercentPrivateChannels": 0.1,
    "PercentDirectChannels": 0.6,
    "PercentGroupChannels": 0.1,
}
_LOGS = {"EnableConsole": True, "ConsoleLevel": "ERROR", "EnableFile": False}


def configuration(variables: Mapping[str, str]) -> dict[str, Any]:
    """Return the configuration of the tool for the server and the parameters of a run."""
    address = f"{variables['TIDEMARK_SERVER']}:{PORT}"
    return {
        "ConnectionConfiguration": {
            "ServerURL": f"http://{address}",
            "WebSocketURL": f"ws://{address}",
            "AdminEmail": ADMIN["email"],
            "AdminPassword": ADMIN["password"],
        },
        "UserControllerConfiguration": {
            "Type": "simulative",
            "RatesDistribution": [
                {"Rate": rate, "Percentage": share} for rate, share in _RATES.items()
            ],
            "ServerVersion": "",
        },
        "InstanceConfiguration": {
            **_INSTANCE,
            **{
                f"Num{name.capitalize()}": int(variables[f"TIDEMARK_{name.upper()}"])
                for name in ("teams", "channels", "posts")
            },
        },
        "UsersConfiguration": {
            "InitialActiveUsers": 0,
            "UsersFilePath": "",
            "MaxActiveUsers": 2000,
            "AvgSessionsPerUser": 1,
            "PercentOfUsersAreAdmin": 0.0005,
        },
        "LogSettings": _LOGS,
    }
