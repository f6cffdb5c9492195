"""The quality of a campaign's work: all raters, one of them, one item."""
