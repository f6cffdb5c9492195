"""Page for the exclusion of questions by a judge's grades."""

from annotation.pages import Page

PAGE = Page(
    "Questions that no passage answers",
    help="building#questions-that-no-passage-answers",
    section="texts",
)
