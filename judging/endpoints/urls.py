"""Model servers of a project, its budget for them, and the hosts that may be called."""

from django.urls import URLPattern, path

from judging.endpoints import hosts, views

urlpatterns: list[URLPattern] = [
    path("projects/<slug:slug>/servers/", views.endpoints, name="endpoints"),
    path("projects/<slug:slug>/servers/new/", views.endpoint_new, name="endpoint_new"),
    path("projects/<slug:slug>/servers/budget/", views.project_budget, name="project_budget"),
    path("projects/<slug:slug>/servers/<int:pk>/", views.endpoint, name="endpoint"),
    path("projects/<slug:slug>/servers/<int:pk>/test/", views.endpoint_test, name="endpoint_test"),
    path(
        "projects/<slug:slug>/servers/<int:pk>/delete/",
        views.endpoint_delete,
        name="endpoint_delete",
    ),
    path("allowed-hosts/", hosts.allowed_hosts, name="allowed_hosts"),
    path("allowed-hosts/policy/", hosts.outbound_policy, name="outbound_policy"),
    path("allowed-hosts/<int:pk>/delete/", hosts.allowed_host_delete, name="allowed_host_delete"),
]
