"""Prices, estimates, budgets and quotas."""
