"""Reasons for which questions are filtered that programs read again. No Django here."""

REPEATS = "the words of question "  # and its number, from 1
