"""The retrieval room: systems and what they score, against each other and under other grades."""
