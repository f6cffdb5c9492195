"""Evaluation: researchers read the rating matrix. Statistics, metrics, result pages."""
