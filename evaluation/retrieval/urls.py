"""The retrieval room."""

from django.urls import URLPattern, path

from evaluation.retrieval import views

urlpatterns: list[URLPattern] = [
    path("", views.retrieval, name="retrieval"),
    path("runs/<path:name>/", views.retrieval_run, name="retrieval_run"),
    path("compare/", views.retrieval_compare, name="retrieval_compare"),
    path("judges/", views.retrieval_judges, name="retrieval_judges"),
    path("discriminative/", views.retrieval_discriminative, name="retrieval_discriminative"),
    path("figure/<slug:name>/", views.retrieval_figure, name="retrieval_figure"),
    path("relevance/", views.retrieval_relevance, name="retrieval_relevance"),
    path(
        "relevance/<slug:name>.csv", views.retrieval_relevance_csv, name="retrieval_relevance_csv"
    ),
    path("<slug:name>.csv", views.retrieval_csv, name="retrieval_csv"),
]
