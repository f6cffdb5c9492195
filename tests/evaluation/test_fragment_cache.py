"""Fragment caching by `{% cached_fragment %}`: by reader and URL, until the next write."""

import pytest
from django.template import Context, Template, TemplateSyntaxError
from django.test import RequestFactory

from annotation.models import Dataset, User
from tests.toolbox.factories import make_dataset
from tests.toolbox.idle_database import succeeds_between_writes

pytestmark = pytest.mark.django_db(transaction=True)

FRAGMENT = Template(
    "{% load fragment_cache %}{% cached_fragment %}<ul>\n    <li>{{ body }}\n    </ul>{% endcached_fragment %}"
)


def render_fragment(reader, address="/", content="once"):
    request = RequestFactory().get(address)
    request.user = reader
    return FRAGMENT.render(Context({"request": request, "body": content}))


@pytest.fixture
def ann(cast):
    return cast.researcher


def test_fragment_is_rendered_without_indentation(ann):
    assert render_fragment(ann) == "<ul>\n<li>once\n</ul>"


def test_fragment_is_cached_until_a_write(ann):
    make_dataset()

    def is_cached():
        return "once" in render_fragment(ann, "/page/") and "once" in render_fragment(
            ann, "/page/", "twice"
        )

    assert succeeds_between_writes(is_cached)
    Dataset.objects.update(title="Another")
    assert "twice" in render_fragment(ann, "/page/", "twice")


def test_fragments_are_by_reader_and_address(ann, cast):
    assert "once" in render_fragment(ann, "/a/")
    assert "twice" in render_fragment(ann, "/a/?eta=4", "twice")
    assert "sorted" in render_fragment(ann, "/a/?sort=pairs:-kappa", "sorted")
    assert "twice" in render_fragment(cast.admin, "/a/", "twice")
    reloaded = User.objects.get(pk=ann.pk)
    assert succeeds_between_writes(
        lambda: "once" in render_fragment(reloaded, "/a/") and "once" in render_fragment(ann, "/a/")
    )


def test_posted_form_in_a_fragment_is_refused():
    with pytest.raises(TemplateSyntaxError, match="token is of one log-in"):
        Template(
            "{% load fragment_cache %}"
            "{% cached_fragment %}<form>{% csrf_token %}</form>{% endcached_fragment %}"
        )
