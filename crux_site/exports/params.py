"""What whoever publishes a dataset says of it: its address may carry it, and no table holds it."""

from django import forms

from crux_site.exports.publication import Stated
from evaluation.data.query import QueryForm

MOST = 200


class StatedForm(QueryForm):
    licence = forms.CharField(
        required=False,
        max_length=MOST,
        error_messages={
            "max_length": f"A licence has {MOST} characters at most: name it, or its address."
        },
    )
    creator = forms.CharField(
        required=False,
        max_length=MOST,
        error_messages={"max_length": f"Who made the dataset has {MOST} characters at most."},
    )

    def stated(self, url: str) -> Stated:
        """Raises SelectionError with the first thing that is wrong."""
        return Stated(**self.asked(), url=url)
