"""A UserError becomes a message: of a command, of the API, of a page."""

import ast
import builtins

import pytest
from django.conf import settings
from django.core.management import CommandError, call_command

from annotation.errors import UserError
from annotation.management.base import SiteCommand
from annotation.participation.urls import urlpatterns
from judging.execution.states import RunStateError

ROOT = settings.BASE_DIR
BY_SCRIPT = {"HTTP_X_REQUESTED_WITH": "fetch"}
SENTENCE = "There is no shelf “b”. There are: a, c & d."

# Exceptions that no person reads as they are, and why.
INTERNAL = {
    "BundleError": "collecting the static files stops, and names the module and its line",
    "_LineError": "its message becomes a problem of the import, with file and line",
    "InvalidFileError": "its message becomes a problem of the import, with file and line",
    "SpanError": "its message is a clause, which becomes part of a sentence or a problem of the import",
    "MissingQuestionError": "its message is a clause: why a text is left out of a sample",
    "PartError": "its message is a clause: why a table of the paper is left out",
    "NotInFieldsError": "its message is a clause, which becomes part of a note",
    "UnscoredReplyError": "its message is a clause, which becomes part of a StepError",
    "LineError": "its message is a clause without a subject",
    "GoldenFileError": "its message is a clause; the command adds the file",
    "UnfinishedError": "the page lists the questions that are left, and there is no message",
    "ChangedDraftError": "the page shows the present draft, and there is no message",
    "_PartialImportError": "the import is repeated without the rows that it names",
    "RubricConflictError": "the page shows what has changed, and there is no message",
    "DuplicateKeyError": "a reply has two grades, which is one of its failures",
    "ForbiddenAddressError": "raised within aiohttp, which expects an OSError",
    "NoAnswerError": "a request is tried again",
    "ImmutableError": "an error of programming",
}


class _Failing(SiteCommand):
    def handle(self, *args, **options):
        raise UserError(SENTENCE)


class _MissingFile(SiteCommand):
    expected_errors = (OSError,)

    def handle(self, *args, **options):
        raise FileNotFoundError(2, "No such file", "plan.toml")


def test_user_error_of_a_command_is_its_message():
    with pytest.raises(CommandError) as error:
        call_command(_Failing())
    assert str(error.value) == SENTENCE
    assert error.value.returncode == 1


def test_expected_error_of_a_command_is_its_message():
    with pytest.raises(CommandError, match=r"No such file: 'plan\.toml'"):
        call_command(_MissingFile())


def raising(error):
    def raise_error(*args, **kwargs):
        raise error

    return raise_error


@pytest.mark.django_db
def test_user_error_in_the_api_has_its_text_and_status(cast, monkeypatch):
    client = cast.client("admin")
    for error, status in ((UserError(SENTENCE), 400), (RunStateError(SENTENCE), 409)):
        monkeypatch.setattr("judging.api.views.Judges.get_queryset", raising(error))
        answer = client.get("/api/v1/judges/")
        assert answer.status_code == status
        problem = {"index": None, "field": "", "message": SENTENCE}
        assert answer.json() == {"detail": SENTENCE, "errors": [problem]}


@pytest.mark.django_db
def test_user_error_that_no_view_handles_becomes_an_error_page(cast, monkeypatch):
    client = cast.client("admin")
    (pattern,) = (pattern for pattern in urlpatterns if pattern.name == "work_home")
    monkeypatch.setattr(pattern, "callback", raising(UserError(SENTENCE)))
    page = client.get("/work/")
    assert page.status_code == 400
    assert page.templates[0].name == "400.html"
    assert "There are: a, c &amp; d." in page.content.decode()
    answer = client.get("/work/", **BY_SCRIPT)
    assert (answer.status_code, answer.content.decode()) == (400, SENTENCE)
    assert answer["Content-Type"] == "text/plain"


def bases_of_classes():
    """Bases of each class of the five apps, by name."""
    bases = {}
    for app in ("annotation", "evaluation", "judging", "building", "crux_site"):
        for path in (ROOT / app).rglob("*.py"):
            for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
                if isinstance(node, ast.ClassDef):
                    names = {ast.unparse(base).rpartition(".")[2] for base in node.bases}
                    bases.setdefault(node.name, set()).update(names - {node.name})
    return bases


def test_exception_is_a_user_error_or_has_a_reason():
    bases = bases_of_classes()

    def is_a(name, *roots):
        return name in roots or any(is_a(base, *roots) for base in bases.get(name, ()))

    builtin = [name for name, value in vars(builtins).items() if is_exception(value)]
    exceptions = {name for name in bases if is_a(name, *builtin, "APIException")}
    assert "RunStateError" in exceptions
    internal = {name for name in exceptions if not is_a(name, "UserError", "APIException")}
    assert internal == INTERNAL.keys()


def is_exception(value):
    return isinstance(value, type) and issubclass(value, BaseException)
