"""The judges of a dataset ranked by their agreement with people on the same pairs."""
