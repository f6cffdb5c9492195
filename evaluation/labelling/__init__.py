"""What people should label next, and draws of it."""
