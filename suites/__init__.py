"""The systems under test: one YAML file each, their model, and what may be asked of them."""
