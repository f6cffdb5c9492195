"""Model server entered in the browser, used by a worker in a process of its own."""

import subprocess
import sys
from contextlib import contextmanager

import pytest
from playwright.sync_api import expect

from tests.browser.page_audit import faults
from tests.toolbox.model_services import KEY, SERVICES, serve
from tests.toolbox.paths import ROOT
from tests.toolbox.scripted_server import ScriptedServer
from tests.toolbox.served_site import served

AZURE = SERVICES["azure"]
N_PAIRS = 12
PATIENT = 300_000  # milliseconds: a worker is a process that has to start


@pytest.fixture(scope="module")
def service():
    with ScriptedServer() as server:
        yield server, serve(server, AZURE)


@pytest.fixture(scope="module")
def site(tmp_path_factory, prepared):
    """Serve a site of its own, whose environment names no model server."""
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("JUDGE_ENDPOINTS", raising=False)
        seed = "from tests.browser.model_server_seed import seed; seed()"
        with served(tmp_path_factory.mktemp("servers"), seed, prepared=prepared) as running:
            yield running


@contextmanager
def worker(site, **env):
    """Run `manage.py judge_worker` in a process of its own."""
    command = [sys.executable, str(ROOT / "manage.py"), "judge_worker", "--interval", "0.2"]
    process = subprocess.Popen(command, env=site.env | env, cwd=ROOT)
    try:
        yield
    finally:
        process.terminate()
        process.wait(60)


def test_server_and_key_of_the_browser_serve_a_worker_process(visit, site, service):
    server, bodies = service
    admin, owner = visit("ada"), visit("olga")
    page = admin.open("/allowed-hosts/")
    page.locator("#id_host").fill("127.0.0.1")
    page.get_by_label("Allow http without encryption").check()
    page.get_by_label("Allow private and loopback addresses").check()
    page.get_by_role("button", name="Add the host").click()
    expect(page.get_by_text("Projects can now use servers at 127.0.0.1.")).to_be_visible()
    page.goto(f"{site.url}/projects/main/servers/")
    page.get_by_label("Maximum tokens").fill("1000000")
    page.get_by_role("button", name="Save the budget").click()
    expect(page.get_by_text("is saved.")).to_be_visible()

    page = owner.open("/projects/main/servers/new/")
    page.locator("#id_preset").select_option("azure")
    page.get_by_role("button", name="Apply preset of the kind").click()
    expect(page.locator("#id_params")).to_have_value("api-version=2024-10-21")
    page.locator("#id_name").fill("gpu")
    page.locator("#id_url").fill(server.url.removesuffix("/v1") + AZURE.base)
    page.locator("#id_key").fill(KEY)
    page.get_by_role("button", name="Save").click()
    expect(page.locator("main")).to_contain_text("A key is stored.")
    assert KEY not in page.content()
    page.get_by_label("Model (empty").fill(AZURE.model)
    page.get_by_role("button", name="Test connection").click()
    expect(page.locator("main")).to_contain_text("our-judge replied “4”")
    assert faults(page) == []
    [(encrypted,)] = site.rows("select encrypted_key from judging_endpoint")
    assert encrypted
    assert KEY not in encrypted

    page.goto(f"{site.url}/judges/new/?project=main")
    page.locator("#id_slug").fill("mine")
    page.locator("#id_model").fill(AZURE.model)
    page.locator("#id_endpoint").select_option("project:main/gpu")
    page.locator("#id_preset").select_option("openai")
    page.locator("button[name=family]").click()
    page.get_by_role("button", name="Detect from server").click()
    expect(page.locator("#id_reply_model")).to_have_value(AZURE.replies_as)
    page.get_by_role("button", name="Create judge").click()
    expect(page.get_by_text("The judge mine is created.")).to_be_visible()

    [(judge,)] = site.rows("select id from judging_judge")
    page.goto(f"{site.url}/judge-runs/new/?dataset=ferry&judge={judge}")
    page.locator("#id_endpoint").select_option("project:main/gpu")
    page.get_by_role("button", name="Start").click()
    # A worker with other keys than the site cannot read the key, and says so.
    other_key = "MDEyMzQ1Njc4OTAxMjM0NTY3ODkwMTIzNDU2Nzg5MDE="
    with worker(site, JUDGE_SECRET_KEYS=other_key):
        expect(page.locator("#run-state")).to_have_text("paused", timeout=PATIENT)
    page.reload()
    expect(page.locator("main")).to_contain_text("cannot be decrypted here")
    assert bodies == []
    page.get_by_role("button", name="Resume").first.click()
    with worker(site):
        expect(page.locator("#run-state")).to_have_text("finished", timeout=PATIENT)
    assert KEY not in page.content()
    assert site.rows("select count(*) from judging_attempt where counts and state = 'graded'") == [
        (N_PAIRS,)
    ]
    assert len(bodies) > N_PAIRS // 2
    assert all(headers["api-key"] == KEY for headers in server.headers)
