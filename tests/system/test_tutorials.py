"""Every command of the tutorials works, and prints what the page says."""
import subprocess
import sys

import pytest
from support import SOURCE

PAGES = sorted((SOURCE / "docs" / "tutorials").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_tutorial_prints_what_it_says(page):
    done = subprocess.run([sys.executable, str(SOURCE / "docs" / "tutorials" / "run.py"), str(page)], capture_output=True,
                          text=True, timeout=120)
    assert done.returncode == 0, done.stderr


def test_there_are_tutorials():
    assert len(PAGES) >= 2
