"""Pages of the documentation, and a pattern of their lines of code."""

import re

from tests.toolbox.paths import ROOT

PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "bench/README.md"]
PAGES += [str(path.relative_to(ROOT)) for path in sorted(ROOT.glob("docs/**/*.md"))]


CODE_LINE = re.compile(r"^    .*\n", re.MULTILINE)
