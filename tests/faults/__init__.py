"""The fault campaign: what goes wrong, brought about through the whole local pipeline."""
