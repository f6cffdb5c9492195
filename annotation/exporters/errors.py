"""What an export cannot do."""


class ExportError(ValueError):
    """A dataset that a format cannot hold, or a place that cannot be written to."""
