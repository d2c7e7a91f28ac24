"""Models of Tidemark's data: suites, requests, plans, results and outcomes."""
