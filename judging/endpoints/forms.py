"""Forms of a project's model servers, of its budget, and of the hosts that may be called."""

from __future__ import annotations

import re
from typing import Any
from urllib.parse import urlsplit

from django import forms
from django.core.exceptions import ValidationError

from annotation.form_versions import VersionedForm
from annotation.models import Project
from judging.engine.outbound import check_url, host_of, port_of, reach_of
from judging.engine.secrets import encrypt
from judging.forms import offer
from judging.llm.errors import BackendError
from judging.llm.server_presets import SERVER_PRESETS
from judging.models import AllowedHost, Endpoint, ProjectBudget

LINES = 10
_HEADER_NAME = re.compile(r"[A-Za-z0-9-]{1,60}")
_PARAM_NAME = re.compile(r"[A-Za-z0-9._-]{1,60}")
# They carry secrets, which belong in the field Key, as only that is encrypted; or the HTTP client sets them.
_RESERVED_HEADERS = re.compile(
    r"(proxy-)?authorization|.*(api-?key|secret|token|password).*|cookie|host|content-.*|transfer-encoding|"
    r"connection|accept-encoding|expect|upgrade|te|trailer|keep-alive",
    re.IGNORECASE,
)
_SECRET_PARAMS = re.compile(
    r"key|sig|.*(api-?_?key|secret|token|password|signature).*", re.IGNORECASE
)


class NamedValues(forms.CharField):
    """Lines of NAME: VALUE, or NAME=VALUE, as a dict."""

    def __init__(self, sign: str, **kwargs: Any) -> None:
        self.sign = sign
        widget = forms.Textarea(attrs={"rows": 2, "spellcheck": "false", "autocomplete": "off"})
        super().__init__(required=False, max_length=2_000, widget=widget, **kwargs)

    def prepare_value(self, value: Any) -> Any:
        if isinstance(value, dict):
            between = ": " if self.sign == ":" else "="
            return "\n".join(f"{name}{between}{text}" for name, text in value.items())
        return value

    def to_python(self, value: Any) -> dict[str, str]:  # type: ignore[override] # of a CharField it is a str
        if isinstance(value, dict):
            return value
        lines = [line.strip() for line in str(super().to_python(value)).splitlines()]
        values: dict[str, str] = {}
        for number, line in enumerate(filter(None, lines), 1):
            name, sign, text = (part.strip() for part in line.partition(self.sign))
            if not sign or not name or not text:
                raise ValidationError(f"Line {number} does not have the form NAME{self.sign}VALUE.")
            if not text.isascii() or not text.isprintable():
                raise ValidationError(f"Line {number}: the value has non-ASCII characters.")
            if name.lower() in {key.lower() for key in values}:
                raise ValidationError(f"Line {number}: {name} is a duplicate.")
            values[name] = text
        if len(values) > LINES:
            raise ValidationError(f"At most {LINES} lines.")
        return values

    def has_changed(self, initial: Any, data: Any) -> bool:
        try:
            return self.to_python(data) != (initial or {})
        except ValidationError:
            return True


class EndpointForm(VersionedForm):
    """Form of a project's model server.

    The key is write-only: an empty field keeps the stored one.
    """

    headers = NamedValues(":", label="Extra headers", help_text="one per line, such as NAME: VALUE")
    params = NamedValues(
        "=",
        label="Query parameters",
        help_text="added to every request, one per line, such as api-version=2024-10-21",
    )
    key = forms.CharField(
        required=False,
        max_length=4_000,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        label="Key",
    )
    remove_key = forms.BooleanField(required=False, label="Delete the stored key")

    class Meta:
        model = Endpoint
        fields = (
            *("name", "preset", "url", "key_header", "headers", "params"),
            *("price_in", "price_out", "currency"),
        )
        labels = {
            "preset": "Kind of server",
            "url": "Base URL",
            "key_header": "Header of the key",
            "price_in": "Price per million prompt tokens",
            "price_out": "Price per million reply tokens",
        }
        help_texts = {
            "name": "lower-case letters, digits, - . and _",
            "url": "the part before /chat/completions, such as https://api.example.org/v1",
            "price_in": "0 where it costs nothing",
            "currency": "three letters, such as EUR",
        }

    field_order = (
        *("name", "preset", "url", "key", "remove_key", "key_header", "headers", "params"),
        *("price_in", "price_out", "currency"),
    )

    def __init__(self, *args: Any, project: Project, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.project = project
        presets = ((name, preset.title) for name, preset in SERVER_PRESETS.items())
        offer(self, "preset", [("", "another one"), *presets])
        if self.instance.has_key:
            self.fields["key"].help_text = "A key is stored. Leave this empty to keep it."
        else:
            self.fields["key"].help_text = "It is encrypted, and never displayed again."
            del self.fields["remove_key"]

    def clean_name(self) -> str:
        name: str = self.cleaned_data["name"]
        namesakes = self.project.endpoints.filter(name=name).exclude(pk=self.instance.pk)
        if namesakes.exists():
            raise ValidationError(f"The project has a server {name}: choose another name.")
        return name

    def clean_url(self) -> str:
        url = self.cleaned_data["url"].strip().rstrip("/").removesuffix("/chat/completions")
        if placeholder := re.search(r"\b(HOST|RESOURCE|DEPLOYMENT)\b", url):
            raise ValidationError(f"Replace {placeholder[0]} with your value.")
        try:
            reach_of(url)
        except BackendError as error:
            raise ValidationError(str(error)) from None
        return url

    def clean_headers(self) -> dict[str, str]:
        headers: dict[str, str] = self.cleaned_data["headers"]
        for name in headers:
            if not _HEADER_NAME.fullmatch(name):
                raise ValidationError(f"{name[:60]!r} is not the name of a header.")
            if _RESERVED_HEADERS.fullmatch(name):
                raise ValidationError(
                    f"{name} cannot be set here. A secret belongs in the field Key, which is encrypted."
                )
        return headers

    def clean_params(self) -> dict[str, str]:
        params: dict[str, str] = self.cleaned_data["params"]
        for name in params:
            if not _PARAM_NAME.fullmatch(name):
                raise ValidationError(f"{name[:60]!r} is not the name of a parameter.")
            if _SECRET_PARAMS.fullmatch(name):
                raise ValidationError(
                    f"{name} cannot be set here. A secret belongs in the field Key, which is encrypted."
                )
        return params

    def clean_key(self) -> str:
        key: str = self.cleaned_data["key"].strip()
        if not key.isascii() or not key.isprintable():
            raise ValidationError("The key has a line break or a non-ASCII character.")
        return key

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        url, stored = cleaned.get("url"), self.initial.get("url")
        gives_key = cleaned.get("key") or cleaned.get("remove_key")
        # Whoever redirects a server to a host of their own must not learn its key.
        if url and stored and self.instance.has_key and not gives_key and _moves(url, stored):
            self.add_error("key", "Enter the key again: the URL has another host or port.")
        has_price = cleaned.get("price_in") or cleaned.get("price_out")
        if has_price and not cleaned.get("currency") and "currency" not in self.errors:
            self.add_error("currency", "Enter the currency of the prices.")
        return cleaned

    def save(self, commit: bool = True) -> Endpoint:
        """Store the server; the view has locked its row, or makes a new one."""
        row: Endpoint = super().save(commit=False)
        row.project = self.project
        if key := self.cleaned_data["key"]:
            row.encrypted_key = encrypt(key)
        elif self.cleaned_data.get("remove_key"):
            row.encrypted_key = ""
        if row._state.adding:
            row.save(force_insert=True)
        else:
            row.save(update_fields=[*self.Meta.fields, "encrypted_key"])
        return row


def _moves(url: str, stored: str) -> bool:
    return _origin(url) != _origin(stored)


def _origin(url: str) -> tuple[str, str, int]:
    parts = urlsplit(url)
    return parts.scheme, host_of(parts), port_of(parts)


def preset_values(name: str) -> dict[str, Any]:
    """Return the fields that a preset fills in. Raises KeyError."""
    preset = SERVER_PRESETS[name]
    return {
        "preset": name,
        "url": preset.url,
        "key_header": preset.key_header,
        "headers": dict(preset.headers),
        "params": dict(preset.params),
    }


class ProjectBudgetForm(VersionedForm):
    """Budget of a project for judging on its servers. Two empty limits mean no budget."""

    class Meta:
        model = ProjectBudget
        fields = ("max_tokens", "max_money", "currency")
        labels = {"max_tokens": "Maximum tokens", "max_money": "Maximum cost"}
        help_texts = {
            "max_tokens": "prompt and reply, over all runs; empty: no limit",
            "max_money": "at the prices of the servers; empty: no limit",
            "currency": "three letters, such as EUR",
        }

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean()
        lacks_currency = not cleaned.get("currency") and "currency" not in self.errors
        if cleaned.get("max_money") is not None and lacks_currency:
            self.add_error("currency", "Enter the currency of the limit.")
        return cleaned


class AllowedHostForm(forms.ModelForm):
    """A host that servers of projects may be at."""

    class Meta:
        model = AllowedHost
        fields = ("host", "port", "allows_http", "allows_private")
        labels = {
            "allows_http": "Allow http without encryption",
            "allows_private": "Allow private and loopback addresses",
        }
        help_texts = {"host": "a name or an IP address, without https://", "port": "0: any port"}

    def clean_host(self) -> str:
        host = self.cleaned_data["host"].strip().lower().rstrip(".")
        bracketed = f"[{host}]" if ":" in host and not host.startswith("[") else host
        try:
            parts = check_url(f"https://{bracketed}/")
        except BackendError:
            raise ValidationError("This is not a host name or an IP address.") from None
        if "/" in host or parts.port is not None or "?" in host or "#" in host:
            raise ValidationError("Enter only the host, without https://, port and path.")
        return host_of(parts)
