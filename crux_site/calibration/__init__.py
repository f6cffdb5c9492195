"""Calibration: whether a judge's expected grades and probabilities are what people say."""
