"""Generation tasks: prompts, and parsing of replies. No Django here."""
