"""The gallery: every scene gives the numbers that it states, under every method that it names."""
import pathlib
import subprocess

import pytest
from support import CLIENT, SOURCE

GALLERY = SOURCE / "clients" / "scenes" / "gallery"
# What takes seconds, or minutes under sanitizers: `make gallery` runs these too.
LONG = {"arch951", "arch101", "arch25", "cards2", "cards3", "cards4", "dominoes"}
SCENES = [path.stem for path in sorted(GALLERY.glob("*.yaml"))]


def test_the_gallery_is_whole():
    page = (SOURCE / "docs" / "GALLERY.md").read_text()
    assert len(SCENES) >= 24
    for name in SCENES:
        assert f"gallery/{name}.yaml" in page and f"images/gallery/{name}.svg" in page, name
        assert "expect:" in (GALLERY / f"{name}.yaml").read_text(), name
    pictures = list(pathlib.Path(SOURCE / "docs" / "images" / "gallery").glob("*.svg"))
    assert {path.stem for path in pictures} == set(SCENES)
    assert sum(path.stat().st_size for path in pictures) < 1.5e6


def test_every_scene_has_a_small_picture():
    page, images = (SOURCE / "docs" / "PICTURES.md").read_text(), SOURCE / "docs" / "images" / "scenes"
    # What is in parts/ is included by scenes, and is none itself.
    scenes = [path.relative_to(GALLERY.parent).with_suffix("") for path in GALLERY.parent.rglob("*.yaml")
              if path.parent.name != "parts"]
    assert len(scenes) >= 48
    for scene in scenes:
        assert f"(images/scenes/{scene}.jpg)" in page and f"(../clients/scenes/{scene}.yaml)" in page, scene
        assert 2500 < (images / f"{scene}.jpg").stat().st_size <= 30000, scene


# Contacts at rest that depend on each other: a solver that gives an exact solution away leaves them to fallbacks, in which
# they start to move. Under other methods these scenes take seconds.
@pytest.mark.parametrize("name", ["arch25", "cards3", "cards4"])
def test_what_rests_under_impact_is_solved_exactly(name):
    done = subprocess.run([CLIENT, "compare", GALLERY / f"{name}.yaml", "--methods", "impact"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "nearly every problem is solved exactly" in done.stdout


@pytest.mark.parametrize("name", [name for name in SCENES if name not in LONG])
def test_a_scene_gives_its_numbers(name):
    done = subprocess.run([CLIENT, "compare", GALLERY / f"{name}.yaml"], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
