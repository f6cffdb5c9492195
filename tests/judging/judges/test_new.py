"""Creation of a judge in the browser: fill in, preview, probe, save; and errors."""

import json

import pytest

from annotation.models import Rater, Rubric
from annotation.models.standard import STANDARD, add_standard
from judging.grading import prompts
from judging.models import Judge
from tests.judging.judges.judge_form import NEW_JUDGE_URL, judge_form_data
from tests.toolbox.judging_runs import a_judge
from tests.toolbox.responses import markup
from tests.toolbox.scripted_server import MODEL, ScriptedServer, as_json, completion


def saved(cast, **change):
    return cast.client("admin").post(NEW_JUDGE_URL, judge_form_data(**change) | {"save": "1"})


def test_judge_is_made_with_the_words_as_they_were_typed(cast, db):
    prompt = "Read.\r\n\r\n{text}\r\n{question} {grades}\r\n{rubric}"
    response = saved(cast, prompt=prompt, revision="abc", label_ids="15, 16 17,18,19 20")
    judge = Judge.objects.get()
    assert response.url == f"/judges/{judge.pk}/"
    assert (judge.slug, judge.rater.kind, judge.created_by) == ("mine", "model", cast.admin)
    assert judge.prompt == "Read.\n\n{text}\n{question} {grades}\n{rubric}"
    assert judge.prompt_name == "own words"
    assert judge.wording.startswith("5: ")
    assert judge.label_ids == [15, 16, 17, 18, 19, 20]
    assert judge.sampling == {
        "temperature": 0.0,
        "top_p": 1.0,
        "max_tokens": 1,
        "seed": 0,
        "logprobs": True,
        "extra": {},
    }


def test_shipped_prompt_keeps_its_name(cast, db):
    file = prompts.load("question-first")
    saved(cast, system=file.system.replace("\n", "\r\n"), prompt=file.prompt.replace("\n", "\r\n"))
    judge = Judge.objects.get()
    assert (judge.prompt_name, judge.prompt) == ("question-first", file.prompt)


def test_empty_seed_and_further_settings_are_stored(cast, db):
    sent = judge_form_data(
        seed="", extra='{"chat_template_kwargs": {"enable_thinking": false}}', save="1"
    )
    del sent["logprobs"]
    cast.client("admin").post(NEW_JUDGE_URL, sent)
    sampling = Judge.objects.get().spec.sampling
    assert (sampling.seed, sampling.logprobs) == (None, False)
    assert sampling.extra == {"chat_template_kwargs": {"enable_thinking": False}}


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"slug": ""}, "required"),
        ({"slug": "no slug!"}, "valid"),
        ({"slug": "x" * 121}, "at most 120"),
        ({"parser": "word-1"}, "is a single word"),
        ({"parser": "label-json-1"}, "is a single word"),
        ({"slug": "lexical-2"}, "reserved for baselines"),
        ({"rubric": "nowhere"}, "valid choice"),
        ({"backend": "lexical"}, "valid choice"),
        ({"model": ""}, "required"),
        ({"prompt": ""}, "required"),
        ({"prompt": "no places"}, "{question}"),
        ({"prompt": "{text} {question} {replies}"}, "{replies} is not a placeholder"),
        ({"parser": "none-1"}, "valid choice"),
        ({"temperature": "hot"}, "Enter a number"),
        ({"temperature": "-1"}, "greater than or equal to 0"),
        ({"temperature": "nan"}, "Enter a number"),
        ({"top_p": "2"}, "less than or equal to 1"),
        ({"max_tokens": "0"}, "greater than or equal to 1"),
        ({"seed": "99999999999999999999"}, "less than or equal"),
        ({"label_ids": "1, 2"}, "has 6 grades, and you entered 2 ids"),
        ({"label_ids": "one"}, "is not a token id"),
        ({"extra": "{"}, "not valid JSON"),
        ({"extra": "[1]"}, "not an object"),
        ({"extra": '{"a": NaN}'}, "not valid JSON"),
        ({"extra": '{"a": "\\u0000"}'}, "NUL"),
        ({"extra": "[" * 100_000}, "not valid JSON"),
        ({"prompt": "{text}{question}\x00"}, "Null characters"),
        ({"endpoint": "http://evil.example/v1"}, "valid choice"),
    ],
)
def test_invalid_field_has_an_error_and_creates_nothing(cast, db, change, message):
    response = saved(cast, **change)
    page = response.content.decode()
    assert response.status_code == 422
    assert message in page
    (name,) = change
    assert f'id="id_{name}_error"' in page
    assert page.index("autofocus") > page.index(f'for="id_{name}"')
    assert page.count(" autofocus") == 1
    assert 'aria-invalid="true"' in page
    assert not Judge.objects.exists()
    assert not Rater.objects.filter(name="mine").exists()


def test_text_of_another_rubric_is_refused(cast, db):
    page = (
        cast.client("admin")
        .post(NEW_JUDGE_URL, judge_form_data(rubric="answerable", words="1"))
        .content.decode()
    )
    answerable = "1: " + page.split("1: ", 1)[1].split("</textarea>")[0].replace("&#x27;", "'")
    response = saved(cast, wording=answerable)
    assert response.status_code == 422
    assert "This is the wording of" in response.content.decode()


def test_prompt_shows_what_its_rubric_shows(cast, db):
    for slug in ("critique-stand_alone", "critique-qa_tautology", "importance"):
        add_standard(STANDARD[slug])
    standalone = {"prompt": "{question}\n{rubric}\n{grades}", "rubric": "critique-stand_alone"}
    assert saved(cast, **standalone).status_code == 302  # needs no text
    assert "does not show the text" in markup(saved(cast, **standalone | {"rubric": "graded"}))
    page = markup(saved(cast, **standalone | {"rubric": "importance"}))
    assert "The prompt does not show the request: it needs {request}." in page
    page = markup(saved(cast, **standalone | {"rubric": "critique-qa_tautology"}))
    assert "The prompt does not show the answer: it needs {answer}." in page
    tautology = standalone | {
        "rubric": "critique-qa_tautology",
        "prompt": "{question} {answer} {rubric}",
    }
    assert saved(cast, **tautology, slug="tautology", model="m2").status_code == 302
    assert Judge.objects.count() == 2


def test_judge_knows_the_levels_by_their_one_word(cast, db):
    add_standard(STANDARD["nugget-support"])
    page = markup(cast.client("admin").get(NEW_JUDGE_URL + "?rubric=nugget-support"))
    assert "1: partial_support (It says part of it)" in page
    saved(cast, rubric="nugget-support", parser="word-1", max_tokens="8")
    judge = Judge.objects.get()
    assert judge.levels == [[0, "not_support"], [1, "partial_support"], [2, "support"]]
    assert judge.spec.words["partial_support"] == 1


def test_retired_rubric_takes_no_new_judge(cast, db):
    Rubric.objects.filter(slug="graded").update(is_retired=True)
    assert cast.client("admin").get(NEW_JUDGE_URL + "?rubric=graded").status_code == 404
    assert "valid choice" in markup(saved(cast))


def test_same_judge_again_names_the_first_and_leads_to_it(cast, db):
    saved(cast)
    first = Judge.objects.get()
    response = saved(cast, slug="another")
    page = response.content.decode()
    assert response.status_code == 422
    assert "The judge mine has exactly the same settings." in page
    assert f'<a href="/judges/{first.pk}/">Open mine</a>' in page
    assert Judge.objects.count() == 1


def test_name_that_is_taken_is_said_at_its_field(cast, db):
    saved(cast)
    page = saved(cast, model="other").content.decode()
    assert "The name mine is taken" in page
    assert 'id="id_slug_error"' in page


def test_copy_begins_with_all_but_the_name(cast, db):
    judge = a_judge(sampling={"max_tokens": 5, "seed": None, "extra": {"top_k": 1}})
    page = cast.client("admin").get(f"{NEW_JUDGE_URL}?from={judge.pk}").content.decode()
    assert 'value="15, 16, 17, 18, 19, 20"' in page
    assert judge.revision in page
    assert "{&quot;top_k&quot;: 1}" in page
    assert 'value="tiny-judge"' not in page
    # Saved unchanged it is the same judge, whatever its name.
    sent = judge_form_data(
        wording=judge.wording,
        revision=judge.revision,
        label_ids="15,16,17,18,19,20",
        max_tokens="5",
        seed="",
        extra=json.dumps({"top_k": 1}),
    )
    assert (
        "The judge tiny-judge has exactly the same settings."
        in saved(cast, **sent).content.decode()
    )


def test_buttons_fill_in_and_lose_nothing(cast, dataset):
    client = cast.client("admin")
    begun = judge_form_data(
        slug="half", model="", temperature="hot", prompt="my own", wording="5: mine"
    )
    page = client.post(NEW_JUDGE_URL, begun | {"load": "1", "prompt_file": "evidence-text-first"})
    assert page.status_code == 200
    html = page.content.decode()
    assert "How much of the question does the text answer?" in html
    assert "my own" not in html
    for fragment in ('value="half"', 'value="hot"', "5: mine", 'value="300"'):
        assert fragment in html
    assert 'id="id_model_error"' not in html
    html = client.post(NEW_JUDGE_URL, begun | {"words": "1"}).content.decode()
    assert "my own" in html
    assert "5: mine" not in html
    assert not Judge.objects.exists()


def test_look_shows_the_messages_and_what_is_wrong_with_them(cast, dataset):
    sent = judge_form_data(prompt="Q {question} {nothing}", system="", look="1", question="3")
    page = cast.client("admin").post(NEW_JUDGE_URL, sent).content.decode()
    assert "Q Who was prosecuted? {nothing}</pre>" in page
    assert "{nothing} is not a placeholder" in page
    assert "Message of the system" not in page
    assert not Judge.objects.exists()


def test_server_that_answers_fills_in_what_can_be_pinned(cast, db, settings):
    with ScriptedServer() as server:
        settings.JUDGE_ENDPOINTS = {"local": server.url}
        sent = judge_form_data(model="", endpoint="local", ask="1")
        page = cast.client("admin").post(NEW_JUDGE_URL, sent).content.decode()
        assert f"serves {MODEL}" in page
        sent = judge_form_data(model=MODEL, endpoint="local", ask="1")
        page = cast.client("admin").post(NEW_JUDGE_URL, sent).content.decode()
    assert 'value="15, 16, 17, 18, 19, 20"' in page
    assert "2,048 tokens" in page
    assert 'name="template_hash" value="' in page
    assert "write it down yourself" in page
    assert "my-secret" not in page


QUESTION = "Does the text answer the question? Reply with a grade."
DEPLOYED = as_json(completion("4") | {"model": "gpt-4o-2024-08-06"})


def test_name_in_the_replies_is_filled_in_and_makes_another_judge(cast, db, settings):
    with ScriptedServer() as server:
        settings.JUDGE_ENDPOINTS = {"local": server.url}
        server.script(QUESTION, DEPLOYED)
        sent = judge_form_data(model="judge-prod", endpoint="local", ask="1")
        page = cast.client("admin").post(NEW_JUDGE_URL, sent).content.decode()
        # What is a name of the same model is no field.
        sent = judge_form_data(model="gpt-4o", endpoint="local", ask="1")
        same = cast.client("admin").post(NEW_JUDGE_URL, sent).content.decode()
    assert 'name="reply_model" value="gpt-4o-2024-08-06"' in page
    assert "The model in its replies is gpt-4o-2024-08-06." in page
    assert "and not judge-prod. It is asked all the same." in page
    assert "gpt-4o-2024-08-06" not in same
    renamed = {"model": "judge-prod", "reply_model": "gpt-4o-2024-08-06"}
    for slug, change in {"plain": {"model": "judge-prod"}, "named": renamed}.items():
        assert (
            cast.client("admin")
            .post(NEW_JUDGE_URL, judge_form_data(slug=slug, save="1", **change))
            .status_code
            == 302
        )
    plain, created = (Judge.objects.get(rater__name=name) for name in ("plain", "named"))
    assert (plain.reply_model, created.reply_model) == ("", "gpt-4o-2024-08-06")
    assert plain.fingerprint != created.fingerprint
    page = cast.client("admin").get(f"/judges/{created.pk}/").content.decode()
    assert "<dd>gpt-4o-2024-08-06</dd>" in page
    copy = cast.client("admin").get(f"{NEW_JUDGE_URL}?from={created.pk}").content.decode()
    assert 'name="reply_model" value="gpt-4o-2024-08-06"' in copy


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"reply_model": "x" * 251}, "at most 250 characters"),
        ({"reply_model": "x", "backend": "vllm", "endpoint": ""}, "have no model name"),
        ({"extra": '{"stream": true}'}, "Streamed replies are not supported"),
    ],
)
def test_impossible_reply_settings_are_refused(cast, db, change, message):
    response = cast.client("admin").post(NEW_JUDGE_URL, judge_form_data(save="1", **change))
    assert response.status_code == 422
    assert message in response.content.decode()
    assert not Judge.objects.exists()


def test_name_in_the_replies_that_is_the_models_own_makes_no_other_judge(cast, db):
    cast.client("admin").post(
        NEW_JUDGE_URL, judge_form_data(save="1", model="Tiny", reply_model="tiny")
    )
    assert Judge.objects.get().reply_model == ""


def test_server_that_does_not_answer_is_a_sentence(cast, db, settings):
    settings.JUDGE_ENDPOINTS = {"local": "http://127.0.0.1:9/v1"}
    sent = judge_form_data(slug="kept", endpoint="local", ask="1")
    response = cast.client("admin").post(NEW_JUDGE_URL, sent)
    page = response.content.decode()
    assert response.status_code == 200
    assert "does not answer" in page
    assert 'value="kept"' in page


@pytest.mark.parametrize("endpoint", ["", "other", "http://127.0.0.1:9/v1"])
def test_only_a_server_of_ours_is_asked(cast, db, settings, endpoint):
    settings.JUDGE_ENDPOINTS = {"local": "http://127.0.0.1:9/v1"}
    page = (
        cast.client("admin")
        .post(NEW_JUDGE_URL, judge_form_data(endpoint=endpoint, ask="1"))
        .content.decode()
    )
    assert "Choose a server." in page
    settings.JUDGE_ENDPOINTS = {}
    page = (
        cast.client("admin")
        .post(NEW_JUDGE_URL, judge_form_data(endpoint=endpoint, ask="1"))
        .content.decode()
    )
    assert "This site has no server." in page


def test_settings_that_cannot_be_read_are_not_sent_to_a_server(cast, db, settings):
    settings.JUDGE_ENDPOINTS = {"local": "http://127.0.0.1:9/v1"}
    response = cast.client("admin").post(
        NEW_JUDGE_URL, judge_form_data(endpoint="local", extra="{", ask="1")
    )
    assert response.status_code == 200
    assert "not valid JSON" in response.content.decode()


def pressed(cast, button, **change):
    return cast.client("admin").post(NEW_JUDGE_URL, judge_form_data(**change) | {button: "1"})


def test_kind_of_server_puts_in_what_it_takes(cast, db):
    response = pressed(cast, "family", preset="openai-reasoning", max_tokens="1")
    initial = response.context["form"].initial
    assert json.loads(initial["extra"]) == {
        "temperature": None,
        "top_p": None,
        "max_tokens": None,
        "max_completion_tokens": 8000,
    }
    assert (initial["max_tokens"], initial["seed"], initial["logprobs"]) == (8000, None, False)
    assert (initial["slug"], initial["parser"]) == ("mine", "integer-1")
    assert "no temperature or top p" in response.text
    thinks = pressed(cast, "family", preset="vllm-think").context["form"].initial
    assert thinks["parser"] == "after-think-1"
    assert pressed(cast, "family", preset="unheard-of").status_code == 200


def test_form_of_the_reply_goes_among_the_settings_and_takes_the_place_of_another(cast, db):
    first = pressed(cast, "hold", constraint="choice", extra='{"stop": ["x"]}')
    extra = first.context["form"].initial["extra"]
    choice = {"choice": ["0", "1", "2", "3", "4", "5"]}
    assert json.loads(extra) == {"stop": ["x"], "structured_outputs": choice}
    second = pressed(cast, "hold", constraint="json-schema", extra=extra)
    initial = second.context["form"].initial
    assert set(json.loads(initial["extra"])) == {"stop", "response_format"}
    assert initial["parser"] == "rating-json-2"
    none = pressed(cast, "hold", constraint="", extra=initial["extra"])
    assert json.loads(none.context["form"].initial["extra"]) == {"stop": ["x"]}
    assert "Further settings: This is not valid JSON" in pressed(cast, "hold", extra="{").text


def test_renamed_limit_is_the_limit_above(cast, db):
    response = saved(cast, extra='{"max_tokens": null, "max_completion_tokens": 500}')
    assert response.status_code == 422
    assert "max_completion_tokens differs from the maximum number of tokens above." in response.text
    saved(cast, max_tokens="500", extra='{"max_tokens": null, "max_completion_tokens": 500}')
    sent = Judge.objects.get().spec.sampling.sent
    assert sent == {"temperature": 0.0, "top_p": 1.0, "seed": 0, "max_completion_tokens": 500}


def test_judge_of_the_paper_is_ready_to_choose(cast, db):
    response = cast.client("admin").get(f"{NEW_JUDGE_URL}?prompt=crux-structure")
    initial = response.context["form"].initial
    assert (initial["parser"], initial["max_tokens"]) == ("first-digit-1", 5)
    assert initial["failure_policy"] == "zero"
    assert "paste them from their repository" in response.text
    saved(cast, **{name: str(initial[name]) for name in ("parser", "failure_policy", "prompt")})
    assert Judge.objects.get().failure_policy == "zero"
