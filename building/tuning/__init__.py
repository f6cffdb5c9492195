"""Fine-tuning a small encoder-decoder: lines in, an adapter out. No database, no Django."""
