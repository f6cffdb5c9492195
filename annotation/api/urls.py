"""The test collection, below /api/v1/."""

from django.urls import URLPattern, path

from annotation.api import views
from annotation.api.ratings import Ratings

urlpatterns: list[URLPattern] = [
    path("datasets/", views.Datasets.as_view(), name="api_datasets"),
    path("datasets/<slug:dataset>/", views.OneDataset.as_view(), name="api_dataset"),
    path("datasets/<slug:dataset>/topics/", views.Topics.as_view(), name="api_topics"),
    path("datasets/<slug:dataset>/questions/", views.Questions.as_view(), name="api_questions"),
    path("datasets/<slug:dataset>/texts/", views.Texts.as_view(), name="api_texts"),
    path("datasets/<slug:dataset>/texts/<int:id>/", views.OneText.as_view(), name="api_text"),
    path("datasets/<slug:dataset>/raters/", views.Raters.as_view(), name="api_raters"),
    path("datasets/<slug:dataset>/ratings/", Ratings.as_view(), name="api_ratings"),
    path("rubrics/", views.Rubrics.as_view(), name="api_rubrics"),
    path("rubrics/<slug:slug>/", views.OneRubric.as_view(), name="api_rubric"),
]
