"""URLs of judges: list, detail, new."""

from django.urls import URLPattern, path

from judging.judges import views

urlpatterns: list[URLPattern] = [
    path("", views.judges, name="judges"),
    path("new/", views.judge_new, name="judge_new"),
    path("<int:pk>/", views.judge, name="judge"),
    path("<int:pk>/visibility/", views.judge_visibility, name="judge_visibility"),
    path("<int:pk>/archive/", views.judge_archive, name="judge_archive"),
    path("<int:pk>/parser/", views.parser_test, name="parser_test"),
]
