"""Proof of least privilege: the grants of the roles against their recorded calls."""
