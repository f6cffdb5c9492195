"""Overview of how a collection was built."""

from annotation.pages import Page

PAGE = Page("Building", help="building#the-whole-pipeline-in-one-command")
