"""How long the reader stays logged in."""

from django.conf import settings
from django.http import HttpResponseBase, JsonResponse
from django.shortcuts import redirect
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods

from annotation.http import AuthenticatedRequest, is_by_script
from crux_site.sessions import begin, ends


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
def session(request: AuthenticatedRequest) -> HttpResponseBase:
    """Who is logged in, and until when; a POST begins the time anew."""
    if request.method == "POST":
        begin(request)
        if not is_by_script(request):
            target = request.POST.get("next", "")
            is_ours = url_has_allowed_host_and_scheme(target, {request.get_host()})
            return redirect(target if is_ours else settings.LOGIN_REDIRECT_URL)
    return JsonResponse({"user": request.user.pk, "ends": ends(request)})
