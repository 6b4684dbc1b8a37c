"""The engine's archive needs no function whose last bit depends on the C library.

Every undefined symbol of libengine.a must be defined by libengine.a or libbase.a, or be in the
short list below. The list has no name of libm but sqrt (exactly rounded by IEEE 754, and usually an
instruction), amd_2 (SuiteSparse's elimination order: integers, behind linalg/order_amd), none of
the heap (base/heap.h has those) and none of the operating system."""
import os
import re
import subprocess
import tempfile

TITLE = "the engine's archive needs nothing but memory moves, sqrt and base"

ALLOWED = {"memcpy", "memmove", "memset", "memcmp", "strlen", "strcmp", "strncmp", "strchr", "snprintf",
           "vsnprintf", "amd_2", "sqrt", "sqrtf", "abort", "_GLOBAL_OFFSET_TABLE_"}
# Symbols that compilers and sanitizers add.
INSTRUMENTS = re.compile(r"^(__(asan|ubsan|tsan|msan|sanitizer|gcov|llvm|stack_chk|start_|stop_)|llvm_gcov"
                         r"|__(memcpy|memset|memmove|snprintf|vsnprintf)_chk$|__tls_get_addr$)")


def symbols(archive, kind):
    run = subprocess.run(["nm", "-A", kind, archive], capture_output=True, text=True, check=True)
    # "archive:member: [address] letter name"
    return [(line.split(":")[1], line.split()[-1]) for line in run.stdout.splitlines()
            if ":" in line and len(line.split()) >= 3]


def judge(engine, others):
    defined = {name for archive in (engine, *others) for _, name in symbols(archive, "--defined-only")}
    return [f"{member}: needs {name}" for member, name in sorted(set(symbols(engine, "--undefined-only")))
            if name not in defined and name not in ALLOWED and not INSTRUMENTS.match(name)]


def compile_fixture(tree):
    """A fixture is one C file, compiled to an archive of its own."""
    with tempfile.TemporaryDirectory(prefix="cairn-lint-") as folder:
        objects = []
        for path in tree.ending(".c"):
            objects.append(os.path.join(folder, os.path.basename(path) + ".o"))
            subprocess.run(["cc", "-O1", "-fno-builtin", "-c", os.path.join(tree.source, path),
                            "-o", objects[-1]], check=True)
        archive = os.path.join(folder, "libfixture.a")
        subprocess.run(["ar", "cr", archive, *objects], check=True)
        return judge(archive, [])


def check(tree):
    if tree.fixture:
        return compile_fixture(tree)
    engine, base = (os.path.join(tree.build, name) for name in ("libengine.a", "libbase.a"))
    if not os.path.exists(engine) or not os.path.exists(base):
        return ["libengine.a and libbase.a are not built: run `make lint`"]
    return judge(engine, [base])


SELF_TESTS = [
    ("a sine from libm is seen", {
        "server/a.c": "double sin(double);\ndouble f(double x) { return sin(x); }\n"}, "needs sin"),
    ("heap calls past base/heap.h are seen", {
        "server/a.c": "void *malloc(unsigned long);\nvoid *f(void) { return malloc(3); }\n"}, "needs malloc"),
    ("memory moves and symbols of another member pass", {
        "server/a.c": "void *memcpy(void *, const void *, unsigned long);\nint g(void);\n"
               "int f(char *a, char *b) { memcpy(a, b, 9); return g(); }\n",
        "server/b.c": "int g(void) { return 1; }\n"}, None),
]
