"""Rankings and pools that hypothesis draws."""

import numpy as np
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

# Powers of 1 - alpha are exact for these alphas, so that ties are ties whatever sums them up.
ALPHAS = st.sampled_from([0.0, 0.5, 0.75, 1.0])


@st.composite
def topics(draw):
    """A pool and a ranking that may hold passages from outside it."""
    passages, ranks, questions = (
        draw(st.integers(1, 8)),
        draw(st.integers(0, 8)),
        draw(st.integers(1, 5)),
    )
    elements = st.sampled_from([0, 1, 2, 3, 4, 5, np.nan])
    pool = draw(arrays(np.float64, (passages, questions), elements=elements))
    ranked = draw(arrays(np.float64, (ranks, questions), elements=elements))
    return pool, ranked, [f"p{number}" for number in draw(st.permutations(range(passages)))]
