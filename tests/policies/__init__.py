"""Least privilege, proved: what the roles are granted against every call that they made."""
