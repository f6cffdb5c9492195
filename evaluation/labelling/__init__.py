"""What people should label next, and samples of it."""
