"""URLs of the results of one dataset: those of all pages with links, from their `PAGE`."""

from django.urls import URLPattern, URLResolver, include, path

from annotation.pages import declared_pages

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include(f"{package}.urls"))
    for package, page in declared_pages().items()
    if page.links and package.startswith("evaluation.")
]
