"""Quality signals of one rater's work. Pure: arrays in, numbers out; nothing is decided."""
