"""URLs of the campaign builder: its steps, preview and invitations."""

from django.urls import URLPattern, URLResolver, include, path

from annotation.builder import invitations, views

step_urls = [
    path("texts/", views.texts, name="campaign_texts"),
    path("parts/", views.parts, name="campaign_parts"),
    path("gold/", views.gold, name="campaign_gold"),
    path("gold/reasons/", views.expected_reasons, name="campaign_expected_reasons"),
    path("guideline/", views.guideline, name="campaign_guideline"),
    path("checks/", views.checks, name="campaign_checks"),
    path("survey/", views.survey, name="campaign_survey"),
    path("terms/", views.terms, name="campaign_terms"),
    path("review/", views.review, name="campaign_review"),
    path("open/", views.open_campaign, name="campaign_open"),
    path("discard/", views.discard, name="campaign_discard"),
    path("later/", views.later, name="campaign_later"),
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("new/", views.campaign_new, name="campaign_new"),
    path("<slug:slug>/copy/", views.campaign_copy, name="campaign_copy"),
    path("<slug:slug>/edit/", include(step_urls)),
    path("<slug:slug>/preview/", include("annotation.builder.preview.urls")),
    path("<slug:slug>/invitations/", invitations.invitations, name="campaign_invitations"),
]
