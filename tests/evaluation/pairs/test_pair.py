"""datasets/<slug>/pairs/<text>/<question>/"""

import html
import json
import re
from urllib.parse import urlencode

import pytest
from django.urls import reverse

from annotation.models import Rater, Rating, Rubric
from tests.toolbox.factories import REPORT, make_dataset
from tests.toolbox.responses import markup, text_of_page


@pytest.fixture
def rosa(cast):
    return cast.client("researcher")


@pytest.mark.parametrize("account", ["admin", "researcher"])
def test_researchers_and_admins_see_it(cast, study, account):
    response = cast.client(account).get(study.pair_url(study.oracle, 1))
    assert response.status_code == 200
    assert "What failed on the Halden?" in text_of_page(response)


def test_worker_is_refused(cast, study):
    assert cast.client("worker").get(study.pair_url(study.oracle, 1)).status_code == 403


def test_stranger_is_sent_to_the_login(cast, study):
    response = cast.client("stranger").get(study.pair_url(study.oracle, 1))
    assert response["Location"].startswith(reverse("login"))


def test_page_refuses_post(rosa, study):
    assert rosa.post(study.pair_url(study.oracle, 1)).status_code == 405


def test_unknown_text_or_question_is_404(rosa, study):
    question = study.questions[0].pk
    assert rosa.get(study.url(f"pairs/999999/{question}")).status_code == 404
    assert rosa.get(study.url(f"pairs/{study.oracle.pk}/999999")).status_code == 404
    foreign_text = make_dataset("train").texts.first()
    assert rosa.get(study.url(f"pairs/{foreign_text.pk}/{question}")).status_code == 404


def test_wrong_filter(rosa, study):
    assert rosa.get(study.pair_url(study.oracle, 1, "kind=nope")).status_code == 400


def test_everybodys_spans_for_the_script(rosa, study):
    page = rosa.get(study.pair_url(study.oracle, 1)).content.decode()
    data = json.loads(re.search(r'<script id="spans"[^>]*>(.*?)</script>', page).group(1))
    assert [(span["label"], REPORT[span["start"] : span["end"]]) for span in data] == [
        ("A", "Halden lost steering"),
        ("B", "lost steering off the breakwater"),
    ]
    assert [span["mark"] for span in data] == [1, 2]


def test_everybodys_spans_without_a_script(rosa, study):
    page = rosa.get(study.pair_url(study.oracle, 1)).content.decode()
    assert re.search(r"<mark[^>]*>Halden </mark>", page)
    body = re.search(r'id="text"[^>]*>(.*?)</div>', page, re.DOTALL).group(1)
    assert html.unescape(re.sub(r"<[^>]+>", "", body)) == REPORT


def test_grades_of_all_and_the_judges_beside_them(rosa, study):
    page_text = text_of_page(rosa.get(study.pair_url(study.bm25, 2)))
    assert "A ann 0 not answerable" in page_text
    assert "B ben 0 not answerable" in page_text
    assert "J judge 4 answerable" in page_text


def test_raters_without_a_grade_are_named(rosa, study):
    page_text = text_of_page(rosa.get(study.pair_url(study.bm25, 3)))
    assert "J judge no grade" in page_text


def test_highlights_not_in_the_text_are_listed(rosa, study):
    response = rosa.get(study.pair_url(study.bm25, 3))
    assert "ben, not in the text: “a coupling, it says &lt;somewhere&gt;”" in text_of_page(response)


def test_overlap_of_highlights(rosa, study):
    # "Halden lost steering" and "lost steering off the breakwater": 13 characters in common
    # ("lost steering"), 20 + 32 - 13 in all.
    assert "0.33" in text_of_page(rosa.get(study.pair_url(study.oracle, 1)))
    assert "A ann and B ben apart" in text_of_page(rosa.get(study.pair_url(study.bm25, 1)))


def test_others_than_the_chosen_raters_are_shown_too(rosa, study):
    page_text = text_of_page(rosa.get(study.pair_url(study.oracle, 1, "raters=ann")))
    assert "B ben 1 answerable" in page_text


def test_previous_and_next_follow_the_filter(rosa, study):
    # cell=fn: bm25 1 and oracle 2, in this order.
    page = markup(rosa.get(study.pair_url(study.bm25, 1, "cell=fn")))
    following = re.search(r'rel="next"[^>]*href="([^"]+)"', page).group(1)
    assert following.startswith(study.pair_url(study.oracle, 2))
    assert "cell=fn" in following
    assert 'rel="prev"' not in page
    last = markup(rosa.get(html.unescape(following)))
    assert 'rel="next"' not in last
    assert f'rel="prev" aria-keyshortcuts="k" href="{study.pair_url(study.bm25, 1)}' in last
    assert "2 of 2" in text_of_page(rosa.get(html.unescape(following)))


def test_change_of_judge_and_eta_keeps_pair_and_list(rosa, study):
    page = markup(rosa.get(study.pair_url(study.oracle, 2, "kind=differ&words=hurt&judge=judge")))
    form = re.search(r'<form class="row choose".*?</form>', page, re.DOTALL)[0]
    assert re.findall(r'<select name="(\w+)"', form)[:3] == ["rubric", "judge", "eta"]
    assert re.search(r'<option value="judge"\s+selected', form)
    hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="(\w*)"', form))
    assert hidden == {
        "of_rubric": "answerable",
        "of_campaign": "",
        "kind": "differ",
        "words": "hurt",
    }
    sent = {**hidden, "raters": "ann,ben", "rubric": "answerable", "judge": "judge", "eta": "5"}
    page_text = text_of_page(rosa.get(study.pair_url(study.oracle, 2, urlencode(sent))))
    assert "ann, ben · judge, η = 5 · 2 ratings" in page_text
    assert "1 of 1 · ferry-1 · report ferry-1 of annotated.oracle" in page_text


def test_choice_that_the_list_is_none_of_leads_to_all_pairs(rosa, study):
    against = "cell=fn&of_rubric=answerable&of_campaign=&rubric=answerable&judge="
    response = rosa.get(study.pair_url(study.oracle, 2, against))
    assert response.status_code == 200
    assert "6 pairs: all pairs" in text_of_page(response)
    # A link that asks for both is wrong.
    assert rosa.get(study.pair_url(study.oracle, 2, "cell=fn&judge=")).status_code == 400


def test_keys_go_on_through_all_pages_of_the_list(rosa, study, monkeypatch):
    monkeypatch.setattr("evaluation.pairs.views.PER_PAGE", 1)
    order = [row.key for row, _ in rosa.get(study.url("disagreements")).context["rows"]]
    (index,) = order
    while index:
        page = rosa.get(study.url(f"pairs/{index[0]}/{index[1]}"))
        assert f"{len(order)} of 6" in text_of_page(page)
        assert page.context["list_page"] == len(order)
        index = page.context["next"]
        order += [index] if index else []
    assert len(set(order)) == 6


def test_keyboard_shortcuts_are_listed(rosa, study):
    page_text = text_of_page(rosa.get(study.pair_url(study.bm25, 1, "kind=differ")))
    assert (
        "j k next, previous pair of the whole list, as it is filtered: grades differ" in page_text
    )


def test_sentences_that_one_marked_and_another_did_not(rosa, study):
    # ann marks the first sentence of bm25 1 and ben the third; the second nobody.
    response = rosa.get(study.pair_url(study.bm25, 1))
    divided = [
        (
            sentence.number,
            [voice.rater.name for voice in by],
            [voice.rater.name for voice in not_by],
        )
        for sentence, by, not_by in response.context["divided"]
    ]
    assert divided == [(1, ["ann"], ["ben"]), (3, ["ben"], ["ann"])]
    assert 'href="#sentence-1">The car ferry Halden' in response.content.decode()
    # Of oracle 2 one said no, and marked nothing; of oracle 3 nobody marked anything.
    assert "Nobody marked words in the text" in text_of_page(
        rosa.get(study.pair_url(study.oracle, 3))
    )
    # Both mark the first sentence of oracle 1.
    page_text = text_of_page(rosa.get(study.pair_url(study.oracle, 1)))
    assert "All raters with an answer marked the same sentences." in page_text


def test_pair_that_the_filter_leaves_out(rosa, study):
    response = rosa.get(study.pair_url(study.oracle, 1, "cell=fn"))
    assert response.status_code == 200
    assert "Not among the 2 listed" in text_of_page(response)
    assert 'rel="next"' not in response.content.decode()


def test_text_without_words(rosa, study):
    text = study.dataset.texts.get(body=None)
    Rating.objects.create(
        rater=study.ann,
        rubric=Rubric.objects.get(slug="graded"),
        text=text,
        question=study.questions[0],
        grade=2,
    )
    page_text = text_of_page(rosa.get(study.pair_url(text, 1, "rubric=graded")))
    assert "The dataset does not contain this text" in page_text


def test_pair_without_ratings(rosa, study):
    response = rosa.get(study.pair_url(study.oracle, 4))
    assert response.status_code == 200
    assert "A ann no grade" in text_of_page(response)


def test_queries_do_not_grow_with_the_raters(rosa, study, django_assert_max_num_queries):
    # As the list; and the text, the question, the ratings of the pair, their spans and its notes.
    with django_assert_max_num_queries(33):
        rosa.get(study.pair_url(study.oracle, 1))
    for number in range(9):
        rater = Rater.objects.create(dataset=study.dataset, name=f"more{number}", kind="human")
        Rating.objects.create(
            rater=rater,
            rubric=Rubric.objects.get(slug="answerable"),
            text=study.oracle,
            question=study.questions[0],
            grade=1,
        )
    with django_assert_max_num_queries(33):
        page_text = text_of_page(rosa.get(study.pair_url(study.oracle, 1)))
    # Letters go on past the marks, and J stays the judge's.
    assert "K more7 1 answerable" in page_text
