"""Read-only Django admin with all tables, for admins of the site.

Rows of ours are changed by the pages that know what depends on them, and that write down who did it.
"""

from typing import Any

from django.apps import apps
from django.contrib import admin
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.views import redirect_to_login
from django.core.exceptions import PermissionDenied
from django.db.models import BooleanField, CharField, Field, ForeignKey, QuerySet, TextField
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse
from django.utils.decorators import method_decorator

from annotation.pages import Page

PAGE = Page("Tables of this site", help="admins#database-tables")

APPS = ("annotation", "evaluation", "judging", "building")
# Credentials and personal data: nobody needs to read them.
SECRET = ("password", "digest", "salt", "endpoint", "encrypted_key", "headers", "params")
SHORT = 250  # characters of a field that a list shows, and that is searched


class Tables(admin.AdminSite):
    """The site's own log-in lets in; who is no admin is told that this is for admins (403)."""

    site_title = site_header = "Tables of this site"
    index_title = "All tables, read-only"
    enable_nav_sidebar = False

    def has_permission(self, request: HttpRequest) -> bool:
        return bool(getattr(request.user, "is_admin", False) and request.user.is_active)

    @method_decorator(login_not_required)
    def login(self, request: HttpRequest, extra_context: Any = None) -> HttpResponse:
        if self.has_permission(request):
            return redirect("admin:index")
        if request.user.is_authenticated:
            raise PermissionDenied("This page is for admins.")
        return redirect_to_login(request.GET.get("next", reverse("admin:index")))

    def password_change(self, request: HttpRequest, extra_context: Any = None) -> Any:
        return redirect("account")


class ReadOnly(admin.ModelAdmin[Any]):
    """A table: its short columns, searched, and filtered by what has few values."""

    show_full_result_count = False
    view_on_site = False
    list_per_page = 50

    def get_fields(self, request: HttpRequest, obj: Any = None) -> list[Any]:
        fields = [*self.model._meta.concrete_fields, *self.model._meta.many_to_many]
        return [field.name for field in fields if field.name not in SECRET]

    # No field of a form is made, for one that nobody fills in.
    get_readonly_fields = get_fields

    def get_list_display(self, request: HttpRequest) -> list[Any]:
        return [field.name for field in self._short()]

    def get_search_fields(self, request: HttpRequest) -> list[Any]:
        char_fields = [field for field in self._short() if isinstance(field, CharField)]
        return [field.name for field in char_fields if not field.choices]

    def get_list_filter(self, request: HttpRequest) -> list[Any]:
        few = (BooleanField,)
        return [field.name for field in self._short() if field.choices or isinstance(field, few)]

    def get_queryset(self, request: HttpRequest) -> QuerySet[Any]:
        referred = [field.name for field in self._short() if isinstance(field, ForeignKey)]
        return super().get_queryset(request).select_related(*referred)

    def _short(self) -> "list[Field[Any, Any]]":
        return [
            field
            for field in self.model._meta.concrete_fields
            if field.name not in SECRET and _is_short(field)
        ]

    def has_add_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    has_change_permission = has_delete_permission = has_add_permission

    def has_view_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return self.admin_site.has_permission(request)

    has_module_permission = has_view_permission


def _is_short(field: "Field[Any, Any]") -> bool:
    is_text = isinstance(field, CharField | TextField)
    return not is_text or (isinstance(field, CharField) and (field.max_length or 0) <= SHORT)


tables = Tables(name="admin")
for name in APPS:
    tables.register(list(apps.get_app_config(name).get_models()), ReadOnly)
