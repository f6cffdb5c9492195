"""Judging on machines without the database: pairs out, replies in."""
