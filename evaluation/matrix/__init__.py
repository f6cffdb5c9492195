"""Rating matrices: the topics of a dataset, and the matrix of a topic."""

from annotation.pages import Page, Tab

PAGE = Page(
    "Rating matrix",
    help="researchers#rating-matrix",
    tab=Tab(url_name="matrices", order=30, carries="scoring"),
    shared=("matrices", "matrices_table"),
    shared_with_text=("matrix", "matrix_table", "rubric_matrix"),
)
