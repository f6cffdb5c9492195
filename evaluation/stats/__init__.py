"""Statistics that know nothing of our tables: arrays in, an Estimate out. No Django."""
