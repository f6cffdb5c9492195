"""URLs of the preview of a campaign."""

from django.urls import URLPattern, path

from annotation.builder.preview import views

urlpatterns: list[URLPattern] = [
    path("", views.study, name="campaign_preview"),
    path("consent/", views.consent, name="preview_consent"),
    path("check/<slug:purpose>/", views.check, name="preview_check"),
    path("survey/<slug:page>/", views.survey, name="preview_survey"),
    path("items/<int:position>/", views.item, name="preview_item"),
    path("items/<int:position>/state/", views.state, name="preview_state"),
    path("items/<int:position>/next/", views.onwards, name="preview_next"),
    path("items/<int:position>/answers/<int:question_pk>/", views.answer, name="preview_answer"),
    path(
        "items/<int:position>/answers/<int:question_pk>/<slug:rubric>/",
        views.answer,
        name="preview_answer",
    ),
    path(
        "items/<int:position>/checks/<int:check_pk>/",
        views.check_answer,
        name="preview_check_answer",
    ),
]
