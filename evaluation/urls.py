"""Where results are read. All of it is about one dataset; what is about a campaign is in quality/."""

from django.urls import URLPattern, URLResolver, include, path

urlpatterns: list[URLPattern | URLResolver] = [
    path("", include("evaluation.agreement.urls")),
    path("", include("evaluation.by_type.urls")),
    path("", include("evaluation.pairs.urls")),
    path("", include("evaluation.matrix.urls")),
    path("", include("evaluation.grid.urls")),
    path("", include("evaluation.mixed_model.urls")),
    path("", include("evaluation.nuggets.urls")),
    path("retrieval/", include("evaluation.retrieval.urls")),
    path("paper/", include("evaluation.paper.urls")),
    path("seen/", include("evaluation.seen.urls")),
    path("label-next/", include("evaluation.labelling.urls")),
]
