"""Demo as the screenshots of the docs show it, and its log-in page."""

import pytest
from PIL import Image

from tests.browser.page_audit import faults
from tests.browser.pictures import FILMS, PICTURES, demo_site, still_name, take, take_film


@pytest.fixture(scope="module")
def demo(tmp_path_factory, prepared):
    with demo_site(tmp_path_factory.mktemp("demo"), prepared) as site:
        yield site


# The run at work needs two more processes, and has tests of its own in test_judge_run.
@pytest.mark.parametrize("name", sorted(set(PICTURES) - {"judge-run.png"}))
def test_picture_can_be_taken_anew(name, demo, chromium, tmp_path):
    assert take(name, chromium, demo, tmp_path) == []
    with Image.open(tmp_path / name) as image:
        assert image.width == PICTURES[name].width * PICTURES[name].scale
        assert image.height >= PICTURES[name].height * PICTURES[name].scale


@pytest.mark.parametrize("name", FILMS)
def test_moving_picture_shows_each_step_and_stays_small(name, demo, chromium, tmp_path):
    assert take_film(name, chromium, demo, tmp_path) == []
    with (
        Image.open(tmp_path / name) as film,
        Image.open(tmp_path / still_name(name)) as still_image,
    ):
        assert film.size == still_image.size == (FILMS[name].width, FILMS[name].height)
        assert film.n_frames == 6
    assert (tmp_path / name).stat().st_size < 700_000


def test_log_in_page_of_the_demo(demo, chromium):
    context = chromium.new_context()
    page = context.new_page()
    page.goto(f"{demo.url}/login/?next=/judges/")
    assert faults(page) == []
    page.get_by_role("button", name="researcher").click()
    page.wait_for_url(f"{demo.url}/judges/")
    context.close()
