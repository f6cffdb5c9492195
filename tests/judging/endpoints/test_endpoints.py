"""Project servers in the browser: form, key, connection test, and a run on one."""

import pytest
from cryptography.fernet import Fernet
from django.core.management import CommandError, call_command

from annotation.models import Project, ProjectEntry
from judging.engine.endpoints import address_of
from judging.grading.presets import PRESETS
from judging.llm.errors import BackendError
from judging.llm.server_presets import SERVER_PRESETS
from judging.models import Attempt, Endpoint, Judge, JudgeRun
from judging.tasks import work
from tests.judging.judges.judge_form import judge_form_data as judge_form
from tests.toolbox.model_servers import KEY, client_of, fields
from tests.toolbox.scripted_server import MODEL, as_json, completion, status

LIST = "/projects/main/servers/"
NEW = f"{LIST}new/"


def page_of(response) -> str:
    return response.content.decode()


def test_from_a_server_in_the_browser_to_grades(
    owner, endpoint, budget, dataset, server, django_capture_on_commit_callbacks
):
    tested = page_of(owner.post(f"{LIST}{endpoint.pk}/test/"))
    assert f"{MODEL} replied “3”" in tested
    assert f"<code>{MODEL}</code>" in tested
    assert KEY not in tested

    response = owner.post("/judges/new/", judge_form(project="main", model=MODEL, save="1"))
    judge = Judge.objects.get(rater__name="mine")
    assert response.url == f"/judges/{judge.pk}/"
    assert owner.get(response.url).status_code == 200

    started = owner.post(
        "/judge-runs/new/",
        {
            "dataset": dataset.slug,
            "judge": judge.pk,
            "endpoint": "project:main/gpu",
            "concurrency": 4,
            "workers": 1,
            "start": "1",
        },
    )
    run = JudgeRun.objects.get()
    assert started.url == f"/judge-runs/{run.pk}/"
    assert (run.project_budget, run.price_in, run.price_out, run.currency) == (budget, 1, 2, "EUR")
    work.func(run.pk)
    run.refresh_from_db()
    assert (run.state, run.note) == ("finished", "")
    assert Attempt.objects.filter(state="graded", counts=True).exists()
    assert all(headers["Authorization"] == f"Bearer {KEY}" for headers in server.headers)

    budget.refresh_from_db()
    spending = run.spending()
    assert budget.spent_tokens >= spending.prompt_tokens + spending.completion_tokens > 0
    assert budget.spent_money == pytest.approx(
        run.money(spending.prompt_tokens, spending.completion_tokens), rel=0.5
    )


def test_key_is_stored_encrypted_and_is_nowhere_displayed(owner, endpoint, cast, dataset):
    assert KEY not in endpoint.encrypted_key
    assert address_of(endpoint).key == KEY
    assert KEY not in repr(address_of(endpoint))
    ada = cast.client("admin")
    for client in (owner, ada):
        for path in (LIST, f"{LIST}{endpoint.pk}/", "/projects/main/"):
            page = page_of(client.get(path))
            assert KEY not in page
            assert endpoint.encrypted_key not in page
    for path in ("", f"{endpoint.pk}/", f"{endpoint.pk}/change/"):
        page = page_of(ada.get(f"/admin/judging/endpoint/{path}", follow=True))
        assert KEY not in page
        assert endpoint.encrypted_key not in page
    for path in ("/projects/main/export.zip", "/projects/main/log.csv"):
        response = owner.get(path)
        assert response.status_code == 200
        body = b"".join(response) if response.streaming else response.content
        assert KEY.encode() not in body
        assert endpoint.encrypted_key.encode() not in body


def test_error_of_the_server_that_repeats_the_key_is_displayed_without_it(owner, endpoint, server):
    server.script("Reply with the word OK.", status(400, f"wrong key {KEY}"))
    page = page_of(owner.post(f"{LIST}{endpoint.pk}/test/"))
    assert "status 400" in page
    assert "[key]" in page
    assert KEY not in page


def test_error_in_a_body_of_status_200_is_no_reply(owner, endpoint, server):
    error = {"message": "Provider returned error", "code": 429, "metadata": {"raw": "rate-limited"}}
    server.script("Reply with the word OK.", as_json({**completion(None), "error": error}))
    page = page_of(owner.post(f"{LIST}{endpoint.pk}/test/"))
    assert "Provider returned error: rate-limited" in page
    assert "replied" not in page


def test_refused_form_does_not_give_the_key_back(owner, db):
    response = owner.post(NEW, fields(name="Not A Name"))
    assert response.status_code == 422
    assert KEY not in page_of(response)
    assert not Endpoint.objects.exists()


def test_empty_key_keeps_the_stored_one_and_another_replaces_it(owner, endpoint, server):
    address = f"{LIST}{endpoint.pk}/"
    assert owner.post(address, fields(url=server.url, key="", name="gpu2")).status_code == 302
    endpoint.refresh_from_db()
    assert (endpoint.name, address_of(endpoint).key) == ("gpu2", KEY)
    owner.post(address, fields(url=server.url, key="sk-another-0123"))
    endpoint.refresh_from_db()
    assert address_of(endpoint).key == "sk-another-0123"
    owner.post(address, fields(url=server.url, key="", remove_key="on"))
    endpoint.refresh_from_db()
    assert address_of(endpoint).key is None


def test_changed_host_needs_the_key_again(owner, endpoint, server):
    address = f"{LIST}{endpoint.pk}/"
    response = owner.post(address, fields(key="", url="https://collector.example.org/v1"))
    assert response.status_code == 422
    assert "Enter the key again" in page_of(response)
    endpoint.refresh_from_db()
    assert endpoint.url == server.url


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"name": "a b"}, "Lower-case letters"),
        ({"url": "ftp://api.example.org"}, "must begin with http"),
        ({"url": "https://user:pass@api.example.org/v1"}, "must not hold a name"),
        ({"url": "https://api.example.org/v1?key=1"}, "must end with its path"),
        ({"url": "https://RESOURCE.openai.azure.com/x"}, "Replace RESOURCE"),
        ({"url": "http://api.example.org/v1"}, "https://"),
        ({"url": "https://api.example.org:8443/v1"}, "Port 8443"),
        ({"url": "https://127.0.0.1/v1"}, "private or loopback"),
        ({"url": "https://localhost./v1"}, "private or loopback"),
        ({"url": "https://[::ffff:10.0.0.1]/v1"}, "private or loopback"),
        ({"url": "https://2130706433/v1"}, "not a host name"),
        ({"url": "https://0x7f000001/v1"}, "not a host name"),
        ({"url": "https://0177.0.0.1/v1"}, "not a host name"),
        ({"url": "https://127.1/v1"}, "not a host name"),
        ({"url": "https://api.example.org\\@127.0.0.1/v1"}, "must not"),
        ({"url": "https://api.example.org:99999/v1"}, "cannot be read"),
        ({"headers": "Authorization: Bearer x"}, "cannot be set here"),
        ({"headers": "X-Api-Key: x"}, "cannot be set here"),
        ({"headers": "Host: 127.0.0.1"}, "cannot be set here"),
        ({"headers": "no colon"}, "Line 1"),
        ({"params": "key=1"}, "cannot be set here"),
        ({"params": "a=1\na=2"}, "a is a duplicate"),
        ({"key": "täst"}, "non-ASCII"),
        ({"currency": ""}, "Enter the currency"),
        ({"currency": "euro"}, "at most 3"),
        ({"price_in": "-1"}, "greater than or equal to 0"),
        ({"price_in": "nan"}, "Enter a number"),
        ({"preset": "unknown"}, "not one of the available"),
    ],
)
def test_wrong_input_is_refused_and_named(owner, db, change, reason):
    response = owner.post(NEW, fields(**change))
    assert response.status_code == 422
    assert reason in page_of(response)
    assert not Endpoint.objects.exists()


def test_name_is_taken_once_in_a_project(owner, endpoint, server):
    response = owner.post(NEW, fields(url=server.url))
    assert "choose another name" in page_of(response)
    assert Endpoint.objects.count() == 1


@pytest.mark.parametrize("name", SERVER_PRESETS)
def test_preset_fills_in_the_form(owner, db, name):
    preset = SERVER_PRESETS[name]
    assert set(preset.request_presets) <= set(PRESETS)
    response = owner.post(NEW, fields(preset=name, name="kept", fill="1"))
    page = page_of(response)
    assert f'value="{preset.url}"' in page
    assert 'value="kept"' in page
    assert KEY not in page
    for key, value in (*preset.headers.items(), *preset.params.items()):
        assert key in page
        assert value in page
    assert not Endpoint.objects.exists()


def test_saved_server_is_in_the_history_of_the_project_without_its_key(owner, endpoint):
    entry = ProjectEntry.objects.get(action="added a model server")
    assert (entry.detail, entry.by.username) == ("gpu", "olga")
    owner.post(f"{LIST}{endpoint.pk}/delete/")
    assert not Endpoint.objects.exists()
    assert ProjectEntry.objects.filter(action="deleted a model server").exists()


def test_deleting_asks_first(owner, endpoint):
    assert "Delete gpu" in page_of(owner.get(f"{LIST}{endpoint.pk}/delete/"))
    assert Endpoint.objects.exists()


def test_server_that_is_silent_is_a_sentence(owner, endpoint, server):
    server.stop()
    response = owner.post(f"{LIST}{endpoint.pk}/test/", {"model": "tiny"})
    assert response.status_code == 200
    assert "the connection failed" in page_of(response)
    server.start()


def test_server_whose_host_is_not_allowed_any_more_is_not_called(owner, endpoint, allowed, server):
    allowed.delete()
    page = page_of(owner.post(f"{LIST}{endpoint.pk}/test/"))
    assert "Ask an admin of the site to allow it" in page
    assert server.headers == []


def test_owners_of_other_projects_find_nothing(other_owner, endpoint):
    for path in ("", "new/", f"{endpoint.pk}/", f"{endpoint.pk}/delete/"):
        assert other_owner.get(LIST + path).status_code == 404
    assert other_owner.post(f"{LIST}{endpoint.pk}/test/").status_code == 404
    # Nor by way of their own project.
    for path in (f"{endpoint.pk}/", f"{endpoint.pk}/delete/"):
        assert other_owner.get(f"/projects/other/servers/{path}").status_code == 404
        assert other_owner.post(f"/projects/other/servers/{path}").status_code == 404
    assert other_owner.post(f"/projects/other/servers/{endpoint.pk}/test/").status_code == 404
    assert Endpoint.objects.exists()


@pytest.mark.parametrize(
    ("role", "code"), [("researcher", 403), ("worker", 403), ("stranger", 302)]
)
def test_only_owners_and_admins_see_servers(cast, endpoint, role, code):
    for path in ("", "new/", f"{endpoint.pk}/", f"{endpoint.pk}/delete/"):
        assert cast.client(role).get(LIST + path).status_code == code
    for path in ("new/", f"{endpoint.pk}/", f"{endpoint.pk}/delete/", f"{endpoint.pk}/test/"):
        assert cast.client(role).post(LIST + path, fields()).status_code == code
    assert Endpoint.objects.get().encrypted_key == endpoint.encrypted_key


def test_missing_servers_and_wrong_methods(owner, endpoint):
    assert owner.get(f"{LIST}999/").status_code == 404
    assert owner.post(f"{LIST}999/test/").status_code == 404
    assert owner.get(f"{LIST}{endpoint.pk}/test/").status_code == 405
    assert owner.post(LIST).status_code == 405


def test_admins_see_the_servers_of_the_environment(cast, owner, dataset, settings):
    settings.JUDGE_ENDPOINTS = {"cluster": "http://10.1.2.3:8000/v1"}
    assert "cluster" in page_of(cast.client("admin").get(LIST))
    assert "cluster" not in page_of(owner.get(LIST))


def test_concurrent_edit_of_a_server_shows_both_values(owner, endpoint, server):
    address = f"{LIST}{endpoint.pk}/"
    version = owner.get(address).context["form"].version
    owner.post(address, fields(url=server.url, key="", price_in="5", version=version))
    second = owner.post(address, fields(url=server.url, key="", price_in="7", version=version))
    assert second.status_code == 409
    endpoint.refresh_from_db()
    assert endpoint.price_in == 5


@pytest.mark.parametrize("is_new", [True, False])
def test_server_is_saved_after_a_preset_was_applied(owner, endpoint, server, is_new):
    """The page carries a version, as a browser sends it."""
    address = NEW if is_new else f"{LIST}{endpoint.pk}/"
    version = owner.get(address).context["form"].version
    typed = fields(url=server.url, name="other", key="", version=version)
    filled = owner.post(address, typed | {"preset": "anthropic", "fill": "1"})
    typed = typed | {"preset": "anthropic", "version": filled.context["form"].version}
    saved = owner.post(address, typed)
    assert saved.status_code == 302, saved.context["form"].errors
    assert Endpoint.objects.get(name="other").preset == "anthropic"


def test_preset_in_the_address_of_a_new_server_is_no_version(owner, endpoint, server):
    version = owner.get(f"{NEW}?preset=mistral").context["form"].version
    saved = owner.post(NEW, fields(url=server.url, name="other", version=version))
    assert saved.status_code == 302


def test_save_of_another_window_is_noticed_after_a_preset_was_applied(owner, endpoint, server):
    address = f"{LIST}{endpoint.pk}/"
    version = owner.get(address).context["form"].version
    typed = fields(url=server.url, key="", price_in="7", version=version)
    owner.post(address, typed | {"price_in": "5"})
    filled = owner.post(address, typed | {"fill": "1"})
    version = filled.context["form"].version
    assert owner.post(address, typed | {"version": version}).status_code == 409
    endpoint.refresh_from_db()
    assert endpoint.price_in == 5


def test_keys_are_rotated(endpoint, settings, capsys):
    old, new = settings.JUDGE_SECRET_KEYS, Fernet.generate_key().decode()
    settings.JUDGE_SECRET_KEYS = [new, *old]
    call_command("rotate_secret_keys")
    assert "1 key encrypted again" in capsys.readouterr().out
    settings.JUDGE_SECRET_KEYS = [new]
    endpoint.refresh_from_db()
    assert address_of(endpoint).key == KEY
    settings.JUDGE_SECRET_KEYS = old
    with pytest.raises(BackendError, match="cannot be decrypted here"):
        address_of(endpoint)
    with pytest.raises(CommandError, match="Nothing is changed"):
        call_command("rotate_secret_keys")


def test_server_of_another_project_cannot_be_named(endpoint, other_owner, dataset):
    dataset.project = Project.objects.get(slug="other")
    dataset.save(update_fields=["project"])
    response = client_of("otto").post(
        "/judge-runs/new/",
        {"dataset": dataset.slug, "judge": "baseline", "endpoint": "project:main/gpu"},
    )
    assert response.status_code == 422
    assert "endpoint" in response.context["form"].errors
