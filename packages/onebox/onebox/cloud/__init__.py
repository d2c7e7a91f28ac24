"""A private AWS in one process: moto's server, and a plug-in for each service it only mimics."""
