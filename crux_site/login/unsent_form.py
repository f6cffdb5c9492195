"""Page that keeps a form which was refused because its session has ended or was renewed."""

from django.conf import settings
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.cache import add_never_cache_headers

from annotation.http import is_by_script
from annotation.participation.guests import study_of_guest
from crux_site.language import activate_language_of, activate_last_language

TOKEN = "csrfmiddlewaretoken"  # noqa: S105 - the name of a field


def unsent_form_page(request: HttpRequest) -> HttpResponse | None:
    """Return the page by which a refused form can be sent again; None where there is none.

    It has the values of the form and a new token. Only a page of this site gets it: the browser names
    the origin of a form. Files cannot be sent again from it, and secrets are not displayed.
    """
    if request.method != "POST" or not _is_own_origin(request) or is_by_script(request):
        return None
    if "HX-Request" in request.headers or request.FILES:
        return None
    view = request.resolver_match and request.resolver_match.func
    if view is None or getattr(view, "is_never_redisplayed", False):
        return None
    if not request.user.is_authenticated and (
        not getattr(view, "login_required", True)  # a log-in would not help
        or settings.CSRF_COOKIE_NAME not in request.COOKIES  # the browser accepts none
    ):
        return None
    names = [name for name in request.POST if name != TOKEN]
    if any("password" in name for name in names):
        return None
    study = None if request.user.is_authenticated else study_of_guest(request)
    if study:
        study.activate_language()
    else:
        activate_last_language(request)
        activate_language_of(request.path)
    fields = [(name, value) for name in names for value in request.POST.getlist(name)]
    context = {
        "fields": fields,
        "url": request.get_full_path(),
        "campaign": study,
        "platform": study.get_platform_display() if study and study.platform else "",
    }
    response = render(request, "crux_site/login/unsent_form.html", context, status=403)
    add_never_cache_headers(response)
    return response


def _is_own_origin(request: HttpRequest) -> bool:
    own_origin = f"{request.scheme}://{request.get_host()}"
    return request.headers.get("Origin") in (own_origin, *settings.CSRF_TRUSTED_ORIGINS)
