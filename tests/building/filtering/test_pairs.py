"""Questions kept by their critiques: what goes and why, on the page and by the command."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from annotation.models import Dataset, Membership, Rater, Rating, Rubric, SubQuestion
from crux_site.imports.importing import import_dataset
from tests.toolbox.foreign_files import write
from tests.toolbox.html_tables import tables
from tests.toolbox.responses import markup

FILTER = "/datasets/mill/building/filter-pairs/"
# Who, and the two critiques: of the last one a model gave no valid rating.
PAIRS = {
    "Who mended the wheel?": (5, 4),
    "What of it?": (2, 4),
    "Is it so?": (1, 2),
    "When did it turn?": (None, 4),
}
KEEP = "stand_alone >= 4 and q_usefulness >= 3"


@pytest.fixture
def mill(db, tmp_path) -> Dataset:
    lines = [
        {
            "context": "Ottilie Marsh mended the wheel.",
            "question": question,
            "qac_id": f"p{number}",
            "critiques": {
                "stand_alone": {"rating": stand_alone},
                "q_usefulness": {"rating": useful},
            },
        }
        for number, (question, (stand_alone, useful)) in enumerate(PAIRS.items())
    ]
    import_dataset(write(tmp_path, {"pairs.jsonl": lines}), "mill", form="qac")
    return Dataset.objects.get()


def because() -> list[str]:
    ordered = SubQuestion.objects.order_by("topic__position")
    return list(ordered.values_list("filtered_because", flat=True))


def test_proposal_that_changed_since_the_page_was_opened_is_shown_again(cast, mill):
    admin = cast.client("admin")
    version = admin.get(FILTER, {"keep": KEEP}).context["found"].version
    SubQuestion.objects.filter(body__startswith="Is it so").update(filtered_because="asked twice")
    response = admin.post(FILTER, {"keep": KEEP, "version": version})
    assert response.status_code == 422
    assert "No questions were filtered: grades or questions have changed" in markup(response)
    assert because() == ["", "", "asked twice", ""]
    assert f'name="version" value="{response.context["found"].version}"' in markup(response)


def test_look_says_what_goes_and_why(cast, mill):
    assert f"{FILTER}" in markup(cast.client("admin").get(FILTER.replace("-pairs", "")))
    page = cast.client("researcher").get(FILTER, {"keep": KEEP})
    assert tables(page)["What goes"] == [
        ["What of it? p1", "2", "4", "stand_alone by critic is 2, below 4"],
        [
            *("Is it so? p2", "1", "2"),
            "stand_alone by critic is 1, below 4; q_usefulness by critic is 2, below 3",
        ],
    ]
    assert "2 of 4 questions would be filtered" in markup(page)
    assert "Without a grade: 1, which stay" in markup(page)
    assert "Exclude questions" not in markup(page)
    assert because() == [""] * 4
    second_page = cast.client("admin").get(FILTER, {"keep": KEEP, "missing": "go"})
    assert tables(second_page)["What goes"][-1][-1] == "stand_alone by critic is missing"


def test_admin_leaves_them_out_with_the_reason(cast, mill):
    response = cast.client("admin").post(FILTER, {"keep": KEEP, "missing": "go"}, follow=True)
    assert "Questions filtered: 3." in markup(response)
    assert because() == [
        "",
        "stand_alone by critic is 2, below 4",
        "stand_alone by critic is 1, below 4; q_usefulness by critic is 2, below 3",
        "stand_alone by critic is missing",
    ]
    assert Rating.objects.filter(question__topic__name="p1").count() == 2  # grades stay
    for user in ("researcher", "worker"):
        assert cast.client(user).post(FILTER, {"keep": KEEP}).status_code == 403
    Membership.objects.filter(user=cast.researcher).update(role="owner")
    assert cast.client("researcher").post(FILTER, {"keep": KEEP}).status_code == 302


def test_command_has_the_same(mill):
    def output(*options: str) -> str:
        out = StringIO()
        call_command("filter_questions", "mill", *options, stdout=out)
        return out.getvalue()

    assert "p1: What of it? (stand_alone by critic is 2, below 4)" in output("--keep", KEEP)
    payload = json.loads(output("--keep", "stand_alone:critic <= 2", "--json", "--apply"))
    assert (payload["proposed"], payload["lacking"], payload["left_out"]) == (1, 1, 1)
    assert payload["questions"][0] == {
        "topic": "p0",
        "question": "Who mended the wheel?",
        "grades": {"stand_alone <= 2": 5},
        "because": "stand_alone by critic is 5, above 2",
    }
    assert because()[0].startswith("stand_alone by critic is 5")
    with pytest.raises(CommandError, match="Say whose grades count"):
        output()


def test_several_graders_are_told_apart(cast, mill):
    rating = Rating.objects.get(question__topic__name="p0", rubric__slug="critique-stand_alone")
    ann = Rater.objects.create(dataset=mill, name="ann", kind="human")
    Rating.objects.create(
        rater=ann, rubric=rating.rubric, text=rating.text, question=rating.question, grade=1
    )
    response = cast.client("admin").get(FILTER, {"keep": "stand_alone >= 4"})
    assert response.status_code == 422
    assert "There are: stand_alone:ann, stand_alone:critic." in markup(response)
    page = cast.client("admin").get(FILTER, {"keep": "critique-stand_alone:ann >= 4"})
    assert [row[0] for row in tables(page)["What goes"]] == ["Who mended the wheel? p0"]


@pytest.mark.parametrize(
    ("keep", "message"),
    [
        ("stand_alone", "“stand_alone” is not a condition"),
        ("stand_alone > 4", "is not a condition"),
        ("stand_alone >= 4 and", "“” is not a condition"),
        ("tone >= 4", "no grade of this dataset called “tone”. There are: q_usefulness"),
        ("stand_alone:bob >= 4", "no rater of stand_alone, called “bob”. There are: critic."),
        ("<script> >= 4", "is not a condition"),
    ],
)
@pytest.mark.parametrize("method", ["get", "post"])
def test_invalid_condition_is_reported(cast, mill, method, keep, message):
    response = getattr(cast.client("admin"), method)(FILTER, {"keep": keep})
    assert response.status_code == 422
    assert message in markup(response)
    assert "<script>" not in response.content.decode().split("<main")[1]
    assert because() == [""] * 4


def test_dataset_without_grades_is_reported(cast, dataset):
    page = cast.client("admin").get(f"/datasets/{dataset.slug}/building/filter-pairs/")
    assert "This dataset has no grades under a rubric with ordered grades" in markup(page)
    refused = cast.client("admin").post(f"/datasets/{dataset.slug}/building/filter-pairs/")
    assert refused.status_code == 422
    wrong = {"keep": KEEP, "missing": "maybe"}
    assert cast.client("admin").get(FILTER.replace("mill", "nope"), wrong).status_code == 404
    assert Rubric.objects.filter(slug="critique-stand_alone").count() == 0


def test_access_depends_on_the_role(cast, mill):
    for user, status in {"admin": 200, "researcher": 200, "worker": 403, "stranger": 302}.items():
        assert cast.client(user).get(FILTER).status_code == status
    assert cast.client("admin").delete(FILTER).status_code == 405


def test_raters_are_called_anything_without_white_space(cast, mill):
    for name in ("llama3.3", "org/this-and-that"):
        Rater.objects.filter(kind="model").update(name=name)
        page = cast.client("researcher").get(FILTER, {"keep": f"stand_alone:{name} >= 4"})
        assert (page.status_code, len(tables(page)["What goes"])) == (200, 2)
