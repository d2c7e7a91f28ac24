"""``make conformance``: compare the answers of the saved queries here with Trino's."""
