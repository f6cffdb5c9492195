"""The client's wheel in an empty environment, against a served site."""

import json

import pytest

from crux_client import Site, frames
from tests.toolbox.api_seed import ADMIN
from tests.toolbox.paths import ROOT
from tests.toolbox.wheels import (
    build_wheel,
    clean_environ,
    install,
    make_environment,
    needs_uv,
    run,
)

READ = """
import json, os
import crux_client
from crux_client import Site, frames

study = Site(os.environ["CRUX_URL"], os.environ["CRUX_TOKEN"]).dataset("coastal-demo")
ratings = study.ratings(rubric="graded")
print(json.dumps({
    "file": crux_client.__file__,
    "has_parquet": frames.can_read_parquet(),
    "types": [str(kind) for kind in ratings.dtypes],
    "ratings": ratings.to_json(orient="split", date_format="iso", date_unit="us"),
    "topics": list(study.topics()["name"]),
}))
"""


@pytest.mark.soak
@pytest.mark.any_database
@needs_uv
def test_installed_client_reads_the_same_with_and_without_pyarrow(served, tmp_path):
    wheel = build_wheel(ROOT / "client", tmp_path)
    programs = make_environment(tmp_path / "env")
    study = Site(served, ADMIN).dataset("coastal-demo")
    ratings = study.ratings(rubric="graded")
    assert frames.can_read_parquet()
    assert len(ratings) > 50
    for requirement, has_parquet in ((wheel, False), (f"{wheel}[parquet]", True)):
        install(programs, requirement)
        done = run(
            *(programs / "python", "-I", "-c", READ),
            cwd=tmp_path,
            env=clean_environ() | {"CRUX_URL": served, "CRUX_TOKEN": ADMIN},
        )
        assert done.returncode == 0, done.stderr
        output = json.loads(done.stdout)
        assert output.pop("file").startswith(str(tmp_path))
        assert output == {
            "has_parquet": has_parquet,
            "types": [str(kind) for kind in ratings.dtypes],
            "ratings": ratings.to_json(orient="split", date_format="iso", date_unit="us"),
            "topics": list(study.topics()["name"]),
        }
