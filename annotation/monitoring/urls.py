"""Campaigns, for those who run them."""

from django.urls import URLPattern, URLResolver, include, path

from annotation.monitoring import action_views, views

participant_urls = [
    path("", views.participant, name="campaign_participant"),
    path("extend/", action_views.extend, name="extend_part"),
    path("release/", action_views.release, name="release_untouched"),
    path("release/<int:item>/", action_views.release_item, name="release_item"),
    path("return/", action_views.return_participant, name="return_participant"),
    path("readmit/", action_views.readmit, name="readmit_participant"),
    path("erase/", action_views.erase, name="erase_participant"),
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("", views.campaigns, name="campaigns"),
    path("<slug:slug>/", views.campaign, name="campaign"),
    path("<slug:slug>/state/", action_views.campaign_state, name="campaign_state"),
    path("<slug:slug>/expire/", action_views.expire, name="campaign_expire"),
    path("<slug:slug>/log/", views.log, name="campaign_log"),
    path("<slug:slug>/messages/", views.campaign_messages, name="campaign_messages"),
    path("<slug:slug>/reconcile/", views.reconcile, name="campaign_reconcile"),
    path("<slug:slug>/export/", views.export, name="campaign_export"),
    path("<slug:slug>/participants/", views.participants, name="campaign_participants"),
    path("<slug:slug>/participants/<int:pk>/", include(participant_urls)),
]
