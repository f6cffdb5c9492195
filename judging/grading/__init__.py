"""Grading of one pair: prompt, parsing of the reply, probabilities of grades. No Django."""
