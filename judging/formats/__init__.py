"""File formats of judging: one module reads and writes one format."""
