"""The list of judges, and the page of one."""

import pytest

from annotation.models import Dataset, Rater, Rating, Rubric
from judging import mock_model
from judging.engine.foreground import fill_lexical
from judging.engine.judges import make_judge
from judging.models import Judge
from tests.toolbox.judging_runs import RUBRIC_TEXT, a_judge
from tests.toolbox.responses import markup


def test_empty_list_says_what_to_do(cast, dataset):
    assert "Create one" in cast.client("admin").get("/judges/").content.decode()
    assert (
        "Admins and owners of a project can create one"
        in cast.client("researcher").get("/judges/").content.decode()
    )
    Dataset.objects.all().delete()
    assert "import a dataset" in cast.client("admin").get("/judges/").content.decode()


def test_list_counts_cells_and_failures(cast, done, judge):
    page = markup(cast.client("researcher").get("/judges/"))
    assert f'<a href="/judges/{judge.pk}/">tiny-judge</a>' in page
    assert judge.short in page
    assert "question-first" in page
    assert f'<a href="/judges/{judge.pk}/#cells">11</a>' in page
    assert f'<a href="/judges/{judge.pk}/#failures">1</a> of 12' in page
    assert f"/datasets/ferry/agreement/with/{judge.rater_id}/" in page
    assert "8.3%" in page
    assert f'<a href="/judge-runs/{done.pk}/">run {done.pk}</a>, finished' in page


def test_baseline_is_called_one(cast, dataset):
    fill_lexical(dataset)
    baseline = Judge.objects.get()
    page = markup(cast.client("researcher").get("/judges/"))
    assert "baseline" in page
    assert "of The ferry study" in page
    page = markup(cast.client("admin").get(f"/judges/{baseline.pk}/"))
    assert "a fixed rule, not a model" in page
    assert "Copy to a new judge" not in page
    assert cast.client("admin").get(f"/judges/new/?from={baseline.pk}").status_code == 404


def test_judges_of_files_are_listed(cast, dataset, judge):
    text, graded = dataset.texts.get(name="ferry-1:0#0"), Rubric.objects.get(slug="graded")
    for name, kind in (("llama", "model"), ("words", "baseline"), ("ann", "human")):
        rater = Rater.objects.create(dataset=dataset, name=name, kind=kind)
        question = text.topic.questions.first()
        rating = Rating(rater=rater, rubric=graded, text=text, question=question, grade=3)
        rating.save()
    Rater.objects.create(dataset=dataset, name="silent", kind="model")
    page = markup(cast.client("admin").get("/judges/"))
    assert '<th scope="row">llama</th><td>model</td>' in page
    assert '<th scope="row">words (baseline)</th><td>baseline</td>' in page
    assert '<a href="/datasets/ferry/matrix/?source=llama">1</a>' in page
    llama = Rater.objects.get(name="llama")
    assert f"/datasets/ferry/agreement/with/{llama.pk}/" in page
    # Nobody who said nothing, no person, and nobody twice.
    assert "silent" not in page
    assert '<th scope="row">ann' not in page
    assert page.count(">tiny-judge</a>") == 1


def test_judge_with_the_mock_model_is_a_baseline(cast, dataset):
    created = a_judge("my-model", model=mock_model.MODEL)
    assert created.is_baseline
    client = cast.client("admin")
    assert "my-model (baseline)" in client.get("/judges/").content.decode()
    assert "my-model (baseline): stand-in" in (
        client.get(f"/judge-runs/new/?dataset={dataset.slug}").content.decode()
    )


def test_its_page_shows_all_that_the_fingerprint_covers(cast, done, judge):
    page = markup(cast.client("researcher").get(f"/judges/{judge.pk}/"))
    for fragment in (
        judge.model,
        judge.revision,
        judge.fingerprint,
        judge.parser,
        "temperature 0, top p 1, one token, seed 0, with probabilities",
        "15, 16, 17, 18, 19, 20",
        "not reported by the server",
        "leave the pair without a grade",
        "OpenAI-compatible server",
        *RUBRIC_TEXT.split("\n"),
        "You judge how much of a question a text answers.",
    ):
        assert fragment in page
    assert "/datasets/ferry/matrix/?source=tiny-judge" in page
    assert "More than one integer" in page
    assert f"/judge-runs/{done.pk}/failures/all/" in page
    assert f"/judges/{judge.pk}/attempts.csv" in page
    assert f"/judges/compare/?a={judge.pk}" in page


def test_judge_that_has_said_nothing_says_so(cast, judge, dataset):
    page = markup(cast.client("admin").get(f"/judges/{judge.pk}/"))
    assert "This judge has no replies yet." in page
    assert "attempts.csv" not in page


def test_preview_is_what_is_sent(cast, dataset):
    text = dataset.texts.get(name="ferry-1:0#0")
    text.body = "Costs {question} & <b>100</b>"
    text.save()
    judge = a_judge(prompt="Q {question}\nT {text}\nR {request} {grades}", system="")
    url = f"/judges/{judge.pk}/?dataset=ferry&topic=1&text=3&question=2"
    page = markup(cast.client("admin").get(url))
    assert (
        "Q Was anybody hurt?\nT Costs {question} &amp; &lt;b&gt;100&lt;/b&gt;\n"
        "R Write about the ferry. 0, 1, 2, 3, 4 or 5</pre>"
    ) in page


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("topic=9", "There is no topic &#x27;9&#x27;: numbers are from 1 to 1."),
        ("text=x", "There is no text &#x27;x&#x27;"),
        ("question=0", "There is no question &#x27;0&#x27;"),
        ("question=99999999999999999999", "There is no question"),
        ("dataset=nowhere", "There is no dataset &#x27;nowhere&#x27;."),
    ],
)
def test_pair_that_is_not_there_is_said_to_be_missing(cast, judge, dataset, query, message):
    response = cast.client("admin").get(f"/judges/{judge.pk}/?{query}")
    page = markup(response)
    assert response.status_code == 200
    assert message in page
    assert "What failed on the Halden?" in page


def test_without_a_text_with_words_there_is_no_preview(cast, judge, dataset):
    dataset.texts.update(body=None, sha256="")
    page = markup(cast.client("admin").get(f"/judges/{judge.pk}/"))
    assert "There is no text with content." in page
    Dataset.objects.all().delete()
    page = markup(cast.client("admin").get(f"/judges/{judge.pk}/"))
    assert "There is no dataset yet" in page


def test_names_and_words_are_escaped(cast, judge, dataset):
    created = make_judge(
        "evil",
        rubric=judge.rubric,
        backend="openai",
        model="<script>x</script>",
        prompt="<script>{question}{text}",
        parser="integer-1",
    )
    page = markup(cast.client("researcher").get(f"/judges/{created.pk}/"))
    assert "<script>x" not in page
    assert "<script>{question" not in page
