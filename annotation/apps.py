from typing import Any

from django.apps import AppConfig
from django.db.models.signals import post_migrate


def _ensure_rubrics(using: str, **kwargs: Any) -> None:
    # Models can be imported only once all apps are ready.
    from annotation.models.standard import ensure_standard_rubrics  # noqa: PLC0415

    ensure_standard_rubrics(using)


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        # After every migrate, so that a new installation can import labels at once.
        post_migrate.connect(_ensure_rubrics, sender=self)
