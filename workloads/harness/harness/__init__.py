"""What the programs of all suites share: one process that supervises, and one that measures."""
