"""Campaigns, for those who run them."""

from django.urls import URLPattern, URLResolver, include, path

from annotation.monitoring import act_views, views

participant_urls = [
    path("", views.participant, name="campaign_participant"),
    path("extend/", act_views.extend, name="extend_part"),
    path("done/", act_views.declare_done, name="declare_done"),
    path("release/", act_views.release, name="release_untouched"),
    path("release/<int:item>/", act_views.release_item, name="release_item"),
    path("return/", act_views.return_participant, name="return_participant"),
    path("link/", act_views.renew_link, name="renew_link"),
    path("link/revoke/", act_views.revoke_link, name="revoke_link"),
    path("readmit/", act_views.readmit, name="readmit_participant"),
    path("set-aside/", act_views.set_aside, name="set_work_aside"),
    path("count-again/", act_views.count_work_again, name="count_work_again"),
    path("erase/", act_views.erase, name="erase_participant"),
]

urlpatterns: list[URLPattern | URLResolver] = [
    path("", views.campaigns, name="campaigns"),
    path("<slug:slug>/", views.campaign, name="campaign"),
    path("<slug:slug>/state/", act_views.campaign_state, name="campaign_state"),
    path("<slug:slug>/expire/", act_views.expire, name="campaign_expire"),
    path("<slug:slug>/abandoned/", act_views.return_abandoned, name="return_abandoned"),
    path("<slug:slug>/log/", views.log, name="campaign_log"),
    path("<slug:slug>/messages/", views.campaign_messages, name="campaign_messages"),
    path("<slug:slug>/reconcile/", views.reconcile, name="campaign_reconcile"),
    path("<slug:slug>/reconcile/rules/", views.look_rules, name="look_rules"),
    path("<slug:slug>/export/", views.export, name="campaign_export"),
    path("<slug:slug>/participants/", views.participants, name="campaign_participants"),
    path("<slug:slug>/participants/<int:pk>/", include(participant_urls)),
]
