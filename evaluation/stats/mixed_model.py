"""Linear mixed model: system fixed; topic, rater and text random; contrasts with a base."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import scipy
from numpy.typing import ArrayLike
from threadpoolctl import threadpool_limits

from evaluation.stats.estimate import Estimate
from evaluation.stats.randomisation import holm

if TYPE_CHECKING:
    import pandas as pd

TOPIC, RATER, TEXT, RESIDUAL = "topic", "rater", "system and topic", "residual"
LARGEST = 200  # the time grows with the cube of the texts: these take about two seconds
NOTHING = 1e-5  # of the residual's variance: what the search leaves of a component that is 0


@dataclass(frozen=True, slots=True)
class Contrast:
    """System less the base: `n` counts the topics of both; `p_holm` holds for all contrasts."""

    system: str
    difference: Estimate
    p: float
    p_holm: float | None = None


@dataclass(frozen=True, slots=True)
class MixedModel:
    """Fit of the model, or in `reason` why there is none, without components and contrasts.

    `components` are variances by TOPIC, RATER, TEXT and RESIDUAL, None for one that these values
    cannot tell from the residual. `n` counts values, of `n_topics` topics and `n_raters` raters.
    """

    reason: str | None
    n: int
    n_topics: int
    n_raters: int
    base: str
    components: dict[str, float | None]
    contrasts: tuple[Contrast, ...]


def mixed_model(
    values: ArrayLike,
    systems: Sequence[str],
    topics: Sequence[object],
    raters: Sequence[object],
    base: str,
) -> MixedModel:
    """Fit value = system + topic + rater + (system and topic) + residual by REML.

    One value for each rating of a text: by which system, on which topic, by which rater; a missing
    one is not among them. The system is fixed, the others are crossed random effects: a contrast is
    about these systems, and for other topics and raters of the kind. "System and topic" is what a
    text is better than its system and its topic are; without it two raters of one text would count
    as two texts. A component is left out where the values cannot tell it: of one rater, or where no
    text has two raters. Intervals and p are by Student's t with topics - 1 degrees of freedom, since
    the normal ones are too narrow with few topics. Undefined with fewer than two systems or three
    topics, with values that are all the same, with more than LARGEST texts, or where the search for
    the likeliest variances finds none. Raises ValueError for lists of unequal lengths, a value
    that is not finite, or a base that is none of the systems.
    Source: Barr et al. (2013), Journal of Memory and Language 68(3), 255-278; statsmodels MixedLM.
    """
    import pandas as pd  # noqa: PLC0415 - and statsmodels below: they take a second to load

    numbers = np.asarray(values, dtype=np.float64)
    if not numbers.shape == (len(systems),) == (len(topics),) == (len(raters),):
        raise ValueError("values, systems, topics and raters are lists of equal length")
    if not np.isfinite(numbers).all():
        raise ValueError("a value is a finite number; a missing one is left out")
    if len(systems) and base not in systems:
        raise ValueError(f"the base is one of the systems, not {base!r}")
    data = pd.DataFrame(
        {"value": numbers, "system": systems, TOPIC: list(topics), RATER: list(raters)}
    )
    data[TEXT] = data.groupby(["system", TOPIC]).ngroup()
    whole = MixedModel(None, len(data), data[TOPIC].nunique(), data[RATER].nunique(), base, {}, ())
    reason = _too_little(data)
    return replace(whole, reason=f"undefined, because {reason}") if reason else _fitted(whole, data)


def _too_little(data: pd.DataFrame) -> str:
    if (n := data["system"].nunique()) < 2:
        return f"a comparison takes two systems with finished values, and there {_are(n)}"
    if (n := data[TOPIC].nunique()) < 3:
        return f"the spread over topics takes three of them, and there {_are(n)}"
    if (n := data[TEXT].nunique()) > LARGEST:
        return f"{n} texts are more than the {LARGEST} that the model is fitted to here"
    if np.ptp(data["value"]) < 1e-12:
        return "all values are the same"
    return ""


def _are(n: int) -> str:
    return "is one" if n == 1 else f"are {n}"


def _fitted(whole: MixedModel, data: pd.DataFrame) -> MixedModel:
    identifiable = {
        TOPIC: True,
        RATER: whole.n_raters > 1,
        TEXT: data[TEXT].nunique() < len(data),
    }
    fit, names = _fit(
        data,
        whole.base,
        [name for name in identifiable if identifiable[name]],
    )
    if fit is None:
        return replace(
            whole,
            reason="undefined, because the search for the likeliest variances found none that have "
            "errors: there are too few values for so many parts",
        )
    scale = float(fit.scale)
    variances = dict(zip(names, fit.vcomp.tolist(), strict=True))
    components: dict[str, float | None] = {
        name: (variances[name] if variances[name] > NOTHING * scale else 0.0)
        if is_identifiable
        else None
        for name, is_identifiable in identifiable.items()
    }
    topics_of = data.groupby("system")[TOPIC].agg(set)
    reach = float(scipy.stats.t.ppf(0.975, whole.n_topics - 1))
    contrasts: list[Contrast] = []
    tests: list[float] = []
    for system in sorted(set(data["system"]) - {whole.base}):
        value, error = float(fit.fe_params[system]), float(fit.bse_fe[system])
        common = len(topics_of[system] & topics_of[whole.base])
        difference = Estimate(
            value,
            None,
            common,
            whole.n_topics - common,
            value - reach * error,
            value + reach * error,
        )
        p = 2 * float(scipy.stats.t.sf(abs(value) / error, whole.n_topics - 1))
        contrasts.append(Contrast(system, difference, p))
        tests.append(p)
    adjusted = holm(tests).tolist()
    return replace(
        whole,
        components={**components, RESIDUAL: scale},
        contrasts=tuple(
            replace(contrast, p_holm=p) for contrast, p in zip(contrasts, adjusted, strict=True)
        ),
    )


def _fit(data: pd.DataFrame, base: str, random: Sequence[str]) -> tuple[Any, list[str]]:
    """statsmodels' fit and the names of its components; None where it did not come to an end."""
    import pandas as pd  # noqa: PLC0415
    from statsmodels.regression.mixed_linear_model import MixedLM, VCSpec  # noqa: PLC0415

    systems = [base, *sorted(set(data["system"]) - {base})]
    fixed = pd.DataFrame(
        {name: (data["system"] == name).astype(np.float64) for name in systems[1:]}
    )
    fixed.insert(0, "", 1.0)
    # Crossed effects: all values are one group, and each effect a column for each of its levels.
    matrices = [pd.get_dummies(data[name]).to_numpy(np.float64) for name in random]
    columns = [[str(column) for column in range(matrix.shape[1])] for matrix in matrices]
    spec = VCSpec(list(random), [[names] for names in columns], [[matrix] for matrix in matrices])
    # On many small matrices several threads wait for each other: up to ten times longer.
    with warnings.catch_warnings(), threadpool_limits(1):
        # A component at 0 is a finding and no fault; whether the search ended is asked below.
        warnings.simplefilter("ignore")
        model = MixedLM(data["value"], fixed, np.zeros(len(data)), exog_vc=spec)
        # Without derivatives: they have no end where a component goes to 0. Where several do, the
        # one may stop at a place that has no errors, and the other beside it.
        for method in ("powell", "nm"):
            try:
                fit = model.fit(reml=True, method=method, xtol=1e-5, ftol=1e-9)
            except np.linalg.LinAlgError:
                continue
            errors = np.asarray(fit.bse_fe)
            if fit.converged and np.isfinite(errors).all() and (errors > 0).all():
                return fit, list(random)
    return None, []
