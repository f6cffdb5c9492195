"""Linter of names, docstrings, page texts, docs and commit subjects against words.toml."""
