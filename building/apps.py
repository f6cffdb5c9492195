from django.apps import AppConfig


class BuildingConfig(AppConfig):
    name = "building"

    def ready(self) -> None:
        # A worker that starts revives all runs of models, and must know of those that write.
        import building.tasks  # noqa: F401, PLC0415
