"""What the rating matrix of a topic shows."""
