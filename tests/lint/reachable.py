"""Every function of server/ is reached by a program, or listed in tests/lint/reachable.txt with the
reason.

The build gives each function its own section, and `make lint` links the programs once more from all
their objects with --gc-sections (Makefile.am, reachable/…). The maps of the linker list the dropped
sections. A compiler may inline every call of a function and still emit it, so a dropped function
counts as reached if a reached function of the same file names it. A line of the list is

    PATH: REASON                           all functions of this file that are not reached
    PATH NAME…: REASON                     these functions

and must be removed once a program reaches what it names."""
import os
import re
import subprocess
import tempfile

from sizes import c_functions

TITLE = "every function of the server is reached by a program, or listed with the reason"

LIST = "tests/lint/reachable.txt"
PROGRAMS = ("cairnd", "cairn", "cairn-bot")
SECTION = re.compile(r"^ \.text(\S*)\s+0x[0-9a-f]+\s+0x([0-9a-f]+) (\S+\.o)$", re.M)
VARIANT = re.compile(r"\.(part|constprop|isra|cold|lto_priv|llvm)\b.*$")
PLACE = re.compile(r"^\.(unlikely|startup|hot|exit|split)\.")
OBJECT = re.compile(r"(?:lib\w+_a-|\w+-)?([\w.]+)\.o$")
ENTRY = re.compile(r"^(\S+\.c)((?: \w+)*): (\S.*)$")
NAME = re.compile(r"\b[A-Za-z_]\w*")
CALL = re.compile(r"\b([A-Za-z_]\w*)\s*\(")
# Words before a parenthesis that are not function names.
ATTRIBUTE = re.compile(r"\b(__attribute__\s*\(\(.*?\)\)|PRINTF_LIKE\s*\([^()]*\))")
notes = []


def source_of(path):
    """server/engine/math/libengine_a-trig.o → server/engine/math/trig.c"""
    folder, name = os.path.split(path)
    return os.path.join(folder, OBJECT.sub(r"\1.c", name))


def sections(text):
    """(source, function) of every section of code in a part of a map."""
    text = re.sub(r"^( \.text\S+)\n\s+", r"\1 ", text, flags=re.M)
    found = set()
    for name, size, path in SECTION.findall(text):
        if int(size, 16) and name:
            found.add((source_of(path), VARIANT.sub("", PLACE.sub(".", name)).lstrip(".")))
    return found


def read_maps(texts):
    """All functions that have a section, and those that some program keeps."""
    everything, kept = set(), set()
    for text in texts:
        discarded, _, linked = text.partition("\nMemory Configuration")
        kept |= sections(linked)
        everything |= sections(discarded)
    return everything | kept, kept


def functions(tree):
    """{(path, name): (first line, lines, names in its body, names it calls)} of every C file of the server, and {path:
    names outside functions}, where macros call."""
    found, outside = {}, {}
    for path in tree.ending(".c"):
        if not path.startswith("server/"):
            continue
        lines = ATTRIBUTE.sub("", tree.code(path)).splitlines()
        rest = list(lines)
        for name, first, last, _ in c_functions(lines):
            body = "\n".join(lines[first - 1:last])
            found[path, name] = (first, last - first + 1, set(NAME.findall(body)), set(CALL.findall(body)))
            rest[first - 1:last] = [""] * (last - first + 1)
        outside[path] = set(NAME.findall("\n".join(rest)))
    return found, outside


def reached_of(known, outside, everything, kept):
    """Functions that are kept; those emitted but called by a reached function of the same file, so
    inlined there; and those without a section but named by a reached function of any file or by a
    macro of their own file, so inlined everywhere."""
    reached = known.keys() & kept
    waiting = known.keys() - reached
    while True:
        called, anywhere = {}, set()
        for path, name in reached:
            called.setdefault(path, set()).update(known[path, name][3])
            anywhere |= known[path, name][2]
        more = {(path, name) for path, name in waiting
                if name in called.get(path, ()) or ((path, name) not in everything and
                                                    (name in anywhere or path in called and name in outside[path]))}
        if not more:
            return reached
        reached |= more
        waiting -= more


def read_list(text, known):
    """{(path, name) or path: (line, reason)} and what is wrong with the list itself."""
    entries, findings = {}, []
    for number, line in enumerate(text.splitlines(), 1):
        if not line.strip() or line.startswith("#"):
            continue
        match = ENTRY.match(line)
        if not match:
            findings.append(f"{LIST}:{number}: not `PATH [NAME…]: REASON`")
            continue
        path, names, reason = match[1], match[2].split(), match[3]
        for key in [(path, name) for name in names] or [path]:
            entries[key] = (number, reason)
            if isinstance(key, tuple) and key not in known:
                findings.append(f"{LIST}:{number}: {path} has no function {key[1]}")
    return entries, findings


def judge(tree, maps):
    known, outside = functions(tree)
    everything, kept = read_maps(maps)
    if not everything:
        return ["no function has a section of its own: objects of an older configuration, `make clean` first"]
    reached = reached_of(known, outside, everything, kept)
    entries, findings = read_list(tree.text(LIST) if LIST in tree.paths else "", known)
    used, listed = set(), {}
    for key in sorted(set(known) - reached):
        path, name = key
        entry = key if key in entries else path if path in entries else None
        if entry is None:
            findings.append(f"{path}:{known[key][0]}: no program reaches {name}")
            continue
        used.add(entry)
        listed.setdefault(entries[entry][1], []).append(known[key][1])
    for key in set(entries) - used:
        what = key if isinstance(key, str) else " ".join(key)
        findings.append(f"{LIST}:{entries[key][0]}: all of {what} is reached (or is not there): drop the line")
    lines = {key: known[key][1] for key in known}
    out = set(known) - reached
    notes.append(f"reached: {len(reached)} of {len(known)} functions of server/, {sum(lines[key] for key in reached)} of "
                 f"{sum(lines.values())} lines; of the engine not: "
                 f"{len([key for key in out if key[0].startswith('server/engine/')])} functions, "
                 f"{sum(lines[key] for key in out if key[0].startswith('server/engine/'))} lines")
    for reason, sizes in sorted(listed.items()):
        notes.append(f"listed, {reason}: {len(sizes)} functions, {sum(sizes)} lines")
    return findings


def link_fixture(tree):
    """main.c and the other C files of a small tree, linked as the build links the programs."""
    with tempfile.TemporaryDirectory(prefix="cairn-lint-") as folder:
        for path in tree.ending(".c"):
            os.makedirs(os.path.join(folder, os.path.dirname(path)), exist_ok=True)
            subprocess.run(["cc", "-O2", "-w", "-ffunction-sections", "-fdata-sections", "-c",
                            os.path.join(tree.source, path), "-o", path[:-2] + ".o"], check=True, cwd=folder)
        subprocess.run(["cc", "-Wl,--gc-sections,-Map,map", "-o", "program",
                        *(path[:-2] + ".o" for path in tree.ending(".c"))], check=True, cwd=folder)
        with open(os.path.join(folder, "map"), encoding="utf-8") as file:
            return [file.read()]


def check(tree):
    notes.clear()
    if tree.fixture:
        findings = judge(tree, link_fixture(tree))
        notes.clear()
        return findings
    maps = []
    for program in PROGRAMS:
        path = os.path.join(tree.build, "reachable", program + ".map")
        if not os.path.exists(path):
            return [f"{path} is not there: run `make lint`"]
        with open(path, encoding="utf-8") as file:
            maps.append(file.read())
    return judge(tree, maps)


MAIN = "int f(int);\n\nint main(int n, char **words)\n{\n\treturn f(n);\n}\n"
KEPT = "int f(int n)\n{\n\treturn n * n;\n}\n"
LOST = "\nint g(int n)\n{\n\treturn n + 3;\n}\n"
SELF_TESTS = [
    ("a function that nobody calls is seen", {"server/main.c": MAIN, "server/a.c": KEPT + LOST},
     "server/a.c:6: no program reaches g"),
    ("one that only an unreached one calls is seen", {
        "server/main.c": MAIN, "server/a.c": KEPT + LOST + "\nint h(int n)\n{\n\treturn g(n);\n}\n"}, "reaches g"),
    ("a listed one passes", {
        "server/main.c": MAIN, "server/a.c": KEPT + LOST, LIST: "server/a.c g: the other half\n"}, None),
    ("a listed file passes", {"server/main.c": MAIN, "server/a.c": KEPT + LOST, LIST: "server/a.c: the half\n"}, None),
    ("a line for what is reached is seen", {
        "server/main.c": MAIN, "server/a.c": KEPT, LIST: "server/a.c f: the other half\n"}, "drop the line"),
    ("a line for what is not there is seen", {
        "server/main.c": MAIN, "server/a.c": KEPT, LIST: "server/a.c k: the other half\n"}, "has no function k"),
    ("a line without a reason is seen", {
        "server/main.c": MAIN, "server/a.c": KEPT + LOST, LIST: "server/a.c g\n"}, "not `PATH"),
    ("a function that is inlined wherever it is called is reached", {
        "server/main.c": MAIN,
        "server/a.c": "int g(int n)\n{\n\treturn n + 3;\n}\n\nint f(int n)\n{\n\treturn g(n) * n;\n}\n"}, None),
]
