"""Annotation: people fill the rating matrix. Test collections, campaigns, task pages."""
