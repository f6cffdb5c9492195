"""Rating matrices: the topics of a dataset, and the matrix of a topic."""

from annotation.pages import NavLink, Page

PAGE = Page(
    "Matrix",
    help="researchers#matrix",
    section="matrix",
    links=(NavLink(url_name="matrices", carries="scoring"),),
    shared=("matrices", "matrices_table", "matrix"),
    shared_with_text=("matrix_table", "rubric_matrix"),
)
