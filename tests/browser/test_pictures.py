"""The demo as the pictures of the docs show it, and its log-in page."""

import pytest
from PIL import Image

from tests.browser.looks import faults
from tests.browser.pictures import PICTURES, demo_site, take


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    with demo_site(tmp_path_factory.mktemp("demo")) as site:
        yield site


# The run at work needs two more processes, and has tests of its own in test_judge_run.
@pytest.mark.parametrize("name", sorted(set(PICTURES) - {"judge-run.png"}))
def test_a_picture_can_be_taken_anew(name, demo, chromium, tmp_path):
    assert take(name, chromium, demo, tmp_path) == []
    with Image.open(tmp_path / name) as image:
        assert image.width == PICTURES[name].width * PICTURES[name].scale
        assert image.height >= PICTURES[name].height * PICTURES[name].scale


def test_the_log_in_page_of_the_demo(demo, chromium):
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"{demo.url}/login/?next=/judges/")
    assert faults(page) == []
    page.get_by_role("button", name="researcher").click()
    page.wait_for_url(f"{demo.url}/judges/")
    context.close()
