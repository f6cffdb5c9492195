"""What one rater's work looks like. Pure: arrays in, numbers out; nobody is rejected here."""
