"""The pairs behind a number, in the order of how much their raters disagree."""
