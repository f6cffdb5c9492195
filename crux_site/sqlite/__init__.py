"""SQLite backend: one writer at a time, and dry runs on a copy."""
