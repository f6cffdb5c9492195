"""Groups of questions in subquestions.jsonl, and the whole request as a question."""

import pytest

from annotation.models import Dataset, Rater, Rating, Rubric, SubQuestion, Text
from crux_site.imports.importing import DatasetImportError, import_dataset
from evaluation.scoring.options import ScoringQuery
from evaluation.scoring.score import score
from tests.toolbox.foreign_files import write

pytestmark = pytest.mark.django_db
TOPIC = {"id": "t-1", "request": "What of the mill?"}
LINE = {"id": "t-1", "subquestions": ["Who mended it?", "When?"], "groups": ["People", ""]}


def read(folder, line, **files):
    lines = {"topics.jsonl": [TOPIC], "subquestions.jsonl": [line], **files}
    return import_dataset(write(folder, lines), "mill")


def groups() -> list[str]:
    return list(SubQuestion.objects.order_by("position").values_list("group", flat=True))


def test_groups_are_kept_and_a_file_without_them_says_nothing_of_them(tmp_path):
    read(tmp_path, LINE)
    assert groups() == ["People", ""]
    ungrouped = {key: value for key, value in LINE.items() if key != "groups"}
    for line in (LINE, ungrouped):
        assert not read(tmp_path, line).changed
    assert groups() == ["People", ""]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (["People"], "subquestions.jsonl:1: groups: one for each of the 2 questions, not 1"),
        (["p" * 251, ""], "subquestions.jsonl:1: groups.0: Value should have at most 250"),
        (["Times", ""], "subquestions.jsonl:1: groups.0: is there already in the group"),
    ],
)
def test_other_groups_are_refused(tmp_path, wrong, message):
    read(tmp_path, LINE)
    with pytest.raises(DatasetImportError) as raised:
        read(tmp_path, {**LINE, "groups": wrong})
    assert str(raised.value.problems[0]).startswith(message)
    assert groups() == ["People", ""]


def test_whole_request_is_excluded_from_coverage(tmp_path):
    """Also where a judge has graded it: by its sub-questions a topic is covered or not."""
    passages = [{"id": "t-1:0", "contents": "Marsh mended it."}]
    read(tmp_path, LINE, **{"passages.jsonl": passages})
    import_dataset(
        write(tmp_path / "qrels", {"some.qrels": ["t-1 0 t-1:0 1"]}), "mill", form="trec-rag"
    )
    dataset = Dataset.objects.get()
    rater = Rater.objects.create(dataset=dataset, name="judge", kind="model")
    graded, text = Rubric.objects.get(slug="graded"), Text.objects.get(name="t-1:0")
    first, second, whole = SubQuestion.objects.order_by("position")
    grades = [(text.pk, first.pk, 0), (text.pk, second.pk, 5), (text.pk, whole.pk, 5)]
    Rating.objects.add(rater.pk, graded.pk, grades)
    scores = score(dataset, ScoringQuery(dataset, {}).options)
    (pool,) = scores.pools.values()
    assert (whole.filtered_because, len(pool.questions), pool.answerable) == (
        SubQuestion.WHOLE, 2, (1,),
    )  # fmt: skip
