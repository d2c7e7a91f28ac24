"""The history of a metric over runs: changes of its level."""
