"""Origin of the text of a pair, and marks on judges of its writer's family."""

import pytest

from annotation.models import Rater
from annotation.origins import origin
from tests.toolbox.judging_runs import a_judge
from tests.toolbox.responses import text_of_page


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


def page(client, study) -> str:
    return text_of_page(client.get(study.pair_url(study.oracle, 1)))


def set_origins(row, *origins):
    type(row).objects.filter(pk=row.pk).update(origins=list(origins))


def test_unknown_origin_is_called_unknown(rosa, study):
    assert "Origin of the text: unknown" in page(rosa, study)


def test_page_names_the_models_of_text_and_question(rosa, study):
    set_origins(study.oracle, origin("wrote", "gpt-4o", "2024-08-06"))
    set_origins(study.questions[0], origin("asked", "Qwen/Qwen3-8B"))
    displayed = page(rosa, study)
    assert "written by gpt-4o, revision 2024-08-06 (family openai-gpt)" in displayed
    assert "Of the sub-question: question made by Qwen/Qwen3-8B (family qwen)" in displayed
    assert "of one family" not in displayed


@pytest.mark.parametrize("role", ["wrote", "reranked"])
def test_judge_from_a_file_is_marked_by_its_name(rosa, study, role):
    Rater.objects.filter(pk=study.judge.pk).update(name="llama33_70b")
    set_origins(study.oracle, origin(role, "meta-llama/Llama-3.1-8B"))
    noun = {"wrote": "writer", "reranked": "reranker"}[role]
    assert f"llama33_70b: judge and {noun} are of one family (llama)" in page(rosa, study)


def test_people_of_such_a_name_are_not_marked(rosa, study):
    Rater.objects.filter(pk=study.ann.pk).update(name="llama")
    set_origins(study.oracle, origin("wrote", "llama-3"))
    assert "of one family" not in page(rosa, study)


def test_judge_of_this_site_is_marked_by_its_model_or_the_family_by_hand(cast, study):
    judge = a_judge("tiny-judge", model="team-7")
    study.rating(study.judge, study.oracle, 1)
    type(study.judge).objects.filter(pk=study.judge.pk).update(name="spare")
    study.judge.ratings.update(rater=judge.rater)
    set_origins(study.oracle, origin("wrote", "gpt-4o"))
    admin = cast.client("admin")
    assert "of one family" not in page(admin, study)
    admin.post(f"/judges/{judge.pk}/", {"family_override": "openai-gpt"})
    marked = "tiny-judge: judge and writer are of one family (openai-gpt)"
    assert marked in page(admin, study)
