"""File formats of datasets: one module reads and writes one format."""
