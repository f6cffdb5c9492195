"""Texts to terms, and lengths, exactly as Lucene has them. No Django here."""
