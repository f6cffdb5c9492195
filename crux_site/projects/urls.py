"""URLs of projects, invitations and shared links."""

from django.urls import URLPattern, path

from crux_site.projects import joining, sharing, views

urlpatterns: list[URLPattern] = [
    path("projects/", views.projects, name="projects"),
    path("projects/<slug:slug>/", views.project, name="project"),
    path("projects/<slug:slug>/members/<int:pk>/", views.member, name="project_member"),
    path("projects/<slug:slug>/leave/", views.leave, name="project_leave"),
    path("projects/<slug:slug>/invitations/", views.invite, name="project_invite"),
    path("projects/<slug:slug>/invitations/<int:pk>/revoke/", views.revoke, name="project_revoke"),
    path("projects/<slug:slug>/move/", views.move, name="project_move"),
    path("projects/<slug:slug>/archive/<str:name>", views.archived, name="project_archived"),
    path("projects/<slug:slug>/export.zip", views.export, name="project_export"),
    path("projects/<slug:slug>/log.csv", views.log_csv, name="project_log_csv"),
    path("join/<str:word>/", joining.join, name="join"),
    path("datasets/<slug:slug>/share/", sharing.share, name="share"),
    path(
        "projects/<slug:slug>/shared/<int:pk>/revoke/",
        sharing.revoke_shared,
        name="share_revoke",
    ),
    path("shared/<str:word>/", sharing.shared, name="shared"),
]
