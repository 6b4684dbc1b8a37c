"""libcairn as a program of another project meets it: names, headers, and the examples in C and C++."""
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess

import pytest
from support import BUILD, SANITIZED, SOURCE, TOWER, Cli, cairn, daemon, tcp_daemon

LIBRARY = BUILD / "package" / "lib"
HEADER = SOURCE / "clients" / "c" / "cairn.h"
# Without comments, as a compiler sees it.
DECLARATIONS = re.sub(r"/\*.*?\*/", "", HEADER.read_text() + (HEADER.parent / "cairn_manifest.h").read_text(), flags=re.S)
EXAMPLES = SOURCE / "clients" / "c" / "examples"
CC, CXX = os.environ.get("CC", "cc"), os.environ.get("CXX", "c++")
needs_cxx = pytest.mark.skipif(shutil.which(CXX) is None, reason="no C++ compiler is installed")
# A program without a sanitizer cannot load a library with one.
plain = pytest.mark.skipif(SANITIZED, reason="the library needs the runtime of its sanitizer")


def names(path, *options):
    out = subprocess.run(["nm", "--defined-only", *options, str(path)], check=True, capture_output=True, text=True).stdout
    return {line.split()[-1] for line in out.splitlines() if len(line.split()) == 3}


def declared():
    return set(re.findall(r"\b(cairn_\w+)\(", DECLARATIONS))


@plain
def test_both_libraries_define_exactly_the_functions_of_the_header():
    assert len(declared()) > 25
    assert names(LIBRARY / "libcairn.so", "--dynamic") == declared()
    assert names(LIBRARY / "libcairn.a", "--extern-only") == declared()


def test_the_header_declares_prefixed_names_only():
    text = DECLARATIONS
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
    source = name if isinstance(name, pathlib.Path) else EXAMPLES / name
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
def test_the_example_in_c_runs_again_as_a_controller(tmp_path):
    """Over TCP, as the README has it: a controller may end no world, and the next run has another name."""
    with tcp_daemon() as (_, address):
        for _ in range(2):
            assert re.search(r"^the world hello-\d+ stays$", run_example(tmp_path, "hello.c", address), re.M)


@plain
@needs_cxx
def test_the_example_in_cpp_lives_in_a_foreign_loop(server, tmp_path):
    Cli(server.address).text("resume", "tower")
    text = run_example(tmp_path, "watch.cpp", server.address, "tower", "2")
    lines = re.findall(r"^(\d+) of (\d+) frames verified; body \d+", text, re.M)
    assert len(lines) == 2 and all(a == b for a, b in lines) and int(lines[-1][1]) > 20


# Fields of queries whose members have other names.
MEMBER = {"position": "origin", "way": "direction", "velocity": "direction", "mass": "value", "reach": "length"}


HOSTILE = """
#include <cairn.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
static int wrong;
static void expect(cairn_world *world, const cairn_command *command, const char *field)
{
	cairn_error error;
	cairn_totals totals;
	int status = cairn_world_apply(world, command, 1, NULL, &error);
	int refused = status == CAIRN_STATUS_NOT_FINITE || status == CAIRN_STATUS_RANGE;
	if (!refused || strcmp(error.field, field) != 0 || error.index != 0)
		wrong++, printf("%d %s: %d %s %s\\n", command->op, field, status, error.field, error.text);
	if (cairn_world_totals(world, &totals, &error) != CAIRN_STATUS_OK)
		wrong++, printf("the connection is gone: %s\\n", error.text);
}
static void expect_query(cairn_world *world, const cairn_query *query, const char *field)
{
	cairn_error error;
	const cairn_value *answer;
	int status = cairn_world_query(world, query, &answer, &error);
	if ((status != CAIRN_STATUS_NOT_FINITE && status != CAIRN_STATUS_RANGE) || strcmp(error.field, field) != 0)
		wrong++, printf("query %d %s: %d %s %s\\n", query->kind, field, status, error.field, error.text);
}
int main(int argc, char **argv)
{
	static const double values[] = { NAN, INFINITY, -INFINITY, 1e308, -1e308 };
	int status;
	cairn_totals totals;
	cairn_world *never;
	cairn_client *client;
	cairn_world *world;
	cairn_error error;
	const cairn_vec3 zero = { 0, 0, 0 }, up = { 0, 1, 0 };
	const cairn_joint_point point = { 0, 0 };
	if (argc < 2 || cairn_client_open(argv[1], NULL, &client, &error) != 0 ||
	    cairn_client_create(client, "hostile-c", NULL, &world, &error) != 0)
		return 1;
	for (int i = 0; i < 5; i++) {
		const double bad = values[i];
		const cairn_attachment place = { 1, { 0, bad, 0 }, { 1, 0, 0, 0 } }, turn = { 1, { 0, 0, 0 }, { 1, bad, 0, 0 } };
		const cairn_joint_target target = { 1, 0, bad };
		const cairn_joint_point early = { bad, 0 }, far = { 0, bad };
		cairn_command c;
		cairn_query q;
COMMANDS
QUERIES
		if (cairn_world_set(world, "sleep.speed", bad, &error) == 0 || error.field[0] == 0)
			wrong++, puts("set");
		if (cairn_world_speed(world, bad, &error) == 0 || error.field[0] == 0)
			wrong++, puts("speed");
		const cairn_vec3 off = { 0, bad, 0 };
		const cairn_area areas[] = { cairn_area_box(off, up), cairn_area_ball(off, 1), cairn_area_ball(zero, bad) };
		for (int k = 0; k < 3; k++) {
			const cairn_watch_options watch = { .areas = &areas[k], .area_count = 1 };
			if (cairn_world_watch_with(world, &watch, &error) == 0) /* refused later, by the server */
				while ((status = cairn_client_poll(client, 2000, &error)) == 0)
					;
			else
				status = error.status;
			if ((status != CAIRN_STATUS_NOT_FINITE && status != CAIRN_STATUS_RANGE) || error.text[0] == 0)
				wrong++, printf("area %d %d: %d %s\\n", k, i, status, error.text);
			cairn_world_unwatch(world, NULL);
			if (cairn_world_totals(world, &totals, &error) != 0)
				wrong++, puts("the connection is gone after an area");
		}
		const cairn_world_options options = { .gravity_given = true, .gravity = off };
		if (cairn_client_create(client, "never", &options, &never, &error) == 0 || never != NULL || error.text[0] == 0)
			wrong++, puts("create");
	}
	cairn_client_close(client);
	printf("%d wrong\\n", wrong);
	return wrong;
}
"""


def spoiled_commands():
    """Statements that spoil each number of each command in turn."""
    places = {"F64": [" = bad"], "VEC3": [".x = bad", ".y = bad", ".z = bad"], "QUAT": [".w = bad", ".z = bad"],
              "ATTACHMENTS": [".items = &place", ".items = &turn"], "TARGETS": [".items = &target"], "POINTS": [".items = &early", ".items = &far"]}
    for name, (_, _, fields) in cairn.manifest.COMMAND.items():
        usual = "".join(f"c.{name}.{field} = 1; " for field, kind in fields if kind in ("BODY", "SHAPE", "JOINT", "FORCE_FIELD", "PARTICLES"))
        usual += "".join(f"c.{name}.{field}.items = &point; c.{name}.{field}.count = 1; " for field, kind in fields if kind == "POINTS")
        if name == "particles_create":
            usual += 'strcpy(c.particles_create.name.text, "smoke"); '
        if name == "parameter":
            usual += 'strcpy(c.parameter.name.text, "sleep.speed"); '
        for field, kind in fields:
            for place in places.get(kind, ()):
                count = f"c.{name}.{field}.count = 1; " if "items" in place else ""
                yield (f"\t\tc = cairn_command_make(CAIRN_COMMAND_{name.upper()}); {usual}{count}c.{name}.{field}{place}; "
                       f'expect(world, &c, "{field}");')


def spoiled_queries():
    """The same for queries; what a field may be is left out."""
    places = {"REAL": [""], "LENGTH": [""], "PLACE": [".x", ".z"], "WAY": [".y"], "DIRECTION": [".y"], "ROTATION": [".x"]}
    for name, number in cairn.manifest.QUERY.items():
        fields = cairn.manifest.QUERY_LIMITS.get(number, ())
        kinds = [kind for _, kind, *_ in fields]
        usual = "".join(f"q.{MEMBER.get(field, field)}.y = 1; " for field, kind, *_ in fields if kind in ("DIRECTION", "WAY"))
        usual += "q.length = 1; " * ("LENGTH" in kinds) + 'q.shape = "sphere:1"; ' * ("SHAPE" in kinds)
        for field, kind, least, most in fields:
            for place in places.get(kind, ()):
                when = "if (!(bad - bad == 0)) " if kind == "DIRECTION" else f"if (!(bad >= {least} && bad <= {most})) " if kind == "REAL" else ""
                yield (f"\t\tq = cairn_query_make(CAIRN_QUERY_{name.upper()}); {usual}q.{MEMBER.get(field, field)}{place} = bad; "
                       f'{when}expect_query(world, &q, "{field}");')


@plain
def test_no_number_of_any_command_or_query_harms_the_server(server, tmp_path):
    commands, queries = list(spoiled_commands()), list(spoiled_queries())
    assert len(commands) > 90 and len(queries) > 20
    source = tmp_path / "hostile.c"
    source.write_text(HOSTILE.replace("COMMANDS", "\n".join(commands)).replace("QUERIES", "\n".join(queries)))
    assert run_example(tmp_path, source, server.address) == "0 wrong\n"


RESUMES = """
#include <cairn.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
static int frames, verified;
static uint32_t bodies, first;
static void on_frame(void *context, cairn_world *world, const cairn_frame *frame)
{
	(void)context, (void)world;
	frames++, verified += frame->verified;
	bodies = frame->state.count, first = bodies > 0 ? frame->state.bodies[0].id : 0;
}
/* Polls until frames have `count` bodies; 0 on success. */
static int until(cairn_client *client, uint32_t count, cairn_error *error)
{
	int status = 0, start = frames;
	for (int tries = 0; tries < 400 && (frames == start || bodies != count); tries++)
		if ((status = cairn_client_poll(client, 25, error)) != 0 && status != CAIRN_STATUS_AGAIN)
			return status;
	return bodies == count ? 0 : -1;
}
#define CHECK(condition) do { if (!(condition)) { printf("line %d: %s\\n", __LINE__, error.text); return 1; } } while (0)
int main(int argc, char **argv)
{
	const cairn_client_options options = { .frame = on_frame, .resumes = argc > 2 };
	cairn_client *client;
	cairn_world *world;
	cairn_error error = { 0 };
	CHECK(cairn_client_open(argv[1], &options, &client, &error) == 0);
	const uint32_t session = cairn_client_facts(client).session;
	CHECK(cairn_client_create(client, argc > 2 ? "resumed" : "ended", NULL, &world, &error) == 0);
	for (int i = 0; i < 3; i++) {
		cairn_command spawn = cairn_command_make(CAIRN_COMMAND_SPAWN);
		spawn.spawn.position.x = 100 * i;
		spawn.spawn.owner = session;
		CHECK(cairn_world_apply(world, &spawn, 1, NULL, &error) == 0);
	}
	const cairn_vec3 zero = { 0, 0, 0 }, minimum = { 90, -1e5, -10 }, maximum = { 210, 10, 10 };
	const cairn_quat ahead = { 1, 0, 0, 0 };
	const uint32_t third = 3;
	CHECK(cairn_world_set(world, "sleep.enabled", 0, &error) == 0);
	const cairn_command still = cairn_command_make(CAIRN_COMMAND_GRAVITY);
	CHECK(cairn_world_apply(world, &still, 1, NULL, &error) == 0);
	cairn_area area = cairn_area_box(minimum, maximum);
	CHECK(cairn_world_focus(world, &area, 1, NULL, 0, &error) == CAIRN_STATUS_UNKNOWN_SUBSCRIPTION);
	CHECK(cairn_world_watch(world, 1, 0, &error) == 0 && cairn_world_resume(world, &error) == 0);
	CHECK(until(client, 3, &error) == 0);
	CHECK(cairn_world_focus(world, &area, 1, NULL, 0, &error) == 0 && until(client, 2, &error) == 0 && first == 2);
	area = cairn_area_frustum(zero, ahead, 1, 1, 0.5, 10);
	CHECK(cairn_world_focus(world, &area, 1, &third, 1, &error) == 0 && until(client, 1, &error) == 0 && first == 3);
	area.kind = 9;
	CHECK(cairn_world_focus(world, &area, 1, NULL, 0, &error) == CAIRN_STATUS_RANGE && strcmp(error.field, "areas") == 0);
	area = cairn_area_ball(zero, 1);
	area.body = 2;
	CHECK(cairn_world_focus(world, &area, 1, NULL, 0, &error) == 0 && until(client, 1, &error) == 0);
	while (first != 2)
		CHECK(cairn_client_poll(client, 25, &error) == 0 || error.status == CAIRN_STATUS_AGAIN);
	/* The connection breaks. */
	CHECK(shutdown(cairn_client_fd(client), SHUT_RDWR) == 0);
	int status;
	while ((status = cairn_client_poll(client, 25, &error)) == 0 || status == CAIRN_STATUS_AGAIN)
		;
	if (argc == 2) {
		CHECK(cairn_client_resume(client, &error) == CAIRN_STATUS_EXPIRED && error.text[0] != 0);
		cairn_client_close(client);
		return puts("expired") < 0;
	}
	CHECK(cairn_client_retry_ms(client) == 0 && cairn_client_resume(client, &error) == 0);
	CHECK(cairn_client_facts(client).session == session);
	CHECK(until(client, 1, &error) == 0 && first == 2); /* the area is kept */
	cairn_body_facts facts;
	CHECK(cairn_world_body(world, 1, &facts, &error) == 0 && facts.body.owner == session);
	CHECK(cairn_world_focus(world, NULL, 0, NULL, 0, &error) == 0 && until(client, 3, &error) == 0);
	CHECK(verified == frames);
	cairn_client_close(client);
	return puts("resumed") < 0;
}
"""


@plain
@pytest.mark.parametrize("words, expected", [(["resumes"], "resumed"), ([], "expired")], ids=["resumes", "does-not"])
def test_a_session_resumes_with_its_areas(server, tmp_path, words, expected):
    source = tmp_path / "resumes.c"
    source.write_text(RESUMES, encoding="utf-8")
    assert run_example(tmp_path, source, server.address, *words) == expected + "\n"


QUERIES = """
#include <cairn.h>
#include <stdio.h>
static void show(const cairn_value *value)
{
	switch (value->type) {
	case CAIRN_VALUE_NIL: printf("null"); return;
	case CAIRN_VALUE_BOOLEAN: printf(value->integer ? "true" : "false"); return;
	case CAIRN_VALUE_INTEGER: printf("%lld", (long long)value->integer); return;
	case CAIRN_VALUE_REAL: printf("%.17g", value->number); return;
	case CAIRN_VALUE_TEXT:
	case CAIRN_VALUE_BYTES:
		printf("\\"");
		for (uint32_t i = 0; i < value->count; i++)
			printf("%02x", value->bytes[i]);
		printf("\\"");
		return;
	default:
		printf("[");
		for (uint32_t i = 0; i < value->count; i++) {
			printf(i > 0 ? "," : "");
			show(cairn_value_at(value, i));
		}
		printf("]");
	}
}
static void ask(cairn_world *world, const cairn_query *query)
{
	cairn_error error;
	const cairn_value *answer;
	int status = cairn_world_query(world, query, &answer, &error);
	if (status == CAIRN_STATUS_OK)
		show(answer);
	else
		printf("{\\"code\\": %d, \\"field\\": \\"%s\\", \\"nil\\": %d}", status, error.field,
		       answer->type == CAIRN_VALUE_NIL && cairn_value_at(answer, 3)->type == CAIRN_VALUE_NIL);
	printf("\\n");
}
int main(int argc, char **argv)
{
	cairn_client *client;
	cairn_world *world;
	cairn_error error;
	const cairn_value *facts;
	if (argc < 3 || cairn_client_open(argv[1], NULL, &client, &error) != 0 ||
	    cairn_client_join(client, argv[2], &world, &error) != 0)
		return 1;
	cairn_query q;
BODY
	if (cairn_client_inspect(client, "server", &facts, &error) != 0)
		return 2;
	printf("%g\\n", cairn_value_get(cairn_value_get(facts, "server"), "workers")->number);
	cairn_client_close(client);
	return 0;
}
"""
# What each query is asked, by members of cairn_query; and their names in queries.def where they differ.
ASKED = {
    "ray": {"origin": (0, 50, 0), "direction": (0, -1, 0), "length": 100.0, "limit": 3},
    "overlap": {"shape": "sphere:2", "origin": (0, 1, 0)}, "contacts": {"body": 5}, "totals": {}, "body": {"body": 7},
    "geometry": {"name": None}, "cast": {"shape": "box:1,1,1", "origin": (0, 20, 0), "direction": (0, -40, 0)},
    "closest": {"body": 7}, "mass": {}, "move": {"shape": "capsule:0.5,0.3", "origin": (8, 5, 8), "direction": (0, -6, 0), "slope": 0.5},
    "regions": {"body": 7, "other": 8}, "methods": {}, "parameters": {}, "joint": {"joint": 1}, "joints": {}, "linked": {"body": 7},
    "when": {"body": 7, "quantity": 1, "above": 0, "value": 1000.0}, "past": {}, "difference": {"epoch": 1, "tick": 0.0, "other_epoch": 1, "other_tick": 1.0},
    "forces": {"body": 5, "representative": 1}, "fields": {"origin": (1, 2, 3), "direction": (0, 1, 0)}, "recordings": {}, "sensed": {"body": 5},
    "pieces": {"body": 5}, "carriers": {"limit": 8},
    "stability": {"limit": 16, "touch": 0.001, "sides": 4}, "systems": {}, "fluids": {}, "particles": {"system": 1}, "links": {"system": 1},
    "robot": {"body": 7}, "inertia": {"body": 7}, "jacobian": {"body": 7, "origin": (1, 2, 3)},
    "dynamics": {"bodies": [7, 8], "inverse": 1, "values": [0.5] * 12, "still": 1},
}

def c_value(value):
    if isinstance(value, list):
        kind, of = ("cairn_numbers", "double") if isinstance(value[0], float) else ("cairn_bodies", "uint32_t")
        return f"({kind}){{ (const {of}[]){{ {', '.join(map(repr, value))} }}, {len(value)} }}"
    if isinstance(value, tuple):
        return "(cairn_vec3){ %r, %r, %r }" % value
    return f'"{value}"' if isinstance(value, str) else repr(value)


def as_python(value):
    """A value as the program prints it: bytes and texts in hexadecimal."""
    if isinstance(value, (list, tuple)):
        return [as_python(item) for item in value]
    return (value if isinstance(value, bytes) else value.encode()).hex() if isinstance(value, (bytes, str)) else value


def of_python(world, name, asked):
    """The same query by the Python client, with all fields."""
    words = []
    for field, *_ in cairn.manifest.QUERY_LIMITS.get(cairn.manifest.QUERY[name], ()):
        member = MEMBER.get(field, field)
        if member == "shape":
            kind, numbers = asked["shape"].split(":")
            words.append(getattr(cairn.shapes, kind)(*map(float, numbers.split(","))))
        elif isinstance(asked.get(member), list):
            words.append(struct.pack(f"<{len(asked[member])}{'d' if member == 'values' else 'I'}", *asked[member]))
        elif member in asked:
            words.append(asked[member])
        else:
            break
    try:
        return as_python(world.query(cairn.manifest.QUERY[name], *words))
    except cairn.Refused as why:
        return {"code": why.code, "field": why.field, "nil": 1}


@plain
def test_every_query_has_the_answer_that_python_gets(tmp_path):
    assert set(ASKED) == set(cairn.manifest.QUERY)
    # A tower that still stands: to say how a fallen one stands takes seconds.
    with daemon("--scene", TOWER, "--paused") as server, cairn.connect(server.address) as client:
        world = client.join("tower")
        world.step(2)  # there are no forces before the first ticks
        shape = world.query(cairn.manifest.QUERY["body"], 7)[11][0][0]
        ASKED["geometry"]["name"] = shape
        body = []
        for name, asked in ASKED.items():
            body.append(f"\tq = cairn_query_make(CAIRN_QUERY_{name.upper()});")
            for member, value in asked.items():
                body += [f"\tq.name.bytes[{i}] = {byte};" for i, byte in enumerate(shape)] if member == "name" else \
                    [f"\tq.{member} = {c_value(value)};"]
            body.append("\task(world, &q);")
        source = tmp_path / "queries.c"
        source.write_text(QUERIES.replace("BODY", "\n".join(body)))
        lines = run_example(tmp_path, source, server.address, "tower").splitlines()
        found = dict(zip(ASKED, map(json.loads, lines)))
        for name, asked in ASKED.items():
            assert found[name] == of_python(world, name, asked), name
    refused = [name for name in found if isinstance(found[name], dict)]
    assert len(refused) <= 7 and found["ray"] and found["forces"] and int(lines[-1]) >= 1


# Requests of messages.def that libcairn has no function for, and where they are.
ELSEWHERE = {
    "ping": "answered within cairn_client_poll", "pong": "answered within cairn_client_poll", "ack": "sent within cairn_client_poll",
    "resync": "sent within cairn_client_poll", "world_leave": "at the end of the session", "step_worlds": "Python's and JavaScript's",
    "record": "Python's, JavaScript's and cairn record", "config": "cairn config", "sessions": "cairn sessions", "kick": "cairn kick", "monitor": "cairn monitor", "drain": "cairn drain",
}
OFFERED = {
    "hello": "cairn_client_open", "goodbye": "cairn_client_close", "world_list": "cairn_client_worlds", "world_create": "cairn_client_create",
    "world_join": "cairn_client_join", "world_destroy": "cairn_world_destroy", "shape_upload": "cairn_world_shape",
    "subscribe": "cairn_world_watch_with", "unsubscribe": "cairn_world_unwatch", "focus": "cairn_world_focus", "commands": "cairn_world_apply",
    "query": "cairn_world_query", "looks": "cairn_world_colours", "control": "cairn_world_pause", "step": "cairn_world_step", "save": "cairn_world_save",
    "restore": "cairn_world_restore", "fork": "cairn_world_fork", "seek": "cairn_world_seek", "info": "cairn_client_inspect",
    "scene_list": "cairn_client_scenes", "scene_open": "cairn_client_open_scene",
}


def test_every_request_of_the_protocol_has_a_function_or_a_place():
    listed = re.findall(r"^MESSAGE\(\d+, \w+, (\w+), (?:CLIENT|EITHER),", (SOURCE / "protocol" / "messages.def").read_text(), re.M)
    assert sorted([*OFFERED, *ELSEWHERE]) == sorted(listed)
    assert set(OFFERED.values()) <= declared()
    for op, *_ in cairn.manifest.COMMAND.values():
        assert re.search(rf"\bCAIRN_COMMAND_\w+ = {op}\b", DECLARATIONS)


PAST = """
#include <cairn.h>
#include <stdio.h>
#include <string.h>
static uint64_t shown;
static uint32_t joints;
static void on_frame(void *context, cairn_world *world, const cairn_frame *frame)
{
	(void)context, (void)world;
	if (frame->verified)
		shown = frame->state.tick, joints = frame->joint_count > 0 ? frame->joints[0].id : 0;
}
#define CHECK(condition) do { if (!(condition)) { printf("line %d: %s\\n", __LINE__, error.text); return 1; } } while (0)
int main(int argc, char **argv)
{
	const cairn_client_options options = { .frame = on_frame };
	cairn_client *client;
	cairn_world *world, *copy;
	cairn_error error = { 0 };
	cairn_state then, now;
	CHECK(argc == 3 && cairn_client_open(argv[1], &options, &client, &error) == 0);
	CHECK(cairn_client_load(client, "past-c", argv[2], &world, &error) == 0);
	CHECK(cairn_world_step(world, 20, &then, &error) == 0);
	const uint64_t hash = then.tick_hash;
	CHECK(cairn_world_save(world, "mark", &error) == 0 && cairn_world_step(world, 20, NULL, &error) == 0);
	const cairn_watch_options watch = { .joints = true };
	CHECK(cairn_world_watch_with(world, &watch, &error) == 0);
	CHECK(cairn_world_watch_with(world, NULL, &error) == CAIRN_STATUS_EXISTS);
	while (shown != 40)
		CHECK(cairn_client_poll(client, 1000, &error) == 0);
	CHECK(joints == 1);
	const cairn_instant moment = { 20, 0 };
	CHECK(cairn_world_seek(world, &moment, 0, &error) == 0);
	while (shown != 20)
		CHECK(cairn_client_poll(client, 1000, &error) == 0);
	CHECK(cairn_world_seek(world, NULL, 0, &error) == 0);
	CHECK(cairn_world_fork(world, "copy-a", "mark", &moment, &copy, &error) == CAIRN_STATUS_RANGE && copy == NULL);
	CHECK(cairn_world_fork(world, "copy-a", "mark", NULL, &copy, &error) == 0);
	CHECK(cairn_world_step(copy, 0, &now, &error) == 0 && now.tick_hash == hash);
	CHECK(cairn_world_fork(world, "copy-b", NULL, &moment, &copy, &error) == 0);
	CHECK(cairn_world_step(copy, 0, &now, &error) == 0 && now.tick_hash == hash);
	CHECK(cairn_world_unwatch(world, &error) == 0 && cairn_world_restore_tick(world, moment, &error) == 0);
	CHECK(cairn_world_step(world, 0, &now, &error) == 0 && now.tick_hash == hash && now.tick == 20);
	cairn_client_close(client);
	return puts("right") < 0;
}
"""


@plain
def test_the_past_and_joints_in_frames(tmp_path):
    source = tmp_path / "past.c"
    source.write_text(PAST)
    with daemon("--data", str(tmp_path / "d")) as stored:
        assert run_example(tmp_path, source, stored.address, str(SOURCE / "clients" / "scenes" / "door.yaml")) == "right\n"


GAUGES = """
#include <cairn.h>
#include <stdio.h>
static uint64_t shown;
static double density, pressure;
static void on_frame(void *context, cairn_world *world, const cairn_frame *frame)
{
	(void)context, (void)world;
	density = pressure = 0;
	for (uint32_t i = 0; frame->verified && i < frame->particle_count; i++) {
		density += frame->particles[i].density;
		pressure += frame->particles[i].pressure;
	}
	shown = frame->state.tick;
}
#define CHECK(condition) do { if (!(condition)) { printf("line %d: %s\\n", __LINE__, error.text); return 1; } } while (0)
int main(int argc, char **argv)
{
	const cairn_client_options options = { .frame = on_frame };
	const cairn_watch_options watch = { .particles = true };
	cairn_client *client;
	cairn_world *world;
	cairn_error error = { 0 };
	CHECK(argc == 3 && cairn_client_open(argv[1], &options, &client, &error) == 0);
	CHECK(cairn_client_load(client, "gauges-c", argv[2], &world, &error) == 0);
	CHECK(cairn_world_watch_with(world, &watch, &error) == 0 && cairn_world_step(world, 8, NULL, &error) == 0);
	while (shown != 8)
		CHECK(cairn_client_poll(client, 1000, &error) == 0);
	printf("%.17g %.17g\\n", density, pressure);
	cairn_client_close(client);
	return 0;
}
"""


@plain
def test_frames_have_the_density_and_pressure_of_fluids(server, tmp_path):
    source = tmp_path / "gauges.c"
    source.write_text(GAUGES)
    density, pressure = map(float, run_example(tmp_path, source, server.address, str(SOURCE / "clients" / "scenes" / "fluid-column.yaml")).split())
    with cairn.connect(server.address, caps=("ack", "exact")) as client:
        world = client.join("gauges-c")
        world.subscribe(1, profile="exact", particles=["density", "pressure"])
        particles = next(frame for frame in world.frames(9, 1) if frame.tick == 8).particles
    assert len(particles) == 192 and pressure > 1e4
    assert (density, pressure) == (sum(p.density for p in particles), sum(p.pressure for p in particles))


LOOKS = """
#include <cairn.h>
#include <stdio.h>
#define CHECK(condition) do { if (!(condition)) { printf("line %d: %s\\n", __LINE__, error.text); return 1; } } while (0)
int main(int argc, char **argv)
{
	cairn_client *client;
	cairn_world *world;
	cairn_error error = { 0 };
	const cairn_visual *visuals;
	uint32_t count = 1;
	CHECK(argc == 3 && cairn_client_open(argv[1], NULL, &client, &error) == 0);
	CHECK(cairn_client_load(client, "looks-c", argv[2], &world, &error) == 0);
	for (uint32_t from = 0; count > 0; from = count > 0 ? visuals[count - 1].body + 1 : 0) {
		CHECK(cairn_world_visuals(world, from, &visuals, &count, &error) == 0);
		for (uint32_t i = 0; i < count; i++)
			printf("%u %g %d %06X\\n", visuals[i].body, visuals[i].position.y, visuals[i].coloured, visuals[i].colour);
	}
	const cairn_label *labels;
	for (int joints = 0; joints < 2; joints++) {
		count = 1;
		for (uint32_t from = 0; count > 0; from = count > 0 ? labels[count - 1].id + 1 : 0) {
			CHECK(cairn_world_names(world, joints == 1, from, &labels, &count, &error) == 0);
			for (uint32_t i = 0; i < count; i++)
				printf("%u %s\\n", labels[i].id, labels[i].text);
		}
	}
	cairn_client_close(client);
	return 0;
}
"""


@plain
def test_visuals_and_names_are_told_page_by_page(tmp_path):
    source, scene = tmp_path / "looks.c", tmp_path / "looks.yaml"
    source.write_text(LOOKS)
    scene.write_text("""
world: { names: true }
shapes: { ball: { kind: sphere, radius: 0.5 } }
bodies:
  - { shape: ball }
  - { name: row, shape: ball, array: { count: 100, step: [2, 0, 0] }, visuals: [{ shape: ball, at: [0, 1, 0] }, { shape: ball, at: [0, 2, 0], colour: 0xABCDEF }] }
joints:
  - { type: revolute, name: hinge, a: "row[0]", at: [0, 0, 0] }
""")
    expected = "".join(f"{body} 1 0 000000\n{body} 2 1 ABCDEF\n" for body in range(2, 102))
    expected += "".join(f"{body} row[{body - 2}]\n" for body in range(2, 102)) + "1 hinge\n"
    with daemon() as server:
        assert run_example(tmp_path, source, server.address, str(scene)) == expected


SCENES = """
#include <cairn.h>
#include <stdio.h>
static void print_scene(void *context, const cairn_scene_info *scene)
{
	(void)context;
	printf("%s %u %s\\n", scene->name, (unsigned)scene->bytes, scene->title);
}
int main(int argc, char **argv)
{
	const char *const variables[] = { "n=3" };
	cairn_client *client;
	cairn_world *world;
	cairn_error error = { 0 };
	if (argc != 2 || cairn_client_open(argv[1], NULL, &client, &error) != 0 ||
	    cairn_client_scenes(client, print_scene, NULL, &error) != 0 ||
	    cairn_client_open_scene(client, "opened", "balls.yaml", variables, 1, false, &world, &error) != 0)
		return 1;
	cairn_world_info facts = cairn_world_facts(world);
	printf("%s %u\\n", facts.name, (unsigned)facts.bodies);
	printf("%d ", cairn_client_open_scene(client, "other", "none.yaml", NULL, 0, true, &world, &error));
	printf("%s\\n", error.text);
	cairn_client_close(client);
	return 0;
}
"""


@plain
def test_scenes_of_a_server_are_listed_and_opened(tmp_path):
    source, folder = tmp_path / "listed.c", tmp_path / "scenes"
    source.write_text(SCENES)
    folder.mkdir()
    balls = """# Balls. Many.
variables: { n: 1 }
shapes: { ball: { kind: sphere, radius: 0.5 } }
bodies: [{ shape: ball, array: { count: $n, step: [2, 0, 0] } }]
"""
    (folder / "balls.yaml").write_text(balls)
    with daemon("--scene-folder", str(folder)) as server:
        lines = run_example(tmp_path, source, server.address).splitlines()
    assert lines[:2] == [f"balls.yaml {len(balls)} Balls.", "opened 3"]
    code, _, text = lines[2].partition(" ")
    assert int(code) != 0 and "none.yaml" in text and str(tmp_path) not in text
