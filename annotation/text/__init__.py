"""Texts: evidence spans, rendering, and versions of a text."""
