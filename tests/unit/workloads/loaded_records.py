"""Records that the tests of engines load, and their tally."""

from harness.engine import Tally, batches

RECORDS = 2500


def load(store):
    """Write the records into an open store of an engine, and return the store."""
    store.write([store.batch(records) for records in batches(1, 0, RECORDS)])
    return store


def expected():
    """Return the tally of the records in the order of their keys."""
    records = sorted(record for batch in batches(1, 0, RECORDS) for record in batch)
    return Tally.of(records)
