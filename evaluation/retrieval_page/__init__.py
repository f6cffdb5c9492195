"""What the pages about retrieval show."""
