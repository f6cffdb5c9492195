"""rubrics.jsonl and ratings*.jsonl: any labels, under any rubric, in and out."""

import json

import pytest

from annotation.models import Dataset, NuggetSpan, Rater, Rating, Rubric
from annotation.models.standard import STANDARD, add_standard
from crux_site.datasets.export import export_folder
from crux_site.imports.importing import import_dataset
from tests.crux_site.imports.import_runs import import_problems
from tests.toolbox.import_study import contents, empty_database, fingerprint, study, write

pytestmark = pytest.mark.django_db

TONE = {
    "slug": "tone",
    "title": "Tone",
    "question": "How does the text sound?",
    "scale": "nominal",
    "shows": ["text"],
    "eta": None,
    "span_from": None,
    "impossible": [
        {"grade": 2, "rubric": "answerable", "grades": [1, 0]},
        {"grade": 1, "rubric": "of-a-later-line", "grades": [9]},
    ],
    "guideline": "Listen.",
    "levels": [
        {
            "grade": 2,
            "label": "Dry",
            "name": "dry",
            "key": "d",
            "colour": "blue",
            "examples": [
                {"text": "Noted.", "question": "", "reason": "One word."},
                {"text": "“It rained”", "question": "How was it?", "reason": "Only the fact."},
            ],
        },
        {
            "grade": 1,
            "label": "Warm",
            "name": "warm",
            "key": "w",
            "colour": "",
            "examples": [],
        },
        {
            "grade": 0,
            "label": "None in particular",
            "name": "",
            "key": "",
            "colour": "",
            "examples": [],
        },
    ],
}
PAIR = {"rater": "eve", "kind": "human", "rubric": "question-type", "text": "t-1:0#1"}


def with_examples(examples):
    return {"levels": [TONE["levels"][0] | {"examples": examples}, *TONE["levels"][1:]]}


def impossible(**change):
    return {"impossible": [TONE["impossible"][0] | change]}


FERRY_QUESTION = {"question": "What failed on the ferry?"}


def labels(*lines, rubrics=(TONE,)):
    return study() | {"rubrics.jsonl": list(rubrics), "ratings.jsonl": list(lines)}


def test_as_little_as_says_which_pair_is_meant(tmp_path):
    folder = write(
        tmp_path,
        labels(
            {**PAIR, **FERRY_QUESTION, "grade": 1},
            {**PAIR, "question_index": 1, "grade": 2},
            {**PAIR, "topic": "t-2", "question_index": 0, "grade": 0},
            {
                **PAIR,
                **FERRY_QUESTION,
                "rater": "model-a",
                "kind": "model",
                "rubric": "tone",
                "grade": 2,
            },
            {
                **PAIR,
                **FERRY_QUESTION,
                "rater": "by-rule",
                "kind": "baseline",
                "rubric": "tone",
                "grade": None,
            },
            {**PAIR, **FERRY_QUESTION, "text": "other-9:0#0", "topic": "t-1", "grade": 3},
        ),
    )
    summary = import_dataset(folder, "small")
    assert summary.created["rubrics"] == 1
    assert summary.mapped["null ratings of a judge: no row"] >= 1
    rows = Rating.objects.filter(rubric__slug__in=["question-type", "tone"]).order_by("pk")
    assert list(
        rows.values_list("rater__name", "rater__kind", "rubric__slug", "text__name", "grade")
    ) == [
        ("eve", "human", "question-type", "t-1:0#1", 1),
        ("eve", "human", "question-type", "t-1:0#1", 2),
        ("eve", "human", "question-type", "t-1:0#1", 0),
        ("eve", "human", "question-type", "other-9:0#0", 3),
        ("model-a", "model", "tone", "t-1:0#1", 2),
    ]
    rubric = Rubric.objects.get(slug="tone")
    assert (rubric.is_nominal, rubric.shows, rubric.grades()) == (True, ["text"], [0, 1, 2])
    before = fingerprint()
    assert not import_dataset(folder, "small").changed
    assert fingerprint() == before


def test_spans_by_their_place_by_their_words_and_nowhere(tmp_path):
    body = "A coupling failed. The coupling was old."
    second = body.rindex("coupling")
    spans = [
        {"start": second, "end": second + 8, "quote": "coupling"},
        {"quote": "failed"},
        {"quote": "not there"},
    ]
    import_dataset(
        write(
            tmp_path,
            labels({**PAIR, **FERRY_QUESTION, "rubric": "answered", "grade": 1, "spans": spans}),
        ),
        "small",
    )
    stored = NuggetSpan.objects.filter(rating__rubric__slug="answered").order_by("position")
    assert list(stored.values_list("start", "quote", "source_quote", "located")) == [
        (second, "coupling", "", "exact"),
        (body.index("failed"), "failed", "", "exact"),
        (None, "", "not there", "unlocated"),
    ]


@pytest.mark.parametrize(
    ("line", "field", "message"),
    [
        (
            {**FERRY_QUESTION, "grade": 4},
            "grade",
            "4 is no grade of the rubric question-type (0, 1, 2, 3)",
        ),
        ({**FERRY_QUESTION, "grade": "1"}, "grade", "not '1'"),
        (
            {**FERRY_QUESTION, "grade": 1, "rubric": "no-such"},
            "rubric",
            "there is no rubric 'no-such'",
        ),
        (
            {**FERRY_QUESTION, "grade": 1, "kind": "robot"},
            "rater_kind",
            "'robot' is none of human, ",
        ),
        (
            {**FERRY_QUESTION, "grade": 1, "kind": "aggregate"},
            "rater_kind",
            "'aggregate' is none of human",
        ),
        ({**FERRY_QUESTION, "grade": 1, "rater": "a/b"}, "rater", "letters, digits"),
        ({**FERRY_QUESTION, "grade": 1, "rater": "judge"}, "rater", "judge is a model already"),
        (
            {**FERRY_QUESTION, "grade": 1, "text_kind": "poem"},
            "text_kind",
            "'poem' is none of passage, ",
        ),
        (
            {**FERRY_QUESTION, "grade": 1, "text_kind": "report", "system": "s", "text": "t-1"},
            "text",
            "the report t-1 of s is not in the dataset",
        ),
        (
            {**FERRY_QUESTION, "grade": 1, "text": "other-9:0#0"},
            "topic",
            "is missing, and other-9:0#0 is of none",
        ),
        (
            {**FERRY_QUESTION, "grade": 1, "topic": "t-9"},
            "topic",
            "topic 't-9' is not in the dataset",
        ),
        ({"grade": 1}, "question", "is missing, and question_index too"),
        ({"grade": 1, "question_index": 3}, "question_index", "t-1 has 3 questions"),
        ({"grade": 1, "question": "Who?"}, "question", "t-1 does not ask 'Who?'"),
        ({**FERRY_QUESTION, "grade": 1, "question_index": 1}, "question", "at 1"),
        ({**FERRY_QUESTION, "grade": 1, "text_sha256": "0" * 64}, "text_sha256", "has other words"),
        (
            {**FERRY_QUESTION, "grade": 1, "spans": [{"start": 0, "end": 3, "quote": "xyz"}]},
            "spans",
            "the text says 'A c', not 'xyz'",
        ),
        (
            {**FERRY_QUESTION, "grade": 1, "spans": [{"start": 0, "end": 3}]},
            "spans",
            "a span with its place needs its quote",
        ),
    ],
)
def test_line_that_cannot_be_kept_is_named_and_changes_nothing(tmp_path, line, field, message):
    problem = import_problems(
        write(tmp_path, labels({**PAIR, **FERRY_QUESTION, "grade": 0}, {**PAIR, **line}))
    )[0]
    assert (problem.file, problem.line, problem.field) == ("ratings.jsonl", 2, field)
    assert message in problem.message


@pytest.mark.parametrize(
    ("change", "field", "message"),
    [
        ({"levels": TONE["levels"][:1]}, "levels", "Give 2 to 101 levels, not 1."),
        ({"levels": [*TONE["levels"], TONE["levels"][0]]}, "levels.0.grade", "2 is there twice."),
        ({"shows": []}, "shows", "Choose some of text, question, answer, request, each once."),
        ({"eta": 1}, "eta", "Nominal grades have no order"),
        ({"scale": "ordinal", "eta": 0}, "eta", "every pair would count as answerable"),
        ({"eta": 7}, "eta", "7 is not a grade of the rubric."),
        ({"span_from": 1, "shows": ["question"]}, "span_from", "Highlights need a visible text"),
        ({"scale": "cosmic"}, "scale", "not a valid choice"),
        ({"slug": "a b"}, "slug", ""),
        ({"title": ""}, "title", "cannot be blank"),
        (impossible(grade=9), "impossible.0.grade", "9 is not a grade of the rubric."),
        (impossible(rubric="tone"), "impossible.0.rubric", "Give the name of another rubric"),
        (impossible(rubric="a b"), "impossible.0.rubric", "Give the name of another rubric"),
        (impossible(grades=[]), "impossible.0.grades", "Give grades of the other rubric"),
        (impossible(grades=[7]), "impossible.0.grades", "7 is not a grade of answerable."),
        (impossible(grades="7"), "impossible.0.grades", "valid list"),
        ({"impossible": [{"grade": 2}]}, "impossible.0.rubric", "is missing"),
        (with_examples([{"text": "Hm."}]), "levels.0.examples.0.reason", "is missing"),
        (
            with_examples([{"text": "", "reason": "So."}]),
            "levels.0.examples.0.text",
            "needs a text",
        ),
        (
            with_examples([{"text": "Hm.", "reason": "So."}] * 4),
            "levels.0.examples",
            "Give 3 examples of a grade at most, not 4.",
        ),
    ],
)
def test_rubric_that_breaks_a_rule_is_named_and_not_made(tmp_path, change, field, message):
    problem = import_problems(write(tmp_path, labels(rubrics=[TONE | change])))[0]
    assert (problem.file, problem.line, problem.field) == ("rubrics.jsonl", 1, field)
    assert message in problem.message
    assert not Rubric.objects.filter(slug="tone").exists()


def test_rubric_that_is_there_stays_and_another_of_its_name_is_refused(tmp_path):
    import_dataset(write(tmp_path / "first", labels()), "small")
    reworded = TONE | {"guideline": "Listen well.", "title": "The tone", "impossible": []}
    reworded |= with_examples([])
    assert not import_dataset(
        write(tmp_path / "again", labels(rubrics=[reworded])), "small"
    ).changed
    rubric = Rubric.objects.get(slug="tone")
    assert (rubric.guideline, rubric.impossible) == ("Listen.", TONE["impossible"])
    assert rubric.levels.get(grade=2).examples == TONE["levels"][0]["examples"]
    fewer = TONE | {"levels": TONE["levels"][:2]}
    problem = import_problems(write(tmp_path / "other", labels(rubrics=[fewer])))[0]
    assert problem.message == "the rubric tone is there already, and has other levels"


def test_dry_run_leaves_no_grades_behind_for_a_rubric_that_comes_after_it(tmp_path):
    import_dataset(write(tmp_path / "first", labels()), "small", dry_run=True)
    fewer = TONE | {"levels": TONE["levels"][:2]}
    import_dataset(write(tmp_path / "second", labels(rubrics=[fewer])), "small")
    assert Rubric.objects.get(slug="tone").grades() == [1, 2]


def test_ratings_round_trip(tmp_path):
    span = {"start": 2, "end": 10, "quote": "coupling"}
    import_dataset(
        write(
            tmp_path / "in",
            labels(
                {**PAIR, **FERRY_QUESTION, "grade": 1},
                {**PAIR, **FERRY_QUESTION, "rubric": "answered", "grade": 1, "spans": [span]},
                {**PAIR, **FERRY_QUESTION, "rubric": "tone", "grade": 0},
                # The formats of the authors have no room for these either.
                {**PAIR, **FERRY_QUESTION, "rubric": "answerable", "grade": 0},
            ),
        ),
        "small",
    )
    summary = export_folder(Dataset.objects.get(), tmp_path / "out")
    assert summary.left_out == {}
    assert summary.files["ratings.jsonl"] == 4
    rows = list(map(json.loads, (tmp_path / "out/rubrics.jsonl").open()))
    slugs = [row["slug"] for row in rows]
    assert slugs == ["answered", "question-type", "tone"]
    assert rows[2] == TONE
    assert rows[0]["impossible"] == STANDARD["answered"].declarations
    before = fingerprint()
    assert not import_dataset(tmp_path / "out", "small").changed
    assert fingerprint() == before
    empty_database()
    Rubric.objects.filter(slug__in=slugs).delete()
    import_dataset(tmp_path / "out", "small")
    assert Rater.objects.get(name="eve").ratings.count() == 4
    export_folder(Dataset.objects.get(), tmp_path / "again")
    assert contents(tmp_path / "again") == contents(tmp_path / "out")


def test_many_raters_under_many_rubrics_are_exported(tmp_path):
    """SQLite takes at most 1,000 conditions that are joined by OR."""
    import_dataset(write(tmp_path / "in", labels()), "small")
    dataset = Dataset.objects.get()
    text = dataset.texts.get(name="t-1:0#1")
    question = text.topic.questions.first()
    slugs = ["answered", "cites", "tone", "umbrela", "utility"]
    rubrics = [
        Rubric.objects.filter(slug=slug).first() or add_standard(STANDARD[slug]) for slug in slugs
    ]
    crowd = Rater.objects.bulk_create(
        Rater(dataset=dataset, name=f"crowd-{n}", kind="human") for n in range(201)
    )
    Rating.objects.bulk_create(
        Rating(rater=rater, rubric=rubric, text=text, question=question, grade=1)
        for rater in crowd
        for rubric in rubrics
    )
    assert export_folder(dataset, tmp_path / "out").files["ratings.jsonl"] == 5 * 201


FAULTS = TONE | {
    "slug": "faults",
    "scale": "labels",
    "impossible": [],
    "levels": [
        TONE["levels"][2] | {"grade": 2, "label": "Something is false", "name": "false"},
        TONE["levels"][2] | {"grade": 1, "label": "A part is missing", "name": "incomplete"},
    ],
}
FAULTS_PAIR = {**PAIR, **FERRY_QUESTION, "rubric": "faults"}


def test_sets_of_labels_as_sums_and_as_names(tmp_path):
    grades = {"ann": 3, "ben": ["incomplete"], "cat": [], "dan": ["Something is false", "false"]}
    lines = [{**FAULTS_PAIR, "rater": rater, "grade": grade} for rater, grade in grades.items()]
    folder = write(tmp_path, labels(*lines, rubrics=[FAULTS]))
    import_dataset(folder, "small")
    rows = Rating.objects.filter(rubric__slug="faults").order_by("rater__name")
    assert list(rows.values_list("grade", flat=True)) == [3, 1, 0, 2]
    export_folder(Dataset.objects.get(), tmp_path / "out")
    empty_database()
    Rubric.objects.filter(slug="faults").delete()
    import_dataset(tmp_path / "out", "small")
    assert Rubric.objects.get(slug="faults").is_multi_label
    export_folder(Dataset.objects.get(), tmp_path / "again")
    assert contents(tmp_path / "again") == contents(tmp_path / "out")


@pytest.mark.parametrize(
    ("rubric", "grade", "message"),
    [
        ("faults", 4, "4 is no grade of the rubric faults (0 or a sum of 1 incomplete, 2 false)"),
        ("faults", ["wrong"], "'wrong' is no label of the rubric faults"),
        ("faults", [1], "a list of labels holds strings alone"),
        ("tone", ["dry"], "is a list, and the rubric tone takes one grade for each pair"),
    ],
)
def test_labels_that_are_not_there_are_refused(tmp_path, rubric, grade, message):
    line = {**FAULTS_PAIR, "rubric": rubric, "grade": grade}
    (problem,) = import_problems(write(tmp_path, labels(line, rubrics=[TONE, FAULTS])))
    assert message in problem.message
    assert (problem.line, problem.field) == (1, "grade")
