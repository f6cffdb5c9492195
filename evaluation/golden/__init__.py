"""Golden cases: inputs with independently computed results, and our answers to them."""
