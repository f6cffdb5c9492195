"""Lucene through Anserini's jar, run as a child process."""
