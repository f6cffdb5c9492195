"""Nuggets: what reports support of them, and the order of systems beside that by coverage."""
