"""Which folder may include which: the picture of docs/ARCHITECTURE.md as data.

A room is a folder; the longest matching prefix applies. `MAY` lists, for each room, the prefixes of
what it may include from the project (its own room as well). `SYSTEM` says which rooms may use which
system and library headers; headers that only compute or only declare are allowed everywhere."""
import re

TITLE = "includes follow the layers and only the outer rooms touch the operating system"

ENGINE = "server/engine/"
# The vocabulary of the engine, below every room of it.
COMMON = ["server/base/", ENGINE + "types.h", ENGINE + "tuning.h"]
MATH = COMMON + [ENGINE + "math/"]
LINALG = MATH + [ENGINE + "linalg/"]
GEOMETRY = LINALG + [ENGINE + "geometry/"]
COLLISION = GEOMETRY + [ENGINE + "collision/"]
SOLVERS = LINALG + [ENGINE + "solvers/"]
# Generated from fields.def and commands.def: the arrays and the commands, without the world's code.
DATA = [ENGINE + "world/tables.h", ENGINE + "world/command.h", ENGINE + "world/parameters.h",
        ENGINE + "world/parameters.def",
        ENGINE + "world/fields.def", ENGINE + "world/commands.def"]
# One layer in three rooms: a step moves bodies, particles and fluids, which act on each other.
DYNAMICS = COLLISION + SOLVERS + DATA + [ENGINE + "dynamics/", ENGINE + "particles/", ENGINE + "fluids/"]
STATICS = DYNAMICS + [ENGINE + "statics/"]
ARTICULATED = DYNAMICS + [ENGINE + "articulated/"]
METHODS = DYNAMICS + [ENGINE + "methods/"]

MANIFESTS = [ENGINE + "world/commands.def", ENGINE + "world/fields.def"]
# What protocol and server have in common: commands and events as values, without the world's code.
VOCABULARY = MANIFESTS + [ENGINE + "world/words.def", ENGINE + "world/command.h", ENGINE + "world/parameters.def", ENGINE + "types.h"]
ROOM = ["server/base/", "protocol/", ENGINE + "engine.h"] + MANIFESTS
# The daemon's rooms, each above those before it.
DAEMON = ["server/io/", "server/tick/", "server/options", "server/store/", "server/host/", "server/past/",
          "server/sync/", "server/session/", "server/worlds/", "server/requests/", "server/web/",
          "server/server.", "server/commands/", "server/main.c"]

MAY = {
    "server/base/": [],
    ENGINE + "types.h": ["server/base/", ENGINE + "math/"],
    ENGINE + "tuning.h": ["server/base/"],
    ENGINE + "math/": COMMON,
    ENGINE + "linalg/": MATH,
    ENGINE + "geometry/": LINALG,
    ENGINE + "collision/": GEOMETRY,
    ENGINE + "solvers/": LINALG,
    ENGINE + "dynamics/": DYNAMICS,
    ENGINE + "particles/": DYNAMICS,
    ENGINE + "fluids/": DYNAMICS,
    ENGINE + "methods/": METHODS,
    ENGINE + "statics/": STATICS,
    ENGINE + "articulated/": ARTICULATED,
    ENGINE + "packing/": GEOMETRY + SOLVERS,
    ENGINE + "world/": METHODS + [ENGINE + "statics/", ENGINE + "articulated/", ENGINE + "engine.h"],
    ENGINE: METHODS + [ENGINE],
    **{room: ROOM + DAEMON[:place] for place, room in enumerate(DAEMON)},
    "protocol/": ["server/base/"] + VOCABULARY,
    # Formulas of scenes have the engine's sine.
    "protocol/scene/": ["server/base/", "protocol/", ENGINE + "math/"] + VOCABULARY,
    "clients/": ["server/base/", "protocol/", "clients/"] + VOCABULARY,
    # Programs of the build, which write pages from every list.
    "server/package/": [""],
    "tests/": [""],
}
MAY["server/commands/"] += [ENGINE + "solids.h", ENGINE + "math/", ENGINE + "statics/overhang.h", ENGINE + "packing/packing.h", ENGINE + "solvers/solver.h"]

# Allowed everywhere: they declare, compute or copy.
PURE = {"float.h", "inttypes.h", "limits.h", "stdalign.h", "stdarg.h", "stdbool.h", "stddef.h",
        "stdint.h", "stdlib.h", "string.h"}
# stdio.h is for snprintf in most rooms; its other functions are refused by name below.
TEXT = {"stdio.h"}
OUTER = ["server/base/output_file.", "server/io/", "server/store/", "server/web/", "server/main.c", "server/commands/", "server/package/",
         "protocol/scene/", "clients/", "tests/"]
SYSTEM = {
    "math.h": [ENGINE + "math/", "tests/", "clients/", "protocol/scene/", "protocol/area.c", "protocol/complaint.c",
                "protocol/query_wire.c", "server/sync/"],
    # A cooked shape is shared by worlds on several threads, so its reference count is atomic: the
    # only atomic of the engine.
    "stdatomic.h": ["server/base/", "server/io/", "server/tick/", "server/host/",
                    ENGINE + "geometry/shape.c", "clients/", "tests/"],
    # Which vectors the processor has: results never depend on it.
    "cpuid.h": ["server/base/processor.c"],
    "xxhash.h": ["server/base/", "tests/"],
    "openssl/sha.h": ["server/base/", "server/io/", "tests/"],
    "openssl/evp.h": ["server/base/", "server/io/", "tests/"],
    # Integers only: it computes an elimination order, never a number of the simulation.
    "suitesparse/amd.h": [ENGINE + "linalg/order_amd.c"],
    "msgpack.h": ["protocol/", "clients/", "tests/"],
    "zstd.h": ["server/store/", "clients/", "tests/"],
    "immintrin.h": [ENGINE + "methods/", "tests/"],
}
# These print the last message of a process, count its heap, or get a stream from the caller.
PRINTS = ["server/base/base.c", "server/base/json_text.c", "server/base/json_text.h"]
REACHES_OUT = re.compile(
    r"\b((?:FILE|stdin|stdout|stderr)\b|(?:f?open|fdopen|freopen|tmpfile|fopen|fread|fwrite|fgets|fputs|fputc|puts|"
    r"putchar|v?f?printf|perror|getenv|setenv|system|clock|clock_gettime|gettimeofday|rand|srand|random|"
    r"fork|signal|time)(?=\s*\())")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)', re.M)


# An installed header finds another one beside it.
INSTALLED = {"clients/c/cairn.h": "cairn_manifest.h"}


def longest(table, path):
    prefixes = [prefix for prefix in table if path.startswith(prefix)]
    return max(prefixes, key=len) if prefixes else None


def within(path, prefixes):
    return any(path.startswith(prefix) for prefix in prefixes)


def check_project(tree, room, line, path, included, findings):
    if "/" not in included:
        if included not in ("config.h", INSTALLED.get(path)):
            findings.append(f"{path}:{line}: include {included!r} from the repository root")
    elif included not in tree.paths:
        findings.append(f"{path}:{line}: {included!r} is not a file of the project")
    elif not within(included, MAY[room] + [room]):
        findings.append(f"{path}:{line}: {room} may not use {included}")


def check_system(line, path, included, findings):
    if included in PURE or included in TEXT or within(path, OUTER):
        return
    if not within(path, SYSTEM.get(included, [])):
        findings.append(f"{path}:{line}: <{included}> has no place in this room")


def check_calls(tree, path, findings):
    if within(path, OUTER) or path in PRINTS or path.endswith(".def"):
        return
    for number, line in enumerate(tree.code(path).splitlines(), 1):
        found = REACHES_OUT.search(line)
        # A member or an identifier of the project with the same name is not a call of the library.
        if found and not re.search(r"(->|\.|struct |\w_)\s*$", line[:found.start()]):
            findings.append(f"{path}:{number}: {found.group(1)!r} reaches the operating system")


def check(tree):
    findings = []
    for path in tree.ending(".c", ".h", ".def"):
        room = longest(MAY, path)
        if room is None:
            findings.append(f"{path}:1: in no room; see MAY in tests/lint/layers.py")
            continue
        text = tree.text(path)
        for match in INCLUDE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            if match.group(1):
                check_project(tree, room, line, path, match.group(1), findings)
            else:
                check_system(line, path, match.group(2), findings)
        check_calls(tree, path, findings)
    return findings


SELF_TESTS = [
    ("an engine room that looks to its right is seen", {
        "server/engine/geometry/a.c": '#include "server/engine/collision/b.h"\n',
        "server/engine/collision/b.h": ""}, "may not use server/engine/collision/b.h"),
    ("a sibling is not to the left", {
        "server/engine/solvers/a.c": '#include "server/engine/geometry/b.h"\n',
        "server/engine/geometry/b.h": ""}, "may not use server/engine/geometry/b.h"),
    ("the engine cannot see the server", {
        "server/engine/world/a.c": '#include "server/io/io.h"\n',
        "server/io/io.h": ""}, "may not use server/io/io.h"),
    ("a server room comes in by the door only", {
        "server/session/a.c": '#include "server/engine/world/world.h"\n',
        "server/engine/world/world.h": ""}, "may not use server/engine/world/world.h"),
    ("a room of the daemon that looks up is seen", {
        "server/session/a.c": '#include "server/worlds/b.h"\n',
        "server/worlds/b.h": ""}, "may not use server/worlds/b.h"),
    ("insides of solids are for commands alone", {
        "server/host/a.c": '#include "server/engine/solids.h"\n',
        "server/engine/solids.h": ""}, "may not use server/engine/solids.h"),
    ("a client cannot see the engine", {
        "clients/lib/a.c": '#include "server/engine/engine.h"\n',
        "server/engine/engine.h": ""}, "may not use server/engine/engine.h"),
    ("methods see the generated tables, not the world", {
        "server/engine/methods/a.c":
            '#include "server/engine/world/tables.h"\n#include "server/engine/world/world.h"\n',
        "server/engine/world/tables.h": "", "server/engine/world/world.h": ""}, "a.c:2"),
    ("an include that is not from the root is seen", {
        "server/base/a.c": '#include "b.h"\n', "server/base/b.h": ""}, "from the repository root"),
    ("a socket in the engine is seen", {
        "server/engine/world/a.c": "#include <sys/socket.h>\n"}, "<sys/socket.h> has no place"),
    ("libuv outside io is seen", {"server/session/a.c": "#include <uv.h>\n"}, "<uv.h> has no place"),
    ("MessagePack in the engine is seen", {
        "server/engine/world/a.c": "#include <msgpack.h>\n"}, "<msgpack.h> has no place"),
    ("a FILE in the engine is seen", {
        "server/engine/world/a.c": "#include <stdio.h>\nvoid f(void) { fprintf(stderr, 0); }\n"},
     "'fprintf' reaches"),
    ("comments, strings, members and what is allowed pass", {
        "server/engine/methods/a.c":
            '#include "server/engine/math/b.h"\n#include <string.h>\n/* printf( */ char *s = "puts(";\n'
            "int f(struct x *x) { return x->time(1) + snprintf(0, 0, 0); }\n",
        "server/engine/math/b.h": "#include <math.h>\n",
        "server/io/c.c": "#include <uv.h>\n"}, None),
]
