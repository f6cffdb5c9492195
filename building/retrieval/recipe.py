"""Recipe language of retrieval runs, such as `fuse(bm25, run(name=lsr)) % 20`.

    recipe = stage (">" stage)*          each stage gets the ranking of the one before it
    stage  = name ["(" argument ("," argument)* ")"] ["%" number]      the number cuts the ranking
    argument = key "=" value | recipe

A value ends at a comma or a bracket. Read back from its own words a recipe is the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from annotation.errors import UserError

LONGEST = 2_000  # letters of a line
DEEPEST = 5  # recipes within recipes
_NAME = re.compile(r"[A-Za-z_][\w.:+-]*")
_NUMBER = re.compile(r"[1-9][0-9]{0,6}(?![0-9])")
_KEY = re.compile(r"([A-Za-z_]\w*)\s*=\s*")
_VALUE = re.compile(r"[^,()]+")
_SPACE = re.compile(r"\s*")


class RecipeError(UserError):
    """An invalid recipe; a sentence for a person."""


@dataclass(frozen=True)
class Stage:
    """A step with its arguments in order, and options by key."""

    name: str
    arguments: tuple[Recipe, ...] = ()
    options: tuple[tuple[str, str], ...] = ()
    cut: int | None = None

    def __str__(self) -> str:
        inside = [*map(str, self.arguments), *(f"{key}={value}" for key, value in self.options)]
        brackets = f"({', '.join(inside)})" if inside else ""
        return f"{self.name}{brackets}" + (f" % {self.cut}" if self.cut else "")


@dataclass(frozen=True)
class Recipe:
    stages: tuple[Stage, ...]

    def __str__(self) -> str:
        return " > ".join(map(str, self.stages))


def parse_recipe(line: str) -> Recipe:
    """Parse a recipe. Raises RecipeError, which names the place."""
    if len(line) > LONGEST:
        raise RecipeError(f"A recipe has at most {LONGEST:,} characters.")
    reader = _Reader(line)
    recipe = reader.recipe(DEEPEST)
    if reader.position < len(line):
        raise reader.error("“>” and another step, “%” and a number, or the end")
    return recipe


class _Reader:
    def __init__(self, line: str) -> None:
        self.line = line
        self.position = 0
        self.skip()

    def recipe(self, depth_left: int) -> Recipe:
        if not depth_left:
            raise RecipeError(f"Recipes can be nested at most {DEEPEST} levels deep.")
        stages = [self.stage(depth_left)]
        while self.accept(">"):
            stages.append(self.stage(depth_left))
        return Recipe(tuple(stages))

    def stage(self, depth_left: int) -> Stage:
        name = self.match(_NAME, "the name of a step")[0]
        arguments: list[Recipe] = []
        options: dict[str, str] = {}
        if self.accept("("):
            while True:
                key = _KEY.match(self.line, self.position)
                if key is None:
                    arguments.append(self.recipe(depth_left - 1))
                elif key[1] in options:
                    raise RecipeError(f"{name}: the option {key[1]} is a duplicate.")
                else:
                    self.position = key.end()
                    options[key[1]] = self.match(_VALUE, f"a value of {key[1]}")[0].strip()
                if not self.accept(","):
                    break
            if not self.accept(")"):
                raise self.error("“,” or “)”")
        cut = int(self.match(_NUMBER, "a whole number from 1")[0]) if self.accept("%") else None
        return Stage(name, tuple(arguments), tuple(sorted(options.items())), cut)

    def accept(self, sign: str) -> bool:
        if not self.line.startswith(sign, self.position):
            return False
        self.position += len(sign)
        self.skip()
        return True

    def match(self, pattern: re.Pattern[str], expected: str) -> re.Match[str]:
        match = pattern.match(self.line, self.position)
        if match is None:
            raise self.error(expected)
        self.position = match.end()
        self.skip()
        return match

    def skip(self) -> None:
        space = _SPACE.match(self.line, self.position)
        self.position = space.end() if space else self.position

    def error(self, expected: str) -> RecipeError:
        excerpt = self.line[self.position : self.position + 20]
        actual = f"“{excerpt}”" if excerpt else "the end"
        return RecipeError(
            f"Character {self.position + 1} of the recipe: expected {expected}, found {actual}."
        )
