"""Parts that all suites share: one process that supervises, and one that measures."""
