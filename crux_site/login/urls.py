"""URLs of log-in, log-out, the session's end, and the first account."""

from django.contrib.auth.views import LogoutView
from django.urls import URLPattern, path

from annotation.http import never_redisplayed
from crux_site.login import first_admin, views

urlpatterns: list[URLPattern] = [
    path("login/", views.log_in, name="login"),
    path("logout/", never_redisplayed(LogoutView.as_view()), name="logout"),
    path("first-admin/", first_admin.first_admin, name="first_admin"),
    path("session/", views.session, name="session"),
]
