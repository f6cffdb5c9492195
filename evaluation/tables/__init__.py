"""The tables and figures of the paper, for any dataset."""
