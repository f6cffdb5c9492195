"""The line that says how a run is made, such as `fuse(rrf:60, bm25 % 100, lsr) > by_ratings(judge=j) % 20`.

    recipe = stage (">" stage)*          each stage gets the ranking of the one before it
    stage  = name ["(" argument ("," argument)* ")"] ["%" number]      the number cuts the ranking
    argument = key "=" value | recipe

A value ends at a comma or a bracket. Read back from its own words a recipe is the same.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

LONGEST = 2_000  # letters of a line
DEEPEST = 5  # recipes within recipes
_NAME = re.compile(r"[A-Za-z_][\w.:+-]*")
_NUMBER = re.compile(r"[1-9][0-9]{0,6}(?![0-9])")
_KEY = re.compile(r"([A-Za-z_]\w*)\s*=\s*")
_VALUE = re.compile(r"[^,()]+")
_SPACE = re.compile(r"\s*")


class RecipeError(ValueError):
    """A line that is no recipe, or that asks for what there is not; a sentence for a person."""


@dataclass(frozen=True)
class Stage:
    """A step with its arguments: recipes and names in their order, and options by key."""

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


def parsed(line: str) -> Recipe:
    """Raises RecipeError, which names the place."""
    if len(line) > LONGEST:
        raise RecipeError(f"A recipe has at most {LONGEST:,} signs.")
    reader = _Reader(line)
    recipe = reader.recipe(DEEPEST)
    if reader.at < len(line):
        raise reader.wrong("“>” and another step, “%” and a number, or the end")
    return recipe


class _Reader:
    def __init__(self, line: str) -> None:
        self.line = line
        self.at = 0
        self.skip()

    def recipe(self, deeper: int) -> Recipe:
        if not deeper:
            raise RecipeError(f"Recipes stand within recipes at most {DEEPEST} deep.")
        stages = [self.stage(deeper)]
        while self.took(">"):
            stages.append(self.stage(deeper))
        return Recipe(tuple(stages))

    def stage(self, deeper: int) -> Stage:
        name = self.match(_NAME, "the name of a step")[0]
        arguments: list[Recipe] = []
        options: dict[str, str] = {}
        if self.took("("):
            while True:
                key = _KEY.match(self.line, self.at)
                if key is None:
                    arguments.append(self.recipe(deeper - 1))
                elif key[1] in options:
                    raise RecipeError(f"{name} is given {key[1]} twice.")
                else:
                    self.at = key.end()
                    options[key[1]] = self.match(_VALUE, f"a value of {key[1]}")[0].strip()
                if not self.took(","):
                    break
            if not self.took(")"):
                raise self.wrong("“,” or “)”")
        cut = int(self.match(_NUMBER, "a whole number from 1")[0]) if self.took("%") else None
        return Stage(name, tuple(arguments), tuple(sorted(options.items())), cut)

    def took(self, sign: str) -> bool:
        if not self.line.startswith(sign, self.at):
            return False
        self.at += len(sign)
        self.skip()
        return True

    def match(self, pattern: re.Pattern[str], what: str) -> re.Match[str]:
        match = pattern.match(self.line, self.at)
        if match is None:
            raise self.wrong(what)
        self.at = match.end()
        self.skip()
        return match

    def skip(self) -> None:
        space = _SPACE.match(self.line, self.at)
        self.at = space.end() if space else self.at

    def wrong(self, what: str) -> RecipeError:
        there = self.line[self.at : self.at + 20]
        found = f"“{there}”" if there else "its end"
        return RecipeError(
            f"At sign {self.at + 1} of the recipe stands {found}; there comes {what}."
        )
