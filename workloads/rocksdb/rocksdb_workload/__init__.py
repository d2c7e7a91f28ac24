"""The program of the suite's ECS tasks, which measures ingest and compaction of RocksDB."""
