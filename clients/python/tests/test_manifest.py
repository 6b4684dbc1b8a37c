"""The manifests of the clients equal those derived from the server's manifests."""
import pathlib
import subprocess
import sys

import pytest

CLIENTS = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("program", ["python/make_manifest.py", "js/make_manifest.py", "c/make_header.py"])
def test_the_manifest_is_current(program):
    subprocess.run([sys.executable, CLIENTS / program, "--check"], check=True)
