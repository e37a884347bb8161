"""`pressbox bench all` with its smallest benchmark, from the command to the files. No test looks at a time."""

import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from pressbox.entry.commands.bench import bench_commands


def test_a_benchmark_goes_through_all_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PRESSBOX_HOME", str(tmp_path / "home"))
    latest, release = tmp_path / "latest.json", tmp_path / "release.json"
    words = ["all", "--quick", "--only", "match", "--file", str(latest), "--release", str(release)]
    first = CliRunner().invoke(bench_commands, words)
    assert first.exit_code == 0, first.output
    found = json.loads(latest.read_text())
    against = {one["figure"]: one["against"] for one in found["ratios"]}
    assert against["document's rule"] == "plain Python loop"
    assert against["our rule, one pair"] == "a fixed loop"
    # A release that was so slow that nothing can have got worse, and one that was so fast that all of it has.
    for factor, code in ((1e6, 0), (1e-6, 1)):
        before = [
            {**one, "value": one["value"] * (factor if one["better"] == "lower" else 1 / factor)}
            for one in found["ratios"]
        ]
        release.write_text(json.dumps({**found, "ratios": before}))
        compared = CliRunner().invoke(bench_commands, words)
        assert compared.exit_code == code, compared.output
        assert f"Worse by more than a fifth: {len(before) if code else 'nothing'}" in compared.stdout
