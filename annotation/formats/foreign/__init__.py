"""Import formats of other collections, by name: their files, and conversion to our rows.

No Django here. Each module recognises the sources in a file; the readers of our own files do the
rest, so that errors, dry runs, conflicts and summaries are one mechanism.
"""
