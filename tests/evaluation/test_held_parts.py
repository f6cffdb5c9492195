"""`{% held %}`: long parts of pages, set once for a reader and an address while nothing is written."""

import pytest
from django.template import Context, Template, TemplateSyntaxError
from django.test import RequestFactory

from annotation.models import Dataset, User
from tests.factories import make_dataset
from tests.quiet import in_a_quiet_moment

pytestmark = pytest.mark.django_db(transaction=True)

PART = Template("{% load held %}{% held %}<ul>\n    <li>{{ say }}\n    </ul>{% endheld %}")


def shown(reader, address="/", say="once"):
    request = RequestFactory().get(address)
    request.user = reader
    return PART.render(Context({"request": request, "say": say}))


@pytest.fixture
def ann(cast):
    return cast.researcher


def test_a_part_is_set_without_its_indentation(ann):
    assert shown(ann) == "<ul>\n<li>once\n</ul>"


def test_it_is_set_once_until_something_is_written(ann):
    make_dataset()

    def is_held():
        return "once" in shown(ann, "/held/") and "once" in shown(ann, "/held/", "twice")

    assert in_a_quiet_moment(is_held)
    Dataset.objects.update(title="Another")
    assert "twice" in shown(ann, "/held/", "twice")


def test_every_reader_and_every_address_has_its_own(ann, cast):
    assert "once" in shown(ann, "/a/")
    assert "twice" in shown(ann, "/a/?eta=4", "twice")
    assert "twice" in shown(cast.admin, "/a/", "twice")
    again = User.objects.get(pk=ann.pk)
    assert in_a_quiet_moment(lambda: "once" in shown(again, "/a/") and "once" in shown(ann, "/a/"))


def test_a_form_that_is_posted_is_refused():
    with pytest.raises(TemplateSyntaxError, match="token is of one log-in"):
        Template("{% load held %}{% held %}<form>{% csrf_token %}</form>{% endheld %}")
