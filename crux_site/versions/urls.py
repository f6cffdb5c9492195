"""URLs of the text history: current and earlier wordings of texts and questions."""

from django.urls import URLPattern, path

from crux_site.versions import views

urlpatterns: list[URLPattern] = [
    path("text-history/", views.versions, name="versions"),
    path("text-history/<slug:kind>/<int:pk>/", views.text_history, name="text_history"),
    path("text-history/<slug:kind>/<int:pk>/choose/", views.choose_version, name="version_choose"),
    path(
        "text-history/<slug:kind>/<int:pk>/restore/<int:number>/",
        views.restore,
        name="version_restore",
    ),
    path("text-history/spans/<int:pk>/place/", views.place_span, name="span_place"),
]
