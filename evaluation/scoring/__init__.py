"""Scores of all runs, systems and references under one source of grades."""
