"""How many files two walks through the package pass: `tools/walks.py`."""

from tools import walks


def test_only_files_whose_functions_run_are_counted():
    from trundle.spatial.vectors import add

    assert walks.files(lambda: add((1, 2, 3), (4, 5, 6))) == ["scalars.py", "spatial/vectors.py"]
    assert walks.files(lambda: None) == []


def test_both_walks_arrive(tmp_path):
    for name, walk in walks.walks(tmp_path).items():
        assert walks.files(walk), name
    assert (tmp_path / "plan.csv").read_text().startswith("Time (s),")
