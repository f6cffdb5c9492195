"""Graders: pairs in, replies out. Chat models, and the lexical baseline. No Django."""
