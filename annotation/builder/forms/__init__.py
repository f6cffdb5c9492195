"""Forms of a campaign draft, one for each step of the builder."""
