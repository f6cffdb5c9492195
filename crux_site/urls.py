"""The map of the site."""

from django.contrib.auth import views as auth
from django.urls import include, path

from crux_site.views import datasets, imports, session, token

handler500 = "crux_site.unavailable.server_error"

urlpatterns = [
    path("", datasets.home, name="home"),
    path("login/", session.log_in, name="login"),
    path("logout/", auth.LogoutView.as_view(), name="logout"),
    path("session/", session.session, name="session"),
    path("account/token/", token.token, name="token"),
    path("account/token/revoke/", token.revoke, name="token_revoke"),
    path("api/", include("crux_site.api")),
    path("datasets/", datasets.datasets, name="datasets"),
    path("datasets/<slug:slug>/", datasets.dataset, name="dataset"),
    path("datasets/<slug:slug>/filled.csv", datasets.filled_csv, name="filled_csv"),
    path("datasets/<slug:slug>/export/", datasets.export, name="export"),
    path("datasets/<slug:slug>/", include("evaluation.urls")),
    path("import/", imports.import_page, name="import"),
    path("import/<uuid:token>/", imports.import_preview, name="import_preview"),
    path("campaigns/<slug:slug>/", include("evaluation.quality.urls")),
    path("", include("judging.urls")),
    path("", include("annotation.urls")),
]
