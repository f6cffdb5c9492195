"""Bundle of modules into the one script of the task page."""

import re

import pytest

from crux_site.script_bundles import BundleError, bundle

MODULES = {
    "main": 'import { add, Sum } from "./sum.js";\nimport "./page.js";\nlog(add(1, 2), new Sum());',
    "sum": 'import { one } from "./one.js";\nexport function add(a, b) { return a + b; }\n'
    "export class Sum {}\n",
    "one": "export const one = 1; // a comment\n",
    "page": 'import { one } from "./one.js";\nconst add = one;\nexport async function load() {}\n',
}


def test_modules_come_before_those_that_import_them():
    script = bundle("main", MODULES.__getitem__)
    positions = [script.index(f'modules["{name}"]=') for name in ("one", "sum", "page", "main")]
    assert positions == sorted(positions)
    assert script.count('modules["one"]=') == 1
    assert 'const{add,Sum}=modules["sum"];' in script
    assert "return{add,Sum};" in script
    assert "return{load};" in script
    assert not {"import", "export", "comment"} & set(script.replace("(", " ").split())


@pytest.mark.parametrize(
    ("line", "message"),
    [
        (
            'import { one as two } from "./one.js";',
            "main.js cannot be bundled: import { one as two",
        ),
        ('import one from "./one.js";', "main.js cannot be bundled: import one"),
        ("export let total = 1;", "main.js cannot be bundled: export let total"),
        ("export default 1;", "main.js cannot be bundled: export default"),
        ("await load();", "main.js cannot be bundled: await load"),
        ('import { main } from "./main.js";', "Imports in a circle: main imports main."),
    ],
)
def test_other_forms_are_refused_with_their_line(line, message):
    modules = MODULES | {"main": line}
    with pytest.raises(BundleError, match=re.escape(message)):
        bundle("main", modules.__getitem__)
