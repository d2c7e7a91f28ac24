"""``make conformance``: the saved queries give on this machine what Trino gives."""
