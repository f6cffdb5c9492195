"""Generation runs: planning, filling, review decisions, filtering, citation support."""
