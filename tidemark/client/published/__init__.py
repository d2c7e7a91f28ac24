"""Readers of published figures: tables of releases, and Sleeper's reports of jobs."""
