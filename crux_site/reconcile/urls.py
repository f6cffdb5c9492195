"""URLs of the comparison of a campaign with Prolific, and of its review rules."""

from django.urls import URLPattern, path

from crux_site.reconcile import views

urlpatterns: list[URLPattern] = [
    path("reconcile/", views.reconcile, name="campaign_reconcile"),
    path("reconcile/rules/", views.review_rules, name="review_rules"),
]
