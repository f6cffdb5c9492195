"""Linter of plain words, as `make lint-words`.

python -m tests.words                     fail where a count is above that of ratchet.toml
python -m tests.words --report            counts and shares of each check
python -m tests.words --list variables    findings of a check, with their places
python -m tests.words --lower             write today's counts where they are below the ratchet
python -m tests.words --commit-msg FILE   check a commit message
"""

from __future__ import annotations

import argparse
import sys
import tomllib
from collections import Counter
from pathlib import Path

from tests.words.checks import CHECKS, FOLDER, Checked, check_all, commit_problem

RATCHET = FOLDER / "ratchet.toml"
MAX_PLACES = 10


def counts_of(checked: list[Checked]) -> dict[str, Counter[str]]:
    """Count the findings by check and package."""
    counts: dict[str, Counter[str]] = {}
    for unit in checked:
        by_package = counts.setdefault(unit.check, Counter())
        if unit.finding:
            by_package[unit.finding.package] += 1
    return counts


def rises(
    counts: dict[str, Counter[str]], ratchet: dict[str, dict[str, int]]
) -> list[tuple[str, str]]:
    """List each (check, package) with more findings than the ratchet allows."""
    return [
        (check, package)
        for check, by_package in counts.items()
        for package, n in by_package.items()
        if n > ratchet.get(check, {}).get(package, 0)
    ]


def written(counts: dict[str, Counter[str]]) -> str:
    """Counts as the text of ratchet.toml."""
    lines = [
        "# Findings of `make lint-words` that are still there, by check and package. They only fall:",
        "# `python -m tests.words --lower`.",
    ]
    for check in sorted(counts):
        lines += ["", f'["{check}"]']
        lines += [f'"{package}" = {n}' for package, n in sorted(counts[check].items()) if n]
    return "\n".join(lines) + "\n"


def report(checked: list[Checked]) -> str:
    """Table of the checks: units, findings, and the share of findings in percent."""
    total = Counter(unit.check for unit in checked)
    wrong = Counter(unit.check for unit in checked if unit.finding)
    lines = [f"{'check':<20}{'units':>8}{'findings':>10}{'share':>9}"]
    lines += [
        f"{check:<20}{n:>8}{wrong[check]:>10}{100 * wrong[check] / n:>8.1f}%"
        for check, n in total.items()
    ]
    return "\n".join(lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("--report", action="store_true")
    parser.add_argument("--list", metavar="CHECK")
    parser.add_argument("--lower", action="store_true")
    parser.add_argument("--commit-msg", metavar="FILE", type=Path)
    options = parser.parse_args()
    if options.commit_msg:
        problem = commit_problem(options.commit_msg.read_text("utf-8"))
        print(problem, end="\n" if problem else "", file=sys.stderr)
        return int(bool(problem))
    if options.list and options.list not in CHECKS:
        parser.error(f"There is no check {options.list!r}. There are: {', '.join(CHECKS)}.")
    checked = list(check_all())
    counts = counts_of(checked)
    if options.list:
        print(
            *(unit.finding for unit in checked if unit.finding and unit.check == options.list),
            sep="\n",
        )
        return 0
    if options.report:
        print(report(checked))
        return 0
    ratchet = tomllib.loads(RATCHET.read_text("utf-8")) if RATCHET.exists() else {}
    risen = rises(counts, ratchet)
    for check, package in risen:
        allowed = ratchet.get(check, {}).get(package, 0)
        print(
            f"{check} in {package}: {counts[check][package]} findings, and {allowed} are allowed."
        )
        findings = [
            u.finding
            for u in checked
            if u.finding and (u.check, u.finding.package) == (check, package)
        ]
        print(*(f"  {finding}" for finding in findings[:MAX_PLACES]), sep="\n")
    if risen and not (options.lower and not RATCHET.exists()):
        print("Use terms of docs/terms.md; the lists are in tests/words/words.toml.")
        return 1
    if options.lower:
        RATCHET.write_text(written(counts), "utf-8")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
