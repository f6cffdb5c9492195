"""Judges and their runs over the API."""
