"""Metrics of retrieval contexts and reports, computed from matrices of graded ratings."""
