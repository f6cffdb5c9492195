"""URLs of the site."""

from django.urls import include, path

from crux_site.admin import tables

handler400 = "crux_site.middleware.bad_request"
handler403 = "crux_site.middleware.permission_denied"
handler404 = "crux_site.middleware.page_not_found"
handler500 = "crux_site.middleware.server_error"

urlpatterns = [
    path("work/", include("annotation.task.urls")),  # first: a URL is looked up in order
    path("", include("crux_site.home.urls")),
    path("", include("crux_site.login.urls")),
    path("", include("crux_site.demo.urls")),
    path("", include("crux_site.site_settings.urls")),
    path("admin/", tables.urls),
    path("account/", include("crux_site.account.urls")),
    path("", include("crux_site.projects.urls")),
    path("search/", include("crux_site.search.urls")),
    path("help/", include("crux_site.help.urls")),
    path("api/", include("crux_site.api.urls")),
    path("datasets/", include("crux_site.datasets.urls")),
    path("datasets/<slug:slug>/", include("evaluation.urls")),
    path("datasets/<slug:slug>/", include("building.urls")),
    path("datasets/<slug:slug>/", include("crux_site.calibration.urls")),
    path("datasets/<slug:slug>/", include("crux_site.judge_ranking.urls")),
    path("datasets/<slug:slug>/", include("crux_site.pair_campaigns.urls")),
    path("", include("crux_site.judge_tests.urls")),
    path("datasets/<slug:slug>/", include("crux_site.exports.urls")),
    path("datasets/<slug:slug>/", include("crux_site.texts.urls")),
    path("datasets/<slug:slug>/", include("crux_site.history.urls")),
    path("datasets/<slug:slug>/", include("crux_site.navigation.urls")),
    path("datasets/<slug:slug>/", include("crux_site.contents.urls")),
    path("datasets/<slug:slug>/", include("crux_site.additions.urls")),
    path("datasets/<slug:slug>/", include("crux_site.versions.urls")),
    path("", include("crux_site.imports.urls")),
    path("campaigns/<slug:slug>/", include("crux_site.reconcile.urls")),
    path("campaigns/<slug:slug>/", include("evaluation.quality.urls")),
    path("campaigns/<slug:slug>/", include("evaluation.power.urls")),
    path("", include("judging.urls")),
    path("", include("annotation.urls")),
    path("", include("crux_site.renamed_urls")),
]
