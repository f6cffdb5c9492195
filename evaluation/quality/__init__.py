"""What a rater's own answers tell about the work: NumPy arrays in, small frozen dataclasses out.

Nothing here rejects anybody. A number is a reason to look, and gold items weigh.
"""
