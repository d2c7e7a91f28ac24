"""Athena on one machine: its SQL over the JSON lines of tables, run by DuckDB.

``api`` has the whole engine. ``execution`` runs what was translated before without the SQL parser,
which takes longer to import than most queries take.
"""
