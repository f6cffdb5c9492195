"""Lucene itself, by Anserini's jar in a process of its own."""
