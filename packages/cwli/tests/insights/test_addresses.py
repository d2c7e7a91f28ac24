import ipaddress
import random

import pytest

from cwli.insights import run


@pytest.mark.parametrize(
    ("expression", "value"),
    [
        ("isValidIp('10.0.0.7')", "1"),
        ("isValidIp('fe80::1')", "1"),
        ("isValidIpV4('fe80::1')", "0"),
        ("isValidIpV6('10.0.0.7')", "0"),
        ("isIpInSubnet('10.1.2.3', '10.0.0.0/8')", "1"),
        ("isIpInSubnet('11.1.2.3', '10.0.0.0/8')", "0"),
        ("isIpInSubnet('fe80::1', 'fe80::/10')", "1"),
        ("isIpInSubnet('10.1.2.3', '::/0')", "0"),
        ("isIpInSubnet('10.1.2.3', '10.0.0.0/33')", "0"),
        ("isIpInSubnet('10.1.2.3', 'here')", "0"),
        ("isIpv4InSubnet('fe80::1', 'fe80::/10')", "0"),
        ("isIpv6InSubnet('fe80::1', 'fe80::/10')", "1"),
        ("isPrivateIP('172.31.0.1')", "1"),
        ("isPrivateIP('172.32.0.1')", "0"),
        ("isPrivateIP('fc00::1')", "0"),
        ("isReservedIP('127.0.0.1')", "1"),
        ("isReservedIP('fe80::1')", "1"),
        ("isReservedIP('10.0.0.1')", "0"),
        ("isReservedIP('8.8.8.8')", "0"),
        ("isPublicIP('8.8.8.8')", "1"),
        ("isPublicIP('2600::1')", "1"),
        ("isPublicIP('10.0.0.1')", "0"),
        ("isPublicIP('169.254.169.254')", "0"),
        ("isPublicIP('AWS Internal')", "0"),
        ("ipv4ToNumber('10.0.0.7')", "167772167"),
        ("ipv4ToNumber('fe80::1')", None),
    ],
)
def test_functions_of_addresses_return_the_documented_value(ask, expression, value):
    # AWS documentation, CloudWatch Logs Insights query syntax: IP address string functions.
    (row,) = ask(f"fields {expression} as x | display x", "line")
    assert row.get("x") == value


NEAR_MISSES = ["1::2::3", ":::", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9", "::1:2:3:4:5:6:7:8"]
NEAR_MISSES += ["12345::", "1.2.3.4.", "1.2.3", "256.1.1.1", "01.2.3.4", "", ":", "g::"]


def test_addresses_and_subnets_agree_with_python(source):
    generator = random.Random(7)
    texts = list(NEAR_MISSES)
    for _ in range(100):
        low = generator.randrange(2**32) << generator.choice([16, 64, 96])
        texts.append(str(ipaddress.IPv6Address(low)))
        texts.append(str(ipaddress.IPv4Address(generator.randrange(2**32))))
    network = ipaddress.ip_network("64.0.0.0/3")
    query = (
        "display isValidIp(@message) as ok, isIpInSubnet(@message, '64.0.0.0/3') as in "
        "| sort @timestamp"
    )
    result = run(query, source(*texts), 0, 1000)
    for text, row in zip(texts, result.rows, strict=True):
        cells = {cell["field"]: cell["value"] for cell in row}
        address = None if text in NEAR_MISSES else ipaddress.ip_address(text)
        assert cells["ok"] == str(int(address is not None)), text
        assert cells["in"] == str(int(address is not None and address in network)), text
