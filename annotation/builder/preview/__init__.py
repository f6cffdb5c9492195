"""Preview of a draft campaign: its task pages, without storing an answer."""
