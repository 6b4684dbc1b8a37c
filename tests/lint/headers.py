"""Every header compiles alone, with every installed compiler and the flags of the build.

A header that a source of the product includes before anything else compiles alone whenever that source does: with
the compiler of the build, whose objects `make lint` brings up to date, and with clang in .ci/run. Of it only the guard
is checked here, which makes the second inclusion harmless. All others are compiled.

Results are stored in BUILD/lint/headers.cache under a hash of all inputs (compiler, flags, the
header and all that it includes), so that a second run compiles changed headers only."""
import concurrent.futures
import hashlib
import json
import os
import re
import shutil
import subprocess

TITLE = "every header compiles alone under every compiler at hand"

QUOTED = re.compile(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', re.M)
DIRECTIVE = re.compile(r'^[ \t]*#[ \t]*(\w+)[ \t]*([^\n]*)', re.M)
# What `make lint` links, and so compiles.
PRODUCT = re.compile(r"(server/(?!package/)|protocol/|clients/(lib|cli|bot)/).*\.c$")
LIBRARIES = ("CHECK", "UV", "MSGPACK", "SQLITE", "ZSTD", "XXHASH", "CRYPTO", "CYAML", "YAML", "ASSIMP")
STANDARD_FLAGS = "-std=c17 -Wall -Wextra"


def flags(tree):
    """The warnings and language options of the build, without sanitizers and coverage."""
    ours = (tree.makefile_variable("CAIRN_CFLAGS") or STANDARD_FLAGS).split()
    kept = [flag for flag in ours if not flag.startswith(("-fsanitize", "-fno-sanitize", "--coverage"))]
    for library in LIBRARIES:
        kept += tree.makefile_variable(library + "_CFLAGS").split()
    return kept + ["-Werror", "-I" + tree.source, "-I" + tree.build, "-D_GNU_SOURCE"]


def closure(tree, path, seen):
    if path in seen:
        return
    seen.add(path)
    for included in QUOTED.findall(tree.text(path)):
        if included in tree.paths:
            closure(tree, included, seen)


def key(tree, path, compiler, options):
    seen = set()
    closure(tree, path, seen)
    total = hashlib.sha256(" ".join([compiler, *options]).encode())
    for name in sorted(seen):
        total.update(name.encode() + b"\0" + tree.text(name).encode() + b"\0")
    return total.hexdigest()


def compile_alone(path, compiler, options):
    """The first error, or an empty string. The header is included twice, which must be harmless."""
    twice = f'#include "{path}"\n#include "{path}"\n'
    run = subprocess.run([compiler, "-fsyntax-only", *options, "-x", "c", "-"], input=twice,
                         capture_output=True, text=True, check=False)
    if run.returncode == 0:
        return ""
    errors = [line for line in run.stderr.splitlines() if "error" in line]
    return (errors or run.stderr.splitlines() or ["no message"])[0]


def guarded(text):
    """Whether all of a header stands between #ifndef NAME, #define NAME and the last #endif."""
    found = DIRECTIVE.findall(text)
    return (len(found) > 2 and found[0][0] == "ifndef" and found[1][0] == "define" and
            found[0][1].split() == found[1][1].split()[:1] and found[-1][0] == "endif")


def proved_by_build(tree):
    """The guarded headers that a source of the product includes first."""
    proved = set()
    for path in filter(PRODUCT.match, tree.paths):
        first = DIRECTIVE.search(tree.text(path))
        name = first.group(2).strip().strip('"') if first and first.group(1) == "include" else None
        if name in tree.paths and guarded(tree.text(name)):
            proved.add(name)
    return proved


def load(place):
    try:
        with open(place, encoding="utf-8") as file:
            return json.load(file)
    except (OSError, ValueError):
        return {}


def check(tree):
    compilers = [name for name in ("gcc", "clang") if shutil.which(name)] or ["cc"]
    options = flags(tree)
    place = os.path.join(tree.build, "lint", "headers.cache")
    known = {} if tree.fixture else load(place)
    proved = proved_by_build(tree)
    jobs = [(key(tree, path, compiler, options), path, compiler)
            for path in tree.ending(".h") if path not in proved for compiler in compilers]
    results = {job[0]: known[job[0]] for job in jobs if job[0] in known}
    missing = [job for job in jobs if job[0] not in results]
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        outcomes = pool.map(lambda job: compile_alone(job[1], job[2], options), missing)
        for job, outcome in zip(missing, outcomes):
            results[job[0]] = outcome
    if not tree.fixture:
        os.makedirs(os.path.dirname(place), exist_ok=True)
        with open(place, "w", encoding="utf-8") as file:
            json.dump(results, file)
    return [f"{path}:1: {compiler}: {results[name]}" for name, path, compiler in jobs if results[name]]


SELF_TESTS = [
    ("a header that needs another one first is seen", {
        "server/base/a.h": "#ifndef A\n#define A\nsize_t f(void);\n#endif\n"}, "size_t"),
    ("a header without a guard is seen", {"server/base/a.h": "struct a { int b; };\n"}, "a.h"),
    ("a header that names what it needs passes", {
        "server/base/a.h": '#ifndef A\n#define A\n#include "server/base/b.h"\nstruct a { b b; };\n#endif\n',
        "server/base/b.h": "#ifndef B\n#define B\ntypedef int b;\n#endif\n"}, None),
    ("a header that a source includes first is left to the build", {
        "server/base/a.h": "#ifndef A\n#define A\nsize_t f(void);\n#endif\n",
        "server/base/a.c": '#include "server/base/a.h"\n'}, None),
    ("a header that a source includes second is compiled", {
        "server/base/a.h": "#ifndef A\n#define A\nsize_t f(void);\n#endif\n",
        "server/base/a.c": '#include <stddef.h>\n#include "server/base/a.h"\n'}, "size_t"),
    ("a header without a guard is seen though a source includes it first", {
        "server/base/a.h": "struct a { int b; };\n",
        "server/base/a.c": '#include "server/base/a.h"\n'}, "a.h"),
    ("a header that a test includes first is compiled", {
        "server/base/a.h": "#ifndef A\n#define A\nsize_t f(void);\n#endif\n",
        "tests/unit/server/base/test_a.c": '#include "server/base/a.h"\n'}, "size_t"),
]
