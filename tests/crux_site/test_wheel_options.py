"""Options of `crux` before a command is run."""

import pytest

from crux_site.wheel_entry import _data_option


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        ([], ("", [])),
        (["demo"], ("", ["demo"])),
        (["--data", "a", "serve", "--port", "1"], ("a", ["serve", "--port", "1"])),
        (["--data=a", "serve"], ("a", ["serve"])),
    ],
)
def test_data_folder_is_read_from_the_option(arguments, expected):
    assert _data_option(arguments) == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--data"], "needs a folder"),
        (["--data="], "needs a folder"),
        (["demo", "--data", "a"], "before the command"),
        (["demo", "--data=a"], "before the command"),
    ],
)
def test_misplaced_data_folder_is_named(arguments, message):
    with pytest.raises(SystemExit, match=message):
        _data_option(arguments)
