"""What is made for the installation from the lists of the programs: manual pages and completions."""
import pathlib
import re
import shutil
import subprocess

import pytest
from support import BUILD, SOURCE

PACKAGE = BUILD / "package"
PAGES = ["cairn.1", "cairn-bot.1", "libcairn.3", "cairnd.yaml.5", "cairn-scene.5", "cairnd.8"]
OPTIONS = re.findall(r'^OPTION\((\w+), \w+, \w+, "([\w-]+)"', (SOURCE / "server" / "options.def").read_text(), re.M)
VERBS = re.findall(r'^VERB\(\w+, (\w+), "([^"]*)"', (SOURCE / "clients" / "cli" / "verbs.def").read_text(), re.M)


def plain(page):
    """A page without the escapes of roff."""
    return re.sub(r"\\f.|\\[&:]", "", (PACKAGE / "man" / page).read_text()).replace("\\-", "-").replace("\\e", "\\")


@pytest.mark.skipif(shutil.which("mandoc") is None, reason="mandoc is not installed")
@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_well_formed(page):
    done = subprocess.run(["mandoc", "-T", "lint", "-W", "warning", str(PACKAGE / "man" / page)], capture_output=True, text=True)
    findings = [line for line in done.stdout.splitlines() if "missing date" not in line and "STYLE" not in line]
    assert findings == []


def test_the_pages_have_everything_of_the_lists():
    assert len(OPTIONS) > 60 and len(VERBS) > 25
    daemon, keys, client, scene, library = (plain(page) for page in (
        "cairnd.8", "cairnd.yaml.5", "cairn.1", "cairn-scene.5", "libcairn.3"))
    for command, name in OPTIONS:
        assert f"--{name}" in daemon
        assert command != "SERVE" or name in ("config", "check-config") or f"\n{name}: " in keys
    for name, usage in VERBS:
        assert f"\n{name} {usage}".rstrip() in client
    for key in re.findall(r"^KEY\(\w+, \w+, (\w+),", (SOURCE / "protocol" / "scene" / "schema.def").read_text(), re.M):
        assert re.search(rf"^{key}\b", scene, re.M), key
    header = re.sub(r"/\*.*?\*/", "", (SOURCE / "clients" / "c" / "cairn.h").read_text(), flags=re.S)
    for name in re.findall(r"^CAIRN_API [^;]*?\b(cairn_\w+)\(", header, re.M):
        assert f"{name}(" in library


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_completions_are_scripts_of_their_shell(shell):
    scripts = sorted((PACKAGE / shell).iterdir())
    assert len(scripts) == 3
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    for script in scripts:
        done = subprocess.run([shell, "-n", str(script)], capture_output=True, text=True)
        assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("words, expected", [
    (["cairnd", "--da"], {"--data"}), (["cairnd", "ru"], {"run"}), (["cairnd", "run", "--tic"], {"--ticks"}),
    (["cairn", "watch", "w", "--dr"], {"--draw"}), (["cairn", "to"], {"token", "top"}), (["cairn-bot", "--pl"], {"--players"}),
])
def test_bash_completes_verbs_and_options(words, expected):
    script = (PACKAGE / "bash" / words[0]).read_text()
    function = "_" + words[0].replace("-", "_")
    asked = f"{script}\nCOMP_WORDS=({' '.join(words)}) COMP_CWORD={len(words) - 1}\n{function}\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n"
    done = subprocess.run(["bash", "-c", asked], capture_output=True, text=True, cwd=pathlib.Path("/"))
    assert set(done.stdout.split()) == expected, done.stderr


def test_the_unit_and_the_files_for_builds_name_this_installation():
    unit, pc = (PACKAGE / "cairnd.service").read_text(), (BUILD / "server" / "package" / "cairn.pc").read_text()
    prefix = re.search(r"^prefix=(.*)$", pc, re.M).group(1)
    assert f"ExecStart={prefix}/bin/cairnd " in unit and "man:cairnd(8)" in unit
    assert "-lcairn" in pc and (BUILD / "server" / "package" / "cairn-config.cmake").exists()
