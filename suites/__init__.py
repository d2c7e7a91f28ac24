"""The systems under test: one YAML file each, their model, and what may be asked of them."""

# Tidemark's own version, which the plan of a run names.
__version__ = "0.1.0"
