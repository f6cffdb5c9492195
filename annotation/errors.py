"""Errors for people, handled once for commands, the API and pages."""


class UserError(Exception):
    """An error that a person can act on; its text is a sentence and is shown as it is.

    Commands end with the text (`annotation.management.base`), the API reports it as its error
    (`annotation.api.errors`), and a page that does not handle it becomes an error page with the text
    (`crux_site.middleware`).
    """

    status: int = 400
    """HTTP status of the response, where a view does not choose another."""
