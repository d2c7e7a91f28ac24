"""Ingest and compaction of RocksDB, measured: the program that the suite's ECS tasks run."""
