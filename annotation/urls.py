"""Where people do and prepare annotation."""

from django.urls import URLPattern, URLResolver, include, path

from annotation.views import (
    acts,
    adjudication,
    arrival,
    builder,
    campaigns,
    fieldwork,
    outside,
    people,
    preview,
    rubrics,
    study,
    work,
)

work_urls = [
    path("", study.work_home, name="work_home"),
    path("in/<slug:slug>/", study.work_campaign, name="work_campaign"),
    path("in/<slug:slug>/begin/", study.begin, name="begin"),
    path("in/<slug:slug>/consent/", study.consent, name="consent"),
    path("in/<slug:slug>/check/", study.check, name="check"),
    path("in/<slug:slug>/end/", study.study_end, name="study_end"),
    path("in/<slug:slug>/leave/", study.leave, name="leave"),
    path("in/<slug:slug>/messages/", study.messages_seen, name="messages_seen"),
    path("<int:pk>/", work.work, name="work"),
    path("<int:pk>/answers/<int:question_pk>/", work.answer, name="answer"),
    path("<int:pk>/checks/<int:check_pk>/", work.check_answer, name="check_answer"),
    path("<int:pk>/state/", work.state, name="work_state"),
    path("<int:pk>/submit/", work.submit, name="submit"),
    path("<int:pk>/skip/", work.skip, name="skip"),
    path("<int:pk>/feedback/", study.feedback, name="feedback"),
]

participant_urls = [
    path("", fieldwork.participant, name="campaign_participant"),
    path("extend/", acts.extend, name="extend_part"),
    path("release/", acts.release, name="release_untouched"),
    path("release/<int:item>/", acts.release_item, name="release_item"),
    path("return/", acts.return_participant, name="return_participant"),
    path("readmit/", acts.readmit, name="readmit_participant"),
    path("erase/", acts.erase, name="erase_participant"),
]

builder_urls = [
    path("texts/", builder.texts, name="campaign_texts"),
    path("parts/", builder.parts, name="campaign_parts"),
    path("gold/", builder.gold, name="campaign_gold"),
    path("words/", builder.words, name="campaign_words"),
    path("checks/", builder.checks, name="campaign_checks"),
    path("terms/", builder.terms, name="campaign_terms"),
    path("review/", builder.review, name="campaign_review"),
    path("open/", builder.open_campaign, name="campaign_open"),
    path("discard/", builder.discard, name="campaign_discard"),
    path("later/", builder.later, name="campaign_later"),
]

preview_urls = [
    path("", preview.study, name="campaign_preview"),
    path("consent/", preview.consent, name="preview_consent"),
    path("check/<slug:purpose>/", preview.check, name="preview_check"),
    path("items/<int:position>/", preview.item, name="preview_item"),
    path("items/<int:position>/state/", preview.state, name="preview_state"),
    path("items/<int:position>/next/", preview.onwards, name="preview_next"),
    path("items/<int:position>/answers/<int:question_pk>/", preview.answer, name="preview_answer"),
    path(
        "items/<int:position>/checks/<int:check_pk>/",
        preview.check_answer,
        name="preview_check_answer",
    ),
]

campaign_urls: list[URLPattern | URLResolver] = [
    path("", campaigns.campaigns, name="campaigns"),
    path("new/", campaigns.campaign_new, name="campaign_new"),
    path("<slug:slug>/", fieldwork.campaign, name="campaign"),
    path("<slug:slug>/copy/", campaigns.campaign_copy, name="campaign_copy"),
    path("<slug:slug>/edit/", include(builder_urls)),
    path("<slug:slug>/preview/", include(preview_urls)),
    path("<slug:slug>/state/", acts.campaign_state, name="campaign_state"),
    path("<slug:slug>/expire/", acts.expire, name="campaign_expire"),
    path("<slug:slug>/log/", fieldwork.log, name="campaign_log"),
    path("<slug:slug>/messages/", outside.campaign_messages, name="campaign_messages"),
    path("<slug:slug>/invitations/", outside.invitations, name="campaign_invitations"),
    path("<slug:slug>/reconcile/", outside.reconcile, name="campaign_reconcile"),
    path("<slug:slug>/export/", outside.export, name="campaign_export"),
    path("<slug:slug>/adjudication/", adjudication.adjudication, name="adjudication"),
    path(
        "<slug:slug>/adjudication/<int:item_pk>/<int:question_pk>/",
        adjudication.adjudicate,
        name="adjudicate",
    ),
    path("<slug:slug>/participants/", fieldwork.participants, name="campaign_participants"),
    path("<slug:slug>/participants/<int:pk>/", include(participant_urls)),
]

rubric_urls = [
    path("", rubrics.rubrics, name="rubrics"),
    path("<slug:slug>/", rubrics.rubric, name="rubric"),
]

people_urls = [
    path("", people.people, name="people"),
    path("<int:pk>/", people.person, name="person"),
]

urlpatterns = [
    path("start/<slug:slug>/", arrival.start, name="start"),
    path("start/<slug:slug>/again/", arrival.come_again, name="come_again"),
    path("invited/<str:token>/", arrival.invited, name="invited"),
    path("work/", include(work_urls)),
    path("campaigns/", include(campaign_urls)),
    path("rubrics/", include(rubric_urls)),
    path("people/", include(people_urls)),
]
