"""Home of a researcher: work to review, running and finished work, and the datasets."""

from annotation.pages import Page

PAGE = Page("Home", help="researchers#home")
