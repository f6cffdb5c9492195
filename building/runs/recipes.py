"""A recipe as fields and as a line: each made of the other, and which of them a form that came back means."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from building.retrieval.recipe import Recipe, RecipeError, Stage, parsed
from building.runs.forms import Offers, StageForm
from building.steps import KINDS, check

FIRST = {name: kind for name, kind in KINDS.items() if not (kind.reorders or kind.joins)}
NEXT = {name: kind for name, kind in KINDS.items() if kind.reorders}
JOINING = {name: kind for name, kind in KINDS.items() if kind.joins}
[JOIN] = JOINING
MOST_NEXT = 5  # further steps
NOTHING = "nothing further"
BOTH = (
    "The line and the fields were both changed, and say different things. Now the fields say what the line "
    "does: go on if that is meant."
)


class NotInFields(Exception):
    """A recipe for which the fields have no room: what of it."""


class Fields:
    """The steps of a recipe as forms: one or two first rankings, how two are joined, and what follows."""

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
        """The forms with their titles: of further steps those that are chosen, and one to choose."""
        joined = [("Joined how", self.join)] if self.join else []
        last = next((n for n, form in enumerate(self.next, 1) if not form.is_chosen), MOST_NEXT)
        last = max([last, *(n for n, form in enumerate(self.next, 1) if form.is_chosen)])
        then = [(f"Then, step {n}", form) for n, form in enumerate(self.next[:last], 1)]
        return [("First ranking", self.first), ("Joined with", self.second), *joined, *then]

    @property
    def problems(self) -> list[str]:
        """What is wrong with the fields, each with its step and its name."""
        return [
            f"{title}, {form.fields[name].label or name}: {' '.join(map(str, errors))}"
            for title, form in self.shown
            for name, errors in form.errors.items()
        ]

    @property
    def line(self) -> str | None:
        """What they say; None where one of them is wrong."""
        if not all(form.is_valid() for form in self.chosen):
            return None
        first = self.first.stage()
        if self.join:
            parts = (Recipe((first,)), Recipe((self.second.stage(),)))
            join = self.join.stage()
            first = Stage(join.name, parts, join.options, join.cut)
        then = [form.stage() for form in self.next if form.is_chosen]
        return str(Recipe((first, *then)))


def data_of(recipe: Recipe) -> dict[str, str]:
    """What the fields hold that say this recipe. Raises NotInFields."""
    first, *then = recipe.stages
    data: dict[str, str] = {}
    if first.name == JOIN:
        if len(first.arguments) != 2:
            raise NotInFields(
                f"{first.name} joins {len(first.arguments)} rankings here, and the fields two"
            )
        for prefix, part in zip(("first", "second"), first.arguments, strict=True):
            if len(part.stages) > 1 or part.stages[0].name not in FIRST:
                raise NotInFields(f"“{part}” has steps of its own within {first.name}")
            data |= _of_stage(prefix, part.stages[0])
        data |= _of_stage("join", first)
    else:
        data |= _of_stage("first", first)
    if len(then) > MOST_NEXT:
        raise NotInFields(
            f"{len(then)} steps follow the first, and the fields have room for {MOST_NEXT}"
        )
    for number, stage in enumerate(then, 1):
        data |= _of_stage(f"then{number}", stage)
    return data


def _of_stage(prefix: str, stage: Stage) -> dict[str, str]:
    if odd := next((words for _, words in stage.options if not words.isprintable()), ""):
        raise NotInFields(f"{odd!r} has signs that a field cannot hold")
    options = {f"{prefix}-{stage.name}-{key}": words for key, words in stage.options}
    return {f"{prefix}-step": stage.name, f"{prefix}-cut": str(stage.cut or ""), **options}


@dataclass
class Described:
    """A recipe as its page shows it.

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


def described(sent: Mapping[str, str], offers: Offers) -> Described:
    """What a form that came back says: the line or the fields, as one was changed; if both were, the line."""
    line, was = sent.get("recipe", "").strip(), sent.get("was", "")
    if "first-step" not in sent:
        return of_line(line, offers)
    fields = Fields(sent, offers)
    by_fields = fields.line
    is_line_changed = line not in (was, "")
    if is_line_changed:
        told = of_line(line, offers)
        if told.problem:
            # Who corrects the line finds the fields as they were.
            return Described(line, was, fields, problem=told.problem)
        if by_fields and by_fields not in (was, line):
            told.problem = BOTH
        return told
    if by_fields is None:
        return Described(line, was, fields, wrong_fields=fields.problems)
    return of_line(by_fields, offers)


def of_line(line: str, offers: Offers) -> Described:
    """A line with the fields that say the same, as far as they can."""
    try:
        recipe = parsed(line)
        check(recipe)
    except RecipeError as error:
        return Described(line, line, None, problem=str(error))
    line = str(recipe)
    try:
        fields = Fields(data_of(recipe), offers)
    except NotInFields as reason:
        note = f"The fields cannot say this line: {reason}. It is made as it is; an empty one shows the fields."
        return Described(line, line, None, recipe, note=note)
    wrong = [] if fields.line == line else fields.problems
    return Described(line, line, fields, recipe, wrong_fields=wrong)
