"""URLs for the review of outputs."""

from django.urls import URLPattern, path

from building.review import views

urlpatterns: list[URLPattern] = [
    path("building/writings/<int:pk>/review/", views.review, name="writing_review"),
    path("building/writings/<int:pk>/review/<int:number>/", views.order, name="task_review"),
    path("building/products/<int:pk>/decide/", views.decide, name="output_decide"),
    path("building/writings/<int:pk>/accept-rest/", views.accept_the_rest, name="accept_rest"),
]
