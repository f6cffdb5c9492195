"""URLs of generation runs: create, show, and control."""

from django.urls import URLPattern, path

from building.writings import views

urlpatterns: list[URLPattern] = [
    path("building/new-writing/<slug:task>/", views.writing_new, name="writing_new"),
    path("building/new-writer/<slug:task>/", views.writer_new, name="writer_new"),
    path("building/writers/<slug:writer>/", views.writer, name="writer"),
    path("building/writings/<int:pk>/", views.writing, name="writing"),
    path("building/writings/<int:pk>/pairs.jsonl", views.writing_pairs, name="writing_pairs"),
    path("building/writings/<int:pk>/pause/", views.pause, name="writing_pause"),
    path("building/writings/<int:pk>/resume/", views.resume, name="writing_resume"),
    path("building/writings/<int:pk>/cancel/", views.cancel, name="writing_cancel"),
    path("building/writings/<int:pk>/ask-again/", views.ask_again, name="writing_ask_again"),
]
