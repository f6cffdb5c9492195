"""API of results: retrieval runs, and the numbers of the agreement and retrieval pages."""
