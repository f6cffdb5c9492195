"""The format of log lines: a line says when, how bad, which process, where, and what."""

import copy
import logging

from django.db import InterfaceError, OperationalError

AWAY = (OperationalError, InterfaceError)  # the database's own trouble, and no mistake in the code


class Line(logging.Formatter):
    """A database that is away, locked or full is one line: the trace shows only who asked it first."""

    def __init__(self) -> None:
        super().__init__(
            "%(asctime)s %(levelname)s %(process)d %(name)s: %(message)s", "%Y-%m-%dT%H:%M:%S%z"
        )

    def format(self, record: logging.LogRecord) -> str:
        cause = record.exc_info[1] if record.exc_info else None
        if isinstance(cause, AWAY):
            record = copy.copy(record)
            record.msg = f"{record.getMessage()}: {in_a_line(cause)}"
            record.args = record.exc_info = record.exc_text = None
        return super().format(record)


def in_a_line(error: BaseException) -> str:
    """What an error says, without its line ends."""
    return " ".join(str(error).split()) or type(error).__name__
