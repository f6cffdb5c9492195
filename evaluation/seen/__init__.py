"""What systems put out, against all that is relevant and against the relevant that they had seen."""
