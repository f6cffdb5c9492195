"""The words of texts and questions: new ones, and those from before."""

from django.urls import URLPattern, path

from crux_site.versions import views

urlpatterns: list[URLPattern] = [
    path("versions/", views.versions, name="versions"),
    path("words/<slug:kind>/<int:pk>/", views.words, name="words"),
    path("words/<slug:kind>/<int:pk>/choose/", views.choose_version, name="version_choose"),
    path("words/<slug:kind>/<int:pk>/restore/<int:number>/", views.restore, name="version_restore"),
    path("words/spans/<int:pk>/place/", views.place, name="span_place"),
]
