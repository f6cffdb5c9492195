"""Replications of single papers: each folder holds the page, command and numbers of one."""
