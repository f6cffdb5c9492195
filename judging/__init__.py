"""Judging: models fill the rating matrix. Judges, runs, replies."""
