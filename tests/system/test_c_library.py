"""libcairn as a program of another project meets it: names, headers, and the examples in C and C++."""
import os
import re
import shutil
import subprocess

import pytest
from support import BUILD, SANITIZED, SOURCE, TOWER, Cli, daemon

LIBRARY = BUILD / "package" / "lib"
HEADER = SOURCE / "clients" / "c" / "cairn.h"
EXAMPLES = SOURCE / "clients" / "c" / "examples"
CC, CXX = os.environ.get("CC", "cc"), os.environ.get("CXX", "c++")
needs_cxx = pytest.mark.skipif(shutil.which(CXX) is None, reason="no C++ compiler is installed")
# A program without a sanitizer cannot load a library with one.
plain = pytest.mark.skipif(SANITIZED, reason="the library needs the runtime of its sanitizer")


def names(path, *options):
    out = subprocess.run(["nm", "--defined-only", *options, str(path)], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1] for line in out.splitlines() if len(line.split()) == 3}


def declared():
    return set(re.findall(r"\b(cairn_\w+)\(", re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.S)))


@plain
def test_both_libraries_define_exactly_the_functions_of_the_header():
    assert len(declared()) > 25
    assert names(LIBRARY / "libcairn.so", "--dynamic") == declared()
    assert names(LIBRARY / "libcairn.a", "--extern-only") == declared()


def test_the_header_declares_prefixed_names_only():
    text = re.sub(r"/\*.*?\*/", "", HEADER.read_text(), flags=re.S)
    tags = re.findall(r"\b(?:struct|enum|union)\s+(\w+)", text)
    macros = re.findall(r"#define\s+(\w+)", text)
    typedefs = re.findall(r"^}\s*(\w+);|^typedef struct \w+ (\w+);", text, re.M)
    values = re.findall(r"^\t(\w+) = \d+,?$", text, re.M)
    assert len(tags) > 50 and len(values) > 80 and len(typedefs) > 15
    for name in [*tags, *macros, *values, *("".join(pair) for pair in typedefs)]:
        assert name.lower().startswith("cairn_"), name


@pytest.mark.parametrize("command", [
    [CC, "-std=c99", "-xc"], [CC, "-std=c11", "-pedantic", "-xc"], [CC, "-std=c17", "-pedantic", "-xc"],
    pytest.param([CXX, "-std=c++11", "-pedantic", "-xc++"], marks=needs_cxx),
    pytest.param([CXX, "-std=c++20", "-pedantic", "-xc++"], marks=needs_cxx),
], ids=lambda command: command[1])
def test_the_header_compiles_alone_and_twice(command):
    done = subprocess.run([*command, "-Wall", "-Wextra", "-Werror", "-fsyntax-only", f"-I{HEADER.parent}", "-"],
                          input="#include <cairn.h>\n#include <cairn.h>\n", capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.fixture(scope="module")
def server():
    with daemon("--scene", TOWER) as running:
        yield running


def run_example(folder, name, address, *words, static=False):
    source = EXAMPLES / name
    program = folder / source.stem
    compiler = [CXX, "-std=c++17"] if source.suffix == ".cpp" else [CC, "-std=c99"]
    link = [f"-L{LIBRARY}", "-lcairn", f"-Wl,-rpath,{LIBRARY}"]
    if static:
        needed = subprocess.run(["readelf", "-d", str(LIBRARY / "libcairn.so")], capture_output=True, text=True).stdout
        link = [str(LIBRARY / "libcairn.a"), *(f"-l:{found}" for found in re.findall(r"NEEDED.*\[(lib.*)\]", needed))]
    done = subprocess.run([*compiler, "-Wall", "-Wextra", "-Werror", f"-I{HEADER.parent}", str(source), "-o", str(program), *link],
                          capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    done = subprocess.run([str(program), address, *words], capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done.stderr
    return done.stdout


@plain
@pytest.mark.parametrize("static", [False, True], ids=["shared", "static"])
def test_the_example_in_c_spawns_pushes_steps_and_verifies(server, tmp_path, static):
    text = run_example(tmp_path, "hello.c", server.address, static=static)
    assert re.search(r"^hash [0-9a-f]{16} right$", text, re.M) and "contact of 1 and 2" in text
    # A sphere of 524 kg rests on the plane: gravity's force within a thousandth.
    force = float(re.search(r"([\d.]+) N", text).group(1))
    assert force == pytest.approx(1000 * 4 / 3 * 3.14159265 * 0.125 * 9.81, rel=1e-3)


@plain
@needs_cxx
def test_the_example_in_cpp_lives_in_a_foreign_loop(server, tmp_path):
    Cli(server.address).text("resume", "tower")
    text = run_example(tmp_path, "watch.cpp", server.address, "tower", "2")
    lines = re.findall(r"^(\d+) of (\d+) frames verified; body \d+", text, re.M)
    assert len(lines) == 2 and all(a == b for a, b in lines) and int(lines[-1][1]) > 20
