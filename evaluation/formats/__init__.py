"""Files of retrieval runs and of contexts: one module reads and writes one format."""
