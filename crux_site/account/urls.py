"""The reader's own account."""

from django.urls import URLPattern, path

from crux_site.account import views

urlpatterns: list[URLPattern] = [
    path("", views.account, name="account"),
    path("password/", views.password, name="own_password"),
    path("tokens/", views.token_new, name="token_new"),
    path("tokens/<int:pk>/revoke/", views.token_revoke, name="token_revoke"),
]
