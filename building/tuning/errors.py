"""Exceptions of training and generation; messages are sentences for people."""

from annotation.errors import UserError


class TuningError(UserError):
    """Training or generation is impossible with these inputs, or on this machine."""


class InputTooLongError(UserError):
    """The input has more tokens than the model was trained to read."""
