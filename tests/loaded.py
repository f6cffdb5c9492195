"""What processes that tests fork off find loaded: the site, and all that grades and writes."""

import django

django.setup()

from building import path, tasks  # noqa: E402, F401 - both need Django set up
from judging.management.commands import judge_worker  # noqa: E402, F401
