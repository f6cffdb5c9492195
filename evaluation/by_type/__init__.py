"""Recall by the type of the question, over the weight of a lexical run beside a dense one."""
