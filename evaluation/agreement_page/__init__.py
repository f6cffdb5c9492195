"""What the agreement page shows, and its command: everything between the matrix and the template."""
