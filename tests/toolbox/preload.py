"""Modules preloaded into the fork server: the site, judging and building."""

import django

django.setup()

from building import pipeline, tasks  # noqa: E402, F401 - both need Django set up
from judging.management.commands import judge_worker  # noqa: E402, F401
