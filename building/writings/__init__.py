"""Pages of generation runs: forms, progress, drafts."""

from annotation.pages import Page

PAGE = Page("Generation run", help="building#writing", section="texts")
