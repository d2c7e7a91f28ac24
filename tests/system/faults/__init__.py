"""Fault campaign: cause faults in the whole local pipeline."""
