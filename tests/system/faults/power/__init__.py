"""Power failures: file operations are recorded, and replayed without what was not synced."""
