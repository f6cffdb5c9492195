"""Judge runs: planning, filling, storing, budgets and progress."""
