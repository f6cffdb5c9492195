"""Log format: time, level, process, logger and message on one line."""

import copy
import logging

from django.db import InterfaceError, OperationalError

AWAY = (OperationalError, InterfaceError)  # the database's own trouble, and no mistake in the code


class OneLineFormatter(logging.Formatter):
    """Log formatter; a database error (unavailable, locked, full) is one line, no traceback.

    The traceback would show only which query met the error first.

    The traceback would show only which query met the error first.
    """

    def __init__(self) -> None:
        super().__init__(
            "%(asctime)s %(levelname)s %(process)d %(name)s: %(message)s", "%Y-%m-%dT%H:%M:%S%z"
        )

    def format(self, record: logging.LogRecord) -> str:
        cause = record.exc_info[1] if record.exc_info else None
        if isinstance(cause, AWAY):
            record = copy.copy(record)
            record.msg = f"{record.getMessage()}: {one_line(cause)}"
            record.args = record.exc_info = record.exc_text = None
        return super().format(record)


def one_line(error: BaseException) -> str:
    """Return the message of an error without line breaks."""
    return " ".join(str(error).split()) or type(error).__name__
