"""Quality signals of one rater's work. Pure: arrays in, numbers out; no rater is rejected."""
