"""The golden cases: inputs with results that were made apart from this code, and our answers to them."""
