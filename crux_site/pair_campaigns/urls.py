"""URL of the new campaign of chosen pairs."""

from django.urls import URLPattern, path

from crux_site.pair_campaigns import views

urlpatterns: list[URLPattern] = [
    path("campaign-of-pairs/", views.campaign_of_pairs, name="campaign_of_pairs"),
]
