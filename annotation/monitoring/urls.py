"""Campaigns, for those who run them."""

from django.urls import URLPattern, URLResolver, include, path

from annotation.monitoring import views

participant_urls = [
    path("", views.participant, name="campaign_participant"),
    path("extend/", views.extend, name="extend_part"),
    path("done/", views.declare_done, name="declare_done"),
    path("release/", views.release, name="release_untouched"),
    path("release/<int:item>/", views.release_item, name="release_item"),
    path("return/", views.return_participant, name="return_participant"),
    path("link/", views.renew_link, name="renew_link"),
    path("link/revoke/", views.revoke_link, name="revoke_link"),
    path("readmit/", views.readmit, name="readmit_participant"),
    path("set-aside/", views.set_aside, name="set_work_aside"),
    path("count-again/", views.count_work_again, name="count_work_again"),
    path("erase/", views.erase, name="erase_participant"),
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("", views.campaigns, name="campaigns"),
    path("<slug:slug>/", views.campaign, name="campaign"),
    path("<slug:slug>/state/", views.campaign_state, name="campaign_state"),
    path("<slug:slug>/expire/", views.expire, name="campaign_expire"),
    path("<slug:slug>/abandoned/", views.return_abandoned, name="return_abandoned"),
    path("<slug:slug>/log/", views.log, name="campaign_log"),
    path("<slug:slug>/messages/", views.campaign_messages, name="campaign_messages"),
    path("<slug:slug>/reconcile/", views.reconcile, name="campaign_reconcile"),
    path("<slug:slug>/reconcile/rules/", views.look_rules, name="look_rules"),
    path("<slug:slug>/export/", views.export, name="campaign_export"),
    path("<slug:slug>/participants/", views.participants, name="campaign_participants"),
    path("<slug:slug>/participants/<int:pk>/", include(participant_urls)),
]
