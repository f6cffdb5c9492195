"""Access control: only members of a project see the addresses of its datasets."""

from collections.abc import Callable
from typing import Any

from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponseBase

from annotation.http import View
from annotation.models import Role, User

# Routes about one dataset or project: lookup of the project, and the URL argument for it.
ABOUT = {
    "datasets/<slug:slug>/": ("datasets__slug", "slug"),
    "campaigns/<slug:slug>/": ("datasets__campaigns__slug", "slug"),
    "judge-runs/<int:pk>/": ("datasets__judge_runs", "pk"),
    "replies/<int:rater_id>/<int:text_id>/": ("datasets__texts", "text_id"),
    "projects/<slug:slug>/": ("slug", "slug"),
}
READ = ("GET", "HEAD", "OPTIONS")
OPEN_TO_VIEWERS = ("project_leave",)


class MembersOnly:
    """Middleware: 404 for staff of other projects; viewers of a project only read (403).

    Other permissions: `role_here` tells the guards of views and the templates. Users who are no researchers
    are left to those guards, and an admin sees everything. Lists and the API, which knows tokens, use
    `seen_by`.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponseBase]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponseBase:
        return self.get_response(request)

    def process_view(
        self, request: HttpRequest, view: View, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> None:
        user, match = request.user, request.resolver_match
        if match is None or not isinstance(user, User) or user.is_admin or not user.is_researcher:
            return
        for route, (path, name) in ABOUT.items():
            if match.route.startswith(route):
                user.role_here = _role(user, **{f"project__{path}": kwargs[name]})
                reads = request.method in READ or match.url_name in OPEN_TO_VIEWERS
                if user.role_here == Role.VIEWER and not reads:
                    raise PermissionDenied(
                        "As a viewer of this project you cannot change anything."
                    )


def _role(user: User, **about: Any) -> str:
    role = user.memberships.filter(**about).values_list("role", flat=True).first()
    if role is None:
        raise Http404("This is not in any of your projects.")
    return role
