"""A private AWS in one process: moto's server with a plug-in for each thing that moto only mimics."""
