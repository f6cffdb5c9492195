"""What a writer is asked, and what its replies become. No Django here."""
