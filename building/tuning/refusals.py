"""What training and writing raise: sentences for people."""


class TuningRefused(ValueError):
    """Nothing can be trained, or written, so or here."""


class TooLong(ValueError):
    """More tokens than a model was trained to read."""
