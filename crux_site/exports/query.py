"""Query of a publication: license and creator, which no table stores."""

from django import forms

from crux_site.exports.publication import PublicationMetadata
from evaluation.data.query import PageQuery, parameter

MAX_LENGTH = 200


def _text(message: str) -> forms.Field:
    return forms.CharField(
        required=False, max_length=MAX_LENGTH, error_messages={"max_length": message}
    )


class PublicationQuery(PageQuery):
    licence: str = parameter(
        _text(f"A licence has {MAX_LENGTH} characters at most: name it, or its address.")
    )
    creator: str = parameter(_text(f"Who made the dataset has {MAX_LENGTH} characters at most."))

    def metadata(self, url: str) -> PublicationMetadata:
        """Return the metadata; raise SelectionError with the first error."""
        return PublicationMetadata(**self.values, url=url)
