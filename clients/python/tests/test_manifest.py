"""The manifests of the Python and the JavaScript client equal those derived from the server's manifests."""
import pathlib
import subprocess
import sys

import pytest

CLIENTS = pathlib.Path(__file__).resolve().parents[2]


@pytest.mark.parametrize("client", ["python", "js"])
def test_the_manifest_is_current(client):
    subprocess.run([sys.executable, CLIENTS / client / "make_manifest.py", "--check"], check=True)
