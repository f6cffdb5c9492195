"""Conversion between a recipe line and its form fields."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from building.retrieval.recipe import Recipe, RecipeError, Stage, parse_recipe
from building.runs.forms import Offers, StageForm
from building.steps import KINDS, check

FIRST = {name: kind for name, kind in KINDS.items() if not (kind.reorders or kind.joins)}
NEXT = {name: kind for name, kind in KINDS.items() if kind.reorders}
JOINING = {name: kind for name, kind in KINDS.items() if kind.joins}
[JOIN] = JOINING
MOST_NEXT = 5  # further steps
NOTHING = "no further step"
BOTH = (
    "The recipe and the fields were both changed and differ. The fields now follow the recipe: "
    "check them before you continue."
)


class NotInFieldsError(Exception):
    """A recipe that the fields cannot express; the message says which part."""


class Fields:
    """Recipe steps as forms: one or two first rankings, their join, and further steps."""

    def __init__(self, data: Mapping[str, str], offers: Offers) -> None:
        self.first = StageForm(data, "first", FIRST, offers)
        self.second = StageForm(data, "second", FIRST, offers, empty="no other ranking")
        self.join = None
        if self.second.is_chosen:
            self.join = StageForm(data, "join", JOINING, offers, only=JOIN)
        rows = (StageForm(data, f"then{n}", NEXT, offers, NOTHING) for n in range(1, MOST_NEXT + 1))
        self.next = list(rows)

    @property
    def chosen(self) -> list[StageForm]:
        joined = [self.second, self.join] if self.join else []
        return [self.first, *joined, *(form for form in self.next if form.is_chosen)]

    @property
    def shown(self) -> list[tuple[str, StageForm]]:
        """Return the visible forms with titles: the chosen ones, and one more to choose."""
        joined = [("Joined how", self.join)] if self.join else []
        last = next((n for n, form in enumerate(self.next, 1) if not form.is_chosen), MOST_NEXT)
        last = max([last, *(n for n, form in enumerate(self.next, 1) if form.is_chosen)])
        further = [(f"Then, step {n}", form) for n, form in enumerate(self.next[:last], 1)]
        return [("First ranking", self.first), ("Joined with", self.second), *joined, *further]

    @property
    def problems(self) -> list[str]:
        """Return the errors of the fields, each with its step and name."""
        return [
            f"{title}, {form.fields[name].label or name}: {' '.join(map(str, errors))}"
            for title, form in self.shown
            for name, errors in form.errors.items()
        ]

    @property
    def line(self) -> str | None:
        """Return the recipe line of the fields; None if one is invalid."""
        if not all(form.is_valid() for form in self.chosen):
            return None
        first = self.first.stage()
        if self.join:
            parts = (Recipe((first,)), Recipe((self.second.stage(),)))
            join = self.join.stage()
            first = Stage(join.name, parts, join.options, join.cut)
        further = [form.stage() for form in self.next if form.is_chosen]
        return str(Recipe((first, *further)))


def data_of(recipe: Recipe) -> dict[str, str]:
    """Return the form data of a recipe. Raises NotInFieldsError."""
    first, *further = recipe.stages
    data: dict[str, str] = {}
    if first.name == JOIN:
        if len(first.arguments) != 2:
            raise NotInFieldsError(
                f"{first.name} fuses {len(first.arguments)} rankings, but the fields allow two"
            )
        for prefix, part in zip(("first", "second"), first.arguments, strict=True):
            if len(part.stages) > 1 or part.stages[0].name not in FIRST:
                raise NotInFieldsError(f"“{part}” has several steps within {first.name}")
            data |= _stage_data(prefix, part.stages[0])
        data |= _stage_data("join", first)
    else:
        data |= _stage_data("first", first)
    if len(further) > MOST_NEXT:
        raise NotInFieldsError(
            f"{len(further)} steps follow the first, but the fields allow {MOST_NEXT}"
        )
    for number, stage in enumerate(further, 1):
        data |= _stage_data(f"then{number}", stage)
    return data


def _stage_data(prefix: str, stage: Stage) -> dict[str, str]:
    if unprintable := next((value for _, value in stage.options if not value.isprintable()), ""):
        raise NotInFieldsError(f"{unprintable!r} has characters that a field cannot contain")
    options = {f"{prefix}-{stage.name}-{key}": value for key, value in stage.options}
    return {f"{prefix}-step": stage.name, f"{prefix}-cut": str(stage.cut or ""), **options}


@dataclass
class RecipeState:
    """State of a recipe on its page.

    `was` is the line that the fields said when they were sent, and `wrong_fields` what is wrong with them;
    `problem` is what is wrong with the line, and `note` why the fields cannot say it.
    """

    line: str
    was: str
    fields: Fields | None
    recipe: Recipe | None = None
    problem: str = ""
    note: str = ""
    wrong_fields: list[str] = field(default_factory=list)


def recipe_state(sent: Mapping[str, str], offers: Offers) -> RecipeState:
    """Interpret a submitted form: the fields if they were changed, else the line.

    If both were changed, the line counts.
    """
    line, was = sent.get("recipe", "").strip(), sent.get("was", "")
    if "first-step" not in sent:
        return of_line(line, offers)
    fields = Fields(sent, offers)
    by_fields = fields.line
    is_line_changed = line not in (was, "")
    if is_line_changed:
        result = of_line(line, offers)
        if result.problem:
            # Who corrects the line finds the fields as they were.
            return RecipeState(line, was, fields, problem=result.problem)
        if by_fields and by_fields not in (was, line):
            result.problem = BOTH
        return result
    if by_fields is None:
        return RecipeState(line, was, fields, wrong_fields=fields.problems)
    return of_line(by_fields, offers)


def of_line(line: str, offers: Offers) -> RecipeState:
    """Parse a line, and fill the fields as far as they can express it."""
    try:
        recipe = parse_recipe(line)
        check(recipe)
    except RecipeError as error:
        return RecipeState(line, line, None, problem=str(error))
    line = str(recipe)
    try:
        fields = Fields(data_of(recipe), offers)
    except NotInFieldsError as reason:
        note = (
            f"The fields cannot express this recipe: {reason}. It is used unchanged. Clear it "
            "to get the fields back."
        )
        return RecipeState(line, line, None, recipe, note=note)
    wrong = [] if fields.line == line else fields.problems
    return RecipeState(line, line, fields, recipe, wrong_fields=wrong)
