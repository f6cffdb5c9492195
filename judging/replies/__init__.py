"""Page of one pair: all replies of a judge about it."""

from annotation.pages import Page

PAGE = Page("Replies", help="judging#what-a-reply-becomes", section="judges")
