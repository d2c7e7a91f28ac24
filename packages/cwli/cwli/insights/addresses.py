"""SQL for IP addresses: an address is a text of bits, a subnet is a prefix of such texts.

Source: AWS documentation, CloudWatch Logs Insights query syntax: IP address string functions.
IPv6 addresses that end in an IPv4 address are not supported.
"""

from __future__ import annotations

from collections.abc import Iterable
from ipaddress import ip_network

from cwli.insights.values import quoted

_OCTET = "(?:25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])"
_V4 = quoted(rf"^{_OCTET}(?:\.{_OCTET}){{3}}$")
_GROUPS = "[0-9a-fA-F]{1,4}(?::[0-9a-fA-F]{1,4}){0,6}"
_V6 = quoted(rf"^(?:[0-9a-fA-F]{{1,4}}:){{7}}[0-9a-fA-F]{{1,4}}$|^(?:{_GROUPS})?::(?:{_GROUPS})?$")
_GROUP = "'[0-9a-fA-F]+'"
# RFC 1918, as AWS documents.
PRIVATE = ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16")
# AWS does not document these: the addresses that IANA's registries of special-purpose addresses
# (RFC 6890) keep from the public network, and multicast (RFC 5771, RFC 4291).
RESERVED = (
    *("0.0.0.0/8", "100.64.0.0/10", "127.0.0.0/8", "169.254.0.0/16", "192.0.0.0/24"),
    *("192.0.2.0/24", "198.18.0.0/15", "198.51.100.0/24", "203.0.113.0/24"),
    *("224.0.0.0/4", "240.0.0.0/4"),
    *("::/128", "::1/128", "64:ff9b:1::/48", "100::/64", "2001:db8::/32"),
    *("fc00::/7", "fe80::/10", "ff00::/8"),
)


def v4_bits(address: object) -> str:
    """Return SQL for the 32 bits of an IPv4 address as text, null for anything else."""
    octets = f"list_transform(string_split({address}, '.'), lambda p: {_bits('p', 8)})"
    return f"CASE WHEN regexp_matches({address}, {_V4}) THEN array_to_string({octets}, '') END"


def v6_bits(address: object) -> str:
    """Return SQL for the 128 bits of an IPv6 address as text, null for anything else."""
    group_count = f"len(regexp_extract_all({address}, {_GROUP}))"
    # The text :: stands for groups of zeros.
    full = f"replace({address}, '::', ':' || repeat('0:', 8 - {group_count}))"
    hexes = f"regexp_extract_all({full}, {_GROUP})"
    groups = f"list_transform({hexes}, lambda g: {_bits(chr(39) + '0x' + chr(39) + ' || g', 16)})"
    room = f"({group_count} < 8 OR NOT contains({address}, '::'))"
    valid = f"regexp_matches({address}, {_V6}) AND {room}"
    return f"CASE WHEN {valid} THEN array_to_string({groups}, '') END"


def bits(address: object) -> str:
    """Return SQL for the bits of an IPv4 or IPv6 address as text, null for anything else."""
    return f"coalesce({v4_bits(address)}, {v6_bits(address)})"


def marked_bits(address: object) -> str:
    """Return SQL for the version and the bits of an address as text, null for anything else."""
    return f"coalesce('4' || {v4_bits(address)}, '6' || {v6_bits(address)})"


def network_bits(network: str) -> str:
    """Return SQL for the prefix that the marked bits of all addresses in a subnet share.

    A single address is a subnet of one. A text that is neither address nor subnet gives null.
    """
    address = marked_bits(f"split_part({network}, '/', 1)")
    size = f"TRY_CAST(split_part({network}, '/', 2) AS UTINYINT)"
    prefix = f"CASE WHEN {size} < length({address}) THEN left({address}, 1 + {size}) END"
    return f"CASE WHEN contains({network}, '/') THEN {prefix} ELSE {address} END"


def inside(address_bits: str, subnet: object) -> str:
    """Return SQL that tells whether the address of these bits is in a subnet (10.0.0.0/8)."""
    network = bits(f"split_part({subnet}, '/', 1)")
    size = f"TRY_CAST(split_part({subnet}, '/', 2) AS UTINYINT)"
    # Addresses of the same version have bits of the same length.
    return (
        f"length({address_bits}) = length({network}) AND {size} <= length({network}) "
        f"AND left({address_bits}, {size}) = left({network}, {size})"
    )


def within(address: object, subnets: Iterable[str]) -> str:
    """Return SQL that tells whether an address is in one of these subnets, null if invalid."""
    networks = map(ip_network, subnets)
    prefixes = "|".join(
        f"{int(network[0]):0{network.max_prefixlen}b}"[: network.prefixlen]
        + f".{{{network.max_prefixlen - network.prefixlen}}}"
        for network in networks
    )
    return f"regexp_matches({bits(address)}, {quoted(f'^(?:{prefixes})$')})"


def v4_number(address: object) -> str:
    """Return SQL for an IPv4 address as a number, null for anything else."""
    places = zip(range(1, 5), (16777216, 65536, 256, 1), strict=True)
    terms = (f"TRY_CAST(split_part({address}, '.', {n}) AS DOUBLE) * {size}" for n, size in places)
    return f"CASE WHEN regexp_matches({address}, {_V4}) THEN {' + '.join(terms)} END"


def _bits(number: str, width: int) -> str:
    return f"lpad(bin(TRY_CAST({number} AS BIGINT)), {width}, '0')"
