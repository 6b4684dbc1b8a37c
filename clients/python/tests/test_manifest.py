"""cairn/manifest.py is what the server's manifests say."""
import pathlib
import subprocess
import sys

FOLDER = pathlib.Path(__file__).resolve().parents[1]


def test_the_manifest_is_current():
    subprocess.run([sys.executable, FOLDER / "make_manifest.py", "--check"], check=True)
