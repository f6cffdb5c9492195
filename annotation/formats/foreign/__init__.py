"""Formats of other collections, by their names: which file of a folder is what, and how its lines become ours.

No Django here. Each module says for one file what is in it; the readers of our own files do the rest, so that
errors, dry runs, conflicts and summaries are one mechanism.
"""
