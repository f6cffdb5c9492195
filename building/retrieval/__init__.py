"""Indexes and rankings, from arrays and files alone. No Django here."""
