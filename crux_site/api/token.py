"""The token with which a researcher's or admin's programs come to the API."""

from django.contrib import messages
from django.db import transaction
from django.http import HttpResponseBase
from django.shortcuts import redirect, render
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_http_methods, require_POST
from rest_framework.authtoken.models import Token

from annotation.http import AuthenticatedRequest, researchers_only
from annotation.models import User


@never_cache
@require_http_methods(["GET", "HEAD", "POST"])
@researchers_only
def token(request: AuthenticatedRequest) -> HttpResponseBase:
    """Whether there is a token, and since when; a POST makes a new one, shows it once, and ends the old."""
    made = ""
    if request.method == "POST":
        with transaction.atomic():
            # Two at once wait for each other here, and the second one ends the token of the first.
            user = User.objects.select_for_update().get(pk=request.user.pk)
            Token.objects.filter(user=user).delete()
            made = Token.objects.create(user=user).key
    there = Token.objects.filter(user=request.user).first()
    return render(
        request, "crux_site/api/token.html", {"token": there, "made": made, "room": "api"}
    )


@require_POST
@researchers_only
def revoke(request: AuthenticatedRequest) -> HttpResponseBase:
    """End the token: no request that carries it is answered any more."""
    n, _ = Token.objects.filter(user=request.user).delete()
    messages.success(request, "The token is revoked." if n else "There was no token.")
    return redirect("token")
