from typing import Any

from django.apps import AppConfig
from django.db import connections
from django.db.models.signals import post_migrate, pre_migrate

from annotation.rating_versions import drop_triggers, install_triggers


def _ensure_rubrics(using: str, **kwargs: Any) -> None:
    # Models can be imported only once all apps are ready.
    from annotation.models.standard import ensure_standard_rubrics  # noqa: PLC0415

    ensure_standard_rubrics(using)


def _drop_triggers(using: str, plan: Any = (), **kwargs: Any) -> None:
    if plan:
        drop_triggers(connections[using])


def _install_triggers(using: str, plan: Any = (), **kwargs: Any) -> None:
    if plan:
        install_triggers(connections[using])


class AnnotationConfig(AppConfig):
    name = "annotation"

    def ready(self) -> None:
        # After every migrate, so that a new installation can import labels at once.
        post_migrate.connect(_ensure_rubrics, sender=self)
        pre_migrate.connect(_drop_triggers, sender=self)
        post_migrate.connect(_install_triggers, sender=self)
