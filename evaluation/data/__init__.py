"""Queries that load rows of the database into arrays."""
