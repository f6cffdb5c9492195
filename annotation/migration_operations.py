"""Migration operation for changes of labels, which no database has."""

from typing import Any

from django.db.migrations import SeparateDatabaseAndState
from django.db.migrations.operations.base import Operation
from django.db.migrations.state import ProjectState


class StateOnly(SeparateDatabaseAndState):
    """Operations that change nothing in the database, such as on labels and help texts.

    Django rebuilds all related models after each operation on a field. For these that took two fifths of the
    time of all migrations.
    """

    def __init__(self, state_operations: list[Operation]) -> None:
        super().__init__(state_operations=state_operations)

    def deconstruct(self) -> tuple[str, list[Any], dict[str, Any]]:
        return self.__class__.__name__, [], {"state_operations": self.state_operations}

    def state_forwards(self, app_label: str, state: ProjectState) -> None:
        """Change the state; its models are built at their next use, once."""
        vars(state).pop("apps", None)
        super().state_forwards(app_label, state)
