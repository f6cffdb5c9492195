"""Agreement between raters and its uncertainty: NumPy arrays in, small frozen dataclasses out."""
