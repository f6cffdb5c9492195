"""Which texts people should label next, and what an estimate from such a draw is: NumPy, no Django."""
