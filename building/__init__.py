"""Building a collection: indexes, and retrieval runs that say how they were made."""
