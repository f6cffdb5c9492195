"""URLs of campaigns for staff: monitoring, export, and actions on participants."""

from django.urls import URLPattern, URLResolver, include, path

from annotation.monitoring import action_views, views

participant_urls = [
    path("", views.participant, name="campaign_participant"),
    path("extend/", action_views.extend, name="extend_part"),
    path("done/", action_views.declare_done, name="declare_done"),
    path("release/", action_views.release, name="release_untouched"),
    path("release/<int:item>/", action_views.release_item, name="release_item"),
    path("return/", action_views.return_participant, name="return_participant"),
    path("link/", action_views.renew_link, name="renew_link"),
    path("link/revoke/", action_views.revoke_link, name="revoke_link"),
    path("readmit/", action_views.readmit, name="readmit_participant"),
    path("exclude/", action_views.exclude_work, name="exclude_work"),
    path("include/", action_views.include_work, name="include_work"),
    path("answer/", views.answer_message, name="answer_message"),
    path("read/", views.read_messages, name="read_messages"),
    path("erase/", action_views.erase, name="erase_participant"),
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("", views.campaigns, name="campaigns"),
    path("<slug:slug>/", views.campaign, name="campaign"),
    path("<slug:slug>/state/", action_views.campaign_state, name="campaign_state"),
    path("<slug:slug>/expire/", action_views.expire, name="campaign_expire"),
    path("<slug:slug>/abandoned/", action_views.return_abandoned, name="return_abandoned"),
    path("<slug:slug>/log/", views.log, name="campaign_log"),
    path("<slug:slug>/messages/", views.campaign_messages, name="campaign_messages"),
    path("<slug:slug>/survey/", views.survey, name="campaign_survey_counts"),
    path("<slug:slug>/export/", views.export, name="campaign_export"),
    path("<slug:slug>/participants/", views.participants, name="campaign_participants"),
    path("<slug:slug>/participants/<int:pk>/", include(participant_urls)),
]
