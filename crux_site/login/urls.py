"""URLs of log-in, log-out, and the session's end."""

from django.contrib.auth.views import LogoutView
from django.urls import URLPattern, path

from crux_site.login import views

urlpatterns: list[URLPattern] = [
    path("login/", views.log_in, name="login"),
    path("logout/", LogoutView.as_view(), name="logout"),
    path("session/", views.session, name="session"),
]
