"""Log-in, and the end of the session."""

from django.conf import settings
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import LoginView
from django.http import HttpRequest, HttpResponseBase, JsonResponse
from django.shortcuts import redirect, render
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.http import AuthenticatedRequest, is_by_script, never_redisplayed
from crux_site.language import activate_language_of, activate_last_language
from crux_site.login import first_admin_token
from crux_site.login.known_browser import remember
from crux_site.login.rate_limit import LogInError, LogInForm
from crux_site.login.session_end import begin, ends

TEMPLATE = "crux_site/login/login.html"
_log_in = LoginView.as_view(authentication_form=LogInForm, template_name=TEMPLATE)


@never_redisplayed
@login_not_required
@never_cache
def log_in(request: HttpRequest) -> HttpResponseBase:
    """Log in by name and password; a rate-limited attempt is told when to try again.

    A site without accounts redirects to the page that creates the first one. All pages that need a
    log-in redirect here.
    """
    if request.method in ("GET", "HEAD") and first_admin_token.is_site_empty():
        return redirect("first_admin")
    activate_last_language(request)
    activate_language_of(request.GET.get("next", request.POST.get("next", "")).partition("?")[0])
    try:
        answer = _log_in(request)
        if request.method == "POST" and answer.status_code == 302:
            remember(request, answer)
        return answer
    except LogInError as refused:
        initial = {"username": request.POST.get("username", "")}
        context = {
            "form": LogInForm(request, initial=initial),
            "next": request.POST.get("next", ""),
            "refused": str(refused),
        }
        response = render(request, TEMPLATE, context, status=refused.status)
        response.headers["Retry-After"] = str(refused.wait)
        return response


@never_redisplayed
@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def session(request: AuthenticatedRequest) -> HttpResponseBase:
    """Return the account that is logged in and the end of its session; a POST extends it."""
    if request.method == "POST":
        begin(request)
        if not is_by_script(request):
            target = request.POST.get("next", "")
            is_ours = url_has_allowed_host_and_scheme(target, {request.get_host()})
            return redirect(target if is_ours else settings.LOGIN_REDIRECT_URL)
    return JsonResponse({"user": request.user.pk, "ends": ends(request)})
