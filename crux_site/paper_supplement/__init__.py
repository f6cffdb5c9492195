"""Supplement of a paper: tables of agreement, judges and tests, and a methods section."""
