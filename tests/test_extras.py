"""Libraries that only some work needs: missing, too old, there in part."""

import sys
from importlib import invalidate_caches

import pytest

from trundle.errors import InputError
from trundle.extras import load


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A function that "installs" a library as pip would: its metadata, and a module of some source."""
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.setattr(
        "trundle.extras.requires", lambda name: ["stones>=2.1; extra == 'garden'", "numpy>=1"]
    )
    monkeypatch.delitem(sys.modules, "stones", raising=False)

    def install(version, source):
        (tmp_path / f"stones-{version}.dist-info").mkdir()
        about = f"Metadata-Version: 2.1\nName: stones\nVersion: {version}\n"
        (tmp_path / f"stones-{version}.dist-info/METADATA").write_text(about)
        if source is not None:
            (tmp_path / "stones.py").write_text(source)
        invalidate_caches()  # folders are listed once as long as their times, of some ms, are the same

    return install


def message_of(extra="garden"):
    with pytest.raises(InputError) as raised:
        load("stones", "gardens need stones", extra=extra, key="where")
    assert raised.value.key == "where"
    return raised.value.message, raised.value.hint


def test_what_is_there_is_imported(installed):
    installed("2.10.1", "weight = 3")
    assert load("stones", "gardens need stones", extra="garden").weight == 3
    assert load("stones", "gardens need stones").weight == 3


def test_what_is_missing_is_named_with_its_extra(installed):
    assert message_of() == ("gardens need stones, which is not installed", "pip install 'trundle[garden]'")
    assert message_of(extra=None)[1] == "pip install stones"
    with pytest.raises(InputError, match=r"pip install stones; sand needs nothing more"):
        load("stones", "gardens need stones", instead="sand needs nothing more")


def test_what_is_too_old_is_named_with_both_versions(installed):
    installed("2.0.3", "weight = 3")
    message, hint = message_of()
    assert message == "gardens need stones 2.1 or newer, but stones 2.0.3 is installed"
    assert hint == "pip install --upgrade 'trundle[garden]'"


@pytest.mark.parametrize(
    ("source", "said"),
    [
        (None, "No module named 'stones'"),
        ("raise OSError('libstones.so: cannot open shared object file')", "libstones.so: cannot open"),
        ("import a_library_that_stones_need", "No module named 'a_library_that_stones_need'"),
    ],
)
def test_what_is_there_in_part_is_named_with_the_cause(installed, source, said):
    installed("2.2", source)
    message, hint = message_of()
    assert message.startswith("gardens need stones 2.1 or newer; 2.2 is installed, but can't be imported: ")
    assert said in message
    assert hint == "pip install --force-reinstall stones"
    assert message_of(extra=None)[0].startswith(
        "gardens need stones; 2.2 is installed, but can't be imported: "
    )
