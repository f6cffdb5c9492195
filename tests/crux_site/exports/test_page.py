"""datasets/<slug>/exports/: what is offered, what is not and why, and every file."""

import zipfile
from io import BytesIO, StringIO

import pytest
from django.core.management import call_command
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.formats import long_table, qlabels, qrels
from annotation.models import Dataset, Rater, Rating, SubQuestion
from crux_site.exports import page
from crux_site.exports.page import sections
from crux_site.imports.importing import import_dataset
from evaluation.models import RankedText
from tests.toolbox.factories import make_dataset
from tests.toolbox.import_study import contents, write
from tests.toolbox.responses import text_of_page

URL = "/datasets/small/exports/"


@pytest.fixture(scope="module")
def study(shared_world, tmp_path_factory) -> Dataset:
    def make() -> Dataset:
        import_dataset(write(tmp_path_factory.mktemp("study")), "small")
        return Dataset.objects.get(slug="small")

    return shared_world(make)


@pytest.fixture
def rosa(study, cast):
    return cast.client("researcher")


def body(response) -> bytes:
    assert response.status_code == 200, text_of_page(response)
    return b"".join(response.streaming_content)


def unpacked(data: bytes) -> dict[str, bytes]:
    with zipfile.ZipFile(BytesIO(data)) as archive:
        assert archive.testzip() is None
        return {name: archive.read(name) for name in archive.namelist()}


def offers(dataset: Dataset) -> dict[str, int]:
    return {offer.name: offer.n for section in sections(dataset) for offer in section.offers}


@pytest.mark.parametrize("url", [URL, f"{URL}ratings.csv", f"{URL}folder.zip"])
def test_export_permissions(study, cast, url):
    for account, status in (
        ("admin", 200),
        ("researcher", 200),
        ("worker", 403),
        ("stranger", 302),
    ):
        assert cast.client(account).get(url).status_code == status
    assert cast.client("researcher").post(url).status_code == 405
    assert cast.client("researcher").get(url.replace("small", "nowhere")).status_code == 404


def test_listed_files_open_with_stated_row_counts(rosa, study):
    page = rosa.get(URL).content.decode()
    for name, n in offers(study).items():
        assert f'href="{URL}{name.replace("#", "%23")}"' in page
        data = body(rosa.get(URL + name))
        if name.endswith(("jsonl", ".run", ".qrels")):
            assert len(data.splitlines()) == n, name


def test_export_files_of_study(db, study):
    # ann labels three reports (two of oracle, one of bm25) and two passages; bob two reports. The judge grades
    # three pairs of a topic and a passage, each of three questions, and leaves one out: 8; its reference apart.
    n_rows = offers(study)
    assert n_rows["labels/ann.t1-labels.jsonl"] == 3
    assert n_rows["labels/bob.t1-labels.jsonl"] == 2
    assert n_rows["labels/ann.t2-labels.jsonl"] == 2
    assert n_rows["qrels/judge.graded.qrels"] == 3
    assert n_rows["qrels/judge.graded.diversity.qrels"] == 8
    assert n_rows["runs/first_stage.lsr.run"] == 6
    assert n_rows["ratings.csv"] == Rating.objects.count()
    assert n_rows["trec-rag-topics.jsonl"] == n_rows["nuggets.jsonl"] == 2
    assert "labels/bob.t2-labels.jsonl" not in n_rows
    assert "pairs.qac.jsonl" not in n_rows


def test_dataset_that_has_nothing_says_why(cast, db):
    Dataset.objects.create(slug="empty", title="Empty")
    rosa = cast.client("researcher")
    page = text_of_page(rosa.get("/datasets/empty/exports/"))
    for reason in (
        "ratings.csv There are no grades yet.",
        "labels There are no labels of people for passages or annotated reports.",
        "runs.zip There is no retrieval run.",
        "diversity.qrels There are no grades of passages under a rubric with an eta.",
        "nuggets.jsonl There is no topic.",
    ):
        assert reason in page
    refused = rosa.get("/datasets/empty/exports/runs.zip")
    assert refused.status_code == 404
    assert "There is no retrieval run." in text_of_page(refused)
    assert unpacked(body(rosa.get("/datasets/empty/exports/folder.zip"))) == {}
    missing = rosa.get("/datasets/empty/exports/away.csv")
    assert missing.status_code == 404
    assert "There is no away.csv among the exports" in text_of_page(missing)


@pytest.mark.parametrize(
    ("name", "form"), [("folder.zip", "crux"), ("hugging-face.zip", "hugging-face")]
)
def test_archive_holds_the_bytes_of_the_command(rosa, tmp_path, name, form):
    metadata_options = ("--url", "http://testserver/datasets/small/") if form != "crux" else ()
    folder = tmp_path / "out"
    call_command(
        "export_dataset",
        "small",
        "--format",
        form,
        "--out",
        str(folder),
        *metadata_options,
        stdout=StringIO(),
    )
    response = rosa.get(URL + name)
    assert response["Content-Disposition"] == f'attachment; filename="small.{name}"'
    sent = unpacked(body(response))
    top = f"small.{name.removesuffix('.zip')}/"
    assert sent == {top + path: data for path, data in contents(folder).items()}
    assert int(response["Content-Length"]) > 0


def test_archive_is_imported_again_without_a_change(rosa, tmp_path):
    with zipfile.ZipFile(BytesIO(body(rosa.get(f"{URL}publication.zip")))) as archive:
        archive.extractall(tmp_path)
    summary = import_dataset(tmp_path, "small")
    assert not summary.changed
    assert [(file.name, file.why) for file in summary.left_out] == [
        ("metadata.json", "a description")
    ]


def test_files_of_one_rater_and_the_table_are_those_of_the_command(rosa, study):
    ann = Rater.objects.get(name="ann")
    for name, lines in (
        ("ratings.csv", long_table.csv_lines(study)),
        ("labels/ann.t1-labels.jsonl", qlabels.lines(study, ann)),
        ("labels/ann.t2-labels.jsonl", qrels.lines(study, ann)),
    ):
        assert body(rosa.get(URL + name)).decode() == "".join(lines)


def test_labels_are_read_again_under_their_new_name_and_the_old(rosa, study, tmp_path):
    data = body(rosa.get(f"{URL}labels/ann.t2-labels.jsonl"))
    before = Rating.objects.count()
    Rating.objects.filter(rater__name="ann", rubric__slug="graded").delete()
    for name in ("ann.t2-labels.jsonl", "ann.qrels.jsonl"):
        (tmp_path / name).write_bytes(data)
        import_dataset(tmp_path / name, "small")
        assert Rating.objects.count() == before


def test_runs_come_back_in_their_order(rosa, tmp_path):
    files = unpacked(body(rosa.get(f"{URL}runs.zip")))
    one = body(rosa.get(f"{URL}runs/first_stage.lsr.run"))
    assert files["small.runs/first_stage.lsr.run"] == one
    for name, data in files.items():
        path = tmp_path / name.replace("small.runs", "runs")
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(data)
    write(tmp_path, {"topics.jsonl": [{"id": name, "request": name} for name in ("t-1", "t-2")]})
    import_dataset(tmp_path, "again")

    def ranking(slug: str) -> list[tuple]:
        ranked = RankedText.objects.filter(run__dataset__slug=slug)
        columns = ("run__name", "topic__name", "rank", "text__name")
        return sorted(ranked.values_list(*columns))

    assert ranking("again") == ranking("small")


def test_dataset_that_a_format_cannot_hold_is_told_and_nothing_is_sent(rosa, study):
    SubQuestion.objects.filter(topic__name="t-2").update(body="The same?")
    for name in ("folder.zip", "labels/ann.t1-labels.jsonl"):
        response = rosa.get(URL + name)
        assert response.status_code == 422
        assert "The file cannot be written: two questions of t-2 are" in text_of_page(response)


def test_licence_that_is_too_long_is_refused(rosa, study):
    response = rosa.get(f"{URL}publication.zip", {"licence": "x" * 201})
    assert response.status_code == 400
    assert "A licence has 200 characters at most" in text_of_page(response)


def test_without_pyarrow_the_page_says_what_is_missing(rosa, study, monkeypatch):
    monkeypatch.setattr(page, "find_spec", lambda name: None)
    page_text = text_of_page(rosa.get(URL))
    for name in ("hugging-face.zip", "ratings.parquet"):
        assert (
            f"{name} Parquet needs pyarrow, an extra of the site: make env EXTRAS=cluster."
            in page_text
        )
        assert rosa.get(URL + name).status_code == 404


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("format=csv", "ratings.csv"),
        ("format=jsonl", "ratings.jsonl"),
        ("format=qlabels&rater=ann", "labels/ann.t1-labels.jsonl"),
        ("format=qrels&rater=ann", "labels/ann.t2-labels.jsonl"),
    ],
)
def test_addresses_of_before_lead_here(rosa, study, query, name):
    response = rosa.get(f"/datasets/small/export/?{query}")
    assert (response.status_code, response.url) == (301, URL + name)
    body(rosa.get(response.url))
    assert rosa.get("/datasets/small/export/?format=xls").status_code == 404


def test_queries_do_not_grow_with_the_dataset(rosa, study):
    def n_queries() -> int:
        with CaptureQueriesContext(
            connection,
        ) as queries:
            rosa.get(URL)
        return len(queries)

    before = n_queries()
    for number in range(4):
        make_dataset(f"other-{number}")
        rater = Rater.objects.create(dataset=study, name=f"more-{number}", kind="human")
        for rating in Rating.objects.filter(rater__name="ann"):
            rating.pk, rating.rater = None, rater
            rating.save()
        study.runs.create(name=f"more-{number}")
    assert n_queries() == before
    assert f"{URL}labels/more-3.t1-labels.jsonl" in rosa.get(URL).content.decode()
