"""What `looks` leaves out in the narrowest window is what another view has said."""

import re

from tests.browser.looks import WIDTHS
from tests.browser.site import ROOT

REM = 16  # pixels


def test_no_rule_of_the_stylesheet_lies_between_the_two_narrowest_windows():
    styles = "\n".join(path.read_text() for path in (ROOT / "static" / "css").glob("*.css"))
    limits = re.findall(r"@media[^{]*?width: ([\d.]+)(\w+)", styles)
    assert {unit for _, unit in limits} == {"rem"}
    narrowest, next_one, *_ = sorted(WIDTHS)
    assert not [limit for limit, _ in limits if narrowest <= REM * float(limit) <= next_one]
    assert "@container" not in styles
