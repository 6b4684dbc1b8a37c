/* Invalid scenes of every kind: each is refused with its status, line, key and limit, and frees all
 * memory. */
#include "protocol/scene/scene.h"
#include "server/base/bytes.h"
#include "server/base/heap.h"
#include "tests/lib/check_main.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct broken {
	const char *text;
	enum status status;
	unsigned line;
	const char *field;
	const char *says; /* part of the message */
};

/* table */
static const struct broken BROKEN[] = {
	/* ---- YAML ---- */
	{ "", STATUS_MALFORMED, 1, "scene", "the file is empty" },
	{ "# only a comment\n", STATUS_MALFORMED, 1, "scene", "the file is empty" },
	{ "world: {name: a", STATUS_MALFORMED, 2, "yaml", "" },
	{ "world:\n  name: \"a\n", STATUS_MALFORMED, 3, "yaml", "" },
	{ "world:\n\tname: a\n", STATUS_MALFORMED, 2, "yaml", "" },
	{ "bodies: [{at: [1, 2, 3]\n", STATUS_MALFORMED, 2, "yaml", "" },
	{ "bodies: []\nworld: x: y\n", STATUS_MALFORMED, 2, "yaml", "" },
	{ "\xff\xfe\xfd", STATUS_MALFORMED, 1, "yaml", "" },
	{ "bodies: []\n---\nbodies: []\n", STATUS_MALFORMED, 2, "scene", "second document" },
	{ "? [a]\n: b\n", STATUS_MALFORMED, 1, "key", "a key must be text, not a list" },
	{ "a: &x [1]\n", STATUS_UNSUPPORTED, 1, "anchor", "like" },
	{ "a: *x\n", STATUS_UNSUPPORTED, 1, "alias", "like" },
	{ "a: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\n", STATUS_UNSUPPORTED, 1, "anchor", "" },
	{ "bodies: !!seq []\n", STATUS_UNSUPPORTED, 1, "tag", "tags" },
	{ "a: [[[[[[[[[[[[[[[[1]]]]]]]]]]]]]]]]\n", STATUS_TOO_DEEP, 1, "scene", "16" },
	{ "world: {name: a}\nbodies: []\nworld: {}\n", STATUS_EXISTS, 3, "world",
	  "first in line 1" },
	{ "world:\n  ? \n  seed: 1\n", STATUS_MALFORMED, 2, "key", "empty" },
	{ "world:\n  seed: 1\n  rate: 60\n  seed: 2\n", STATUS_EXISTS, 4, "seed", "twice" },
	{ "shapes:\n  a: {kind: box, size: 1}\n  a: {kind: box, size: 2}\n", STATUS_EXISTS, 3, "a",
	  "twice" },
	/* ---- keys ---- */
	{ "[1, 2]\n", STATUS_TYPE, 1, "scene", "scene must be a mapping, not a list" },
	{ "hello\n", STATUS_TYPE, 1, "scene", "mapping" },
	{ "wrold: {}\n", STATUS_MALFORMED, 1, "wrold", "did you mean 'world'?" },
	{ "world:\n  graviti: [0, 0, 0]\n", STATUS_MALFORMED, 2, "graviti",
	  "did you mean 'gravity'?" },
	{ "bodies:\n- rotation: {degrees: 90}\n", STATUS_MISSING, 2, "axis", "or euler" },
	{ "bodies:\n- rotation: {axis: [0, 1, 0]}\n", STATUS_MISSING, 2, "degrees", "or euler" },
	{ "bodies:\n- rotation: {euler: [0, 0, 90], degrees: 90}\n", STATUS_EXISTS, 2, "euler",
	  "give one of them" },
	{ "bodies:\n- rotation: {euler: [0, 90]}\n", STATUS_TYPE, 2, "euler",
	  "a list of 3 numbers" },
	{ "world: {dt: 0.01}\n", STATUS_MALFORMED, 1, "dt", "did you mean 'rate'?" },
	{ "bodies:\n- {weight: 1}\n", STATUS_MALFORMED, 2, "weight", "did you mean 'mass'?" },
	{ "bodies:\n- {omega: [0, 0, 1]}\n", STATUS_MALFORMED, 2, "omega",
	  "did you mean 'angular_velocity'?" },
	{ "bodies:\n- {type: static}\n", STATUS_MALFORMED, 2, "type", "did you mean 'status'?" },
	{ "materials: {m: {bounciness: 1}}\n", STATUS_MALFORMED, 1, "bounciness",
	  "did you mean 'restitution'?" },
	{ "shapes: {a: {kind: cuboid, size: 1}}\n", STATUS_RANGE, 1, "kind",
	  "did you mean 'box'?" },
	{ "shapes: {a: {kind: capsule, radius: 1, height: 2}}\n", STATUS_MALFORMED, 1, "height",
	  "did you mean 'length'?" },
	{ "world: {qqqqqq: 1}\n", STATUS_MALFORMED, 1, "qqqqqq", "world has no key 'qqqqqq'" },
	{ "gravity: [0, -10, 0]\n", STATUS_MALFORMED, 1, "gravity",
	  "scene has no key 'gravity'; world has it" },
	{ "bodies:\n- {density: 1, stiffness: 3}\n", STATUS_MALFORMED, 2, "stiffness",
	  "body has no key 'stiffness'; spring, motor, fluid have it" },
	{ "bodies:\n- {position: [1, 2]}\n", STATUS_TYPE, 2, "position",
	  "position must be a list of 3 numbers, not of 2" },
	{ "bodies:\n  -\n    atat: [0, 0, 0]\n", STATUS_MALFORMED, 3, "atat",
	  "did you mean 'at'?" },
	{ "shapes:\n  a: {kind: box, sise: 1}\n", STATUS_MALFORMED, 2, "sise",
	  "did you mean 'size'?" },
	{ "materials: {m: {frictoin: 1}}\n", STATUS_MALFORMED, 1, "frictoin", "'friction'" },
	{ "prototypes: {p: {mas: 1}}\n", STATUS_MALFORMED, 1, "mas", "'mass'" },
	{ "bodies:\n- grid: {cuont: [1, 1, 1]}\n", STATUS_MALFORMED, 2, "cuont", "'count'" },
	{ "bodies:\n- {<<: {at: [0, 0, 0]}}\n", STATUS_MALFORMED, 2, "<<", "no key" },
	{ "world:\n  parameters:\n    soft_step.push_speed: 1\n    contact.push_speed: 2\n",
	  STATUS_EXISTS, 4, "contact.push_speed",
	  "same parameter as soft_step.push_speed of line 3" },
	{ "world: {parameters: {slep.enabled: 1}}\n", STATUS_UNKNOWN_PARAMETER, 1, "slep.enabled",
	  "'sleep.enabled'" },
	/* ---- types ---- */
	{ "bodies: {}\n", STATUS_TYPE, 1, "bodies", "bodies must be a list, not a mapping" },
	{ "shapes: [1]\n", STATUS_TYPE, 1, "shapes", "shapes must be a mapping, not a list" },
	{ "bodies:\n", STATUS_TYPE, 1, "bodies", "a list" },
	{ "bodies: [7]\n", STATUS_TYPE, 1, "body", "a body must be a mapping" },
	{ "shapes:\n  a: 3\n", STATUS_TYPE, 2, "shape", "a shape must be a mapping" },
	{ "shapes: {a: {kind: sphere, radius: big}}\n", STATUS_TYPE, 1, "radius",
	  "radius must be a number, not 'big'" },
	{ "shapes: {a: {kind: sphere, radius: '1'}}\n", STATUS_TYPE, 1, "radius", "not \"1\"" },
	{ "shapes: {a: {kind: sphere, radius: 0x10}}\n", STATUS_TYPE, 1, "radius", "0x10" },
	{ "shapes: {a: {kind: sphere, radius: 1_000}}\n", STATUS_TYPE, 1, "radius", "1_000" },
	{ "shapes: {a: {kind: sphere, radius: 1e}}\n", STATUS_TYPE, 1, "radius", "1e" },
	{ "shapes: {a: {kind: [box]}}\n", STATUS_TYPE, 1, "kind", "a list" },
	{ "bodies: [{at: [1, 2]}]\n", STATUS_TYPE, 1, "at", "a list of 3 numbers, not of 2" },
	{ "bodies: [{at: 5}]\n", STATUS_TYPE, 1, "at", "at must be a list of 3 numbers" },
	{ "bodies: [{at: [1, [2], 3]}]\n", STATUS_TYPE, 1, "at", "a number, not a list" },
	{ "bodies: [{may_sleep: yes}]\n", STATUS_TYPE, 1, "may_sleep", "true or false" },
	{ "bodies: [{tag: 1.5}]\n", STATUS_TYPE, 1, "tag", "a whole number" },
	{ "bodies: [{like: [a]}]\n", STATUS_TYPE, 1, "like", "a name, not a list" },
	{ "bodies: [{rotation: 90}]\n", STATUS_TYPE, 1, "rotation", "[w, x, y, z]" },
	{ "bodies: [{grid: {count: [2, 2]}}]\n", STATUS_TYPE, 1, "count", "3 whole numbers" },
	{ "world: {name: {}}\n", STATUS_TYPE, 1, "name", "text" },
	{ "world: {name: \"a\\nb\"}\n", STATUS_TYPE, 1, "name", "ASCII" },
	{ "world: {seed: -1}\n", STATUS_TYPE, 1, "seed", "2^64 - 1" },
	{ "world: {rate: fast}\n", STATUS_TYPE, 1, "rate", "a number" },
	{ "world: {parameters: {sleep.enabled: true}}\n", STATUS_TYPE, 1, "sleep.enabled",
	  "a number" },
	{ "bodies: [{shapes: {a: b}}]\n", STATUS_TYPE, 1, "shapes", "a list" },
	{ "bodies: [{shape: [1]}]\n", STATUS_TYPE, 1, "shape", "a mapping, not a list" },
	/* ---- numbers ---- */
	{ "shapes:\n  a:\n    kind: sphere\n    radius: -1\n", STATUS_RANGE, 4, "radius",
	  "radius -1 is not between 0.0001 and 100000 m" },
	{ "shapes: {a: {kind: sphere, radius: 1e300}}\n", STATUS_RANGE, 1, "radius", "100000" },
	{ "shapes: {a: {kind: sphere, radius: 1e999}}\n", STATUS_RANGE, 1, "radius", "100000" },
	{ "shapes: {a: {kind: sphere, radius: .nan}}\n", STATUS_NOT_FINITE, 1, "radius", "100000" },
	{ "shapes: {a: {kind: sphere, radius: NaN}}\n", STATUS_NOT_FINITE, 1, "radius", "finite" },
	{ "bodies: [{at: [0, .inf, 0]}]\n", STATUS_NOT_FINITE, 1, "at", "1000000" },
	{ "bodies: [{at: [0, -Infinity, 0]}]\n", STATUS_NOT_FINITE, 1, "at", "1000000" },
	{ "bodies: [{at: [0, 1e300, 0]}]\n", STATUS_RANGE, 1, "at", "1000000 m" },
	{ "bodies: [{velocity: [0, 0, 10001]}]\n", STATUS_RANGE, 1, "velocity", "10000 m/s" },
	{ "bodies: [{mass: 0}]\n", STATUS_RANGE, 1, "mass", "1e-12" },
	{ "bodies: [{mass: 1e10}]\n", STATUS_RANGE, 1, "mass", "1000000000 kg" },
	{ "bodies: [{density: 1e7}]\n", STATUS_RANGE, 1, "density", "1000000 kg/m3" },
	{ "bodies: [{restitution: 1.1}]\n", STATUS_RANGE, 1, "restitution", "between 0 and 1" },
	{ "bodies: [{static_friction: 0.1}]\n", STATUS_RANGE, 1, "dynamic_friction",
	  "0.6 is above static_friction 0.1" },
	{ "bodies: [{tag: 9007199254740993}]\n", STATUS_RANGE, 1, "tag", "" },
	{ "bodies: [{category: 4294967296}]\n", STATUS_RANGE, 1, "category", "4294967295" },
	{ "bodies: [{rotation: [0, 0, 0, 0]}]\n", STATUS_RANGE, 1, "rotation", "0.5 and 2" },
	{ "bodies: [{rotation: {axis: [0, 0, 0], degrees: 1}}]\n", STATUS_DEGENERATE, 1, "rotation",
	  "1e-09" },
	{ "bodies: [{status: flying}]\n", STATUS_RANGE, 1, "status",
	  "inactive|static|dynamic|animated" },
	{ "world: {rate: 0}\n", STATUS_RANGE, 1, "rate", "between 1 and 10000" },
	{ "world: {rate: [1, 2]}\n", STATUS_RANGE, 1, "rate", "between 1 and 10000" },
	{ "world: {gravity: [0, -1e5, 0]}\n", STATUS_RANGE, 1, "gravity", "10000 m/s2" },
	{ "world: {seed: 18446744073709551616}\n", STATUS_RANGE, 1, "seed", "2^64 - 1" },
	{ "world: {name: ''}\n", STATUS_RANGE, 1, "name", "from 1 to 64" },
	{ "world: {parameters: {soft_step.substeps: 65}}\n", STATUS_RANGE, 1, "soft_step.substeps",
	  "64" },
	{ "world: {bounds: {mode: walls, minimum: [0, 0, 0], maximum: [1, 0, 1]}}\n", STATUS_RANGE,
	  1, "maximum", "along y" },
	{ "world: {limits: {bodies: 0}}\n", STATUS_RANGE, 1, "bodies", "1048576" },
	{ "shapes: {a: {kind: blob}}\n", STATUS_RANGE, 1, "kind", "not a kind of shape" },
	{ "shapes: {a: {kind: sphre}}\n", STATUS_RANGE, 1, "kind", "'sphere'" },
	{ "shapes: {a: {kind: box, size: [1, 1, 0]}}\n", STATUS_RANGE, 1, "size", "0.0002" },
	{ "shapes: {a: {kind: hull, file: ../x.obj}}\n", STATUS_RANGE, 1, "file", "relative" },
	{ "shapes: {a: {kind: hull, file: /etc/passwd}}\n", STATUS_RANGE, 1, "file", "relative" },
	{ "shapes: {a: {kind: hull, simplify: 5}}\n", STATUS_RANGE, 1, "simplify", "8 and 1024" },
	{ "shapes: {a: {kind: mesh, triangles: [[0, 1, 3]],\n  points: [[0, 0, 0], [1, 0, 0], [0, 1, 0]]}}",
	  STATUS_RANGE, 1, "triangles", "between 0 and 2" },
	{ "shapes: {a: {kind: hull, points: [[1, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]], scale: 0}}\n",
	  STATUS_RANGE, 1, "scale", "1e-06" },
	{ "shapes: {a: {kind: hull, points: [[1e5, 0, 0], [0, 1, 0], [0, 0, 1], [0, 0, 0]], scale: 2}}\n",
	  STATUS_RANGE, 1, "scale", "the limit of 100000 m" },
	{ "bodies:\n- {at: [1e6, 0, 0], array: {count: 3, step: [1, 0, 0]}}\n", STATUS_RANGE, 2,
	  "at", "the limit of 1000000 m" },
	/* ---- missing keys ---- */
	{ "shapes:\n  a:\n    size: 1\n", STATUS_MISSING, 3, "kind", "'kind'" },
	{ "shapes: {a: {kind: capsule, radius: 1}}\n", STATUS_MISSING, 1, "length",
	  "key 'length'" },
	{ "world: {bounds: {}}\n", STATUS_MISSING, 1, "mode", "'mode'" },
	{ "bodies: [{grid: {}}]\n", STATUS_MISSING, 1, "count", "grid needs the key 'count'" },
	{ "bodies: [{array: {}}]\n", STATUS_MISSING, 1, "count", "'count' or the key 'places'" },
	{ "bodies: [{array: {count: 1, turns: [[1, 0, 0, 0]]}}]\n", STATUS_MISSING, 1, "places",
	  "turns, but no places" },
	{ "bodies: [{array: {count: 1, places: [[1, 0, 0]]}}]\n", STATUS_EXISTS, 1, "places",
	  "neither count nor step" },
	{ "bodies: [{array: {places: [[1, 0, 0], [2, 0, 0]], turns: [[1, 0, 0, 0]]}}]\n",
	  STATUS_RANGE, 1, "turns", "1 turns for 2 places" },
	{ "bodies:\n- array: {places: [[1, 0, 0],\n  [2, 0]]}\n", STATUS_TYPE, 3, "places",
	  "3 numbers" },
	{ "bodies: [{array: {places: [[1, 0, 0]], turns: [[9, 0, 0, 0]]}}]\n", STATUS_RANGE, 1,
	  "turns", "turns" },
	{ "bodies: [{shapes: [{at: [0, 0, 0]}]}]\n", STATUS_MISSING, 1, "shape", "'shape'" },
	{ "bodies: [{rotation: {axis: [0, 1, 0]}}]\n", STATUS_MISSING, 1, "degrees", "'degrees'" },
	{ "shapes: {a: {kind: hull}}\n", STATUS_MISSING, 1, "points", "either 'points' or 'file'" },
	{ "shapes: {a: {kind: mesh, points: [[0, 0, 0], [1, 0, 0], [0, 1, 0]]}}\n", STATUS_MISSING,
	  1, "triangles", "go together" },
	{ "shapes: {a: {kind: solid, points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]]}}\n",
	  STATUS_MISSING, 1, "triangles", "go together" },
	{ "shapes: {a: {kind: mesh, file: no-such-mesh.obj}}\n", STATUS_MISSING, 1, "file",
	  "CAIRN_MESH_PATH" },
	/* ---- names ---- */
	{ "bodies:\n- shape: ball\n", STATUS_UNKNOWN_SHAPE, 2, "shape",
	  "no shape has the name 'ball'" },
	{ "shapes: {ball: {kind: sphere, radius: 1}}\nbodies: [{shape: bal}]\n",
	  STATUS_UNKNOWN_SHAPE, 2, "shape", "did you mean 'ball'?" },
	{ "bodies: [{material: wood}]\n", STATUS_MISSING, 1, "material", "'wood'" },
	{ "materials: {wood: {}}\nbodies: [{material: wod}]\n", STATUS_MISSING, 2, "material",
	  "'wood'" },
	{ "bodies: [{like: x}]\n", STATUS_MISSING, 1, "like", "'x'" },
	{ "prototypes:\n  a: {like: b}\n  b: {like: c}\n  c: {like: a}\n", STATUS_BACK_REFERENCE, 4,
	  "like", "'a' is like itself" },
	{ "prototypes:\n  a: {like: a}\n", STATUS_BACK_REFERENCE, 2, "like", "itself" },
	{ "prototypes: {a: {like: b}, b: {like: c}, c: {like: d}, d: {like: e}, e: {like: f}, f: {like: g},\n"
	  " g: {like: h}, h: {like: i}, i: {like: j}, j: {like: k}, k: {like: l}, l: {like: m},\n"
	  " m: {like: n}, n: {like: o}, o: {like: p}, p: {like: q}, q: {}}\n",
	  STATUS_TOO_DEEP, 3, "like", "15" },
	/* ---- exclusive keys, and rules of the world ---- */
	{ "bodies: [{shape: a, shapes: []}]\n", STATUS_EXISTS, 1, "shapes", "exclude each other" },
	{ "bodies: [{mass: 1, density: 1}]\n", STATUS_EXISTS, 1, "mass", "exclude each other" },
	{ "bodies:\n- ring: {count: 2, radius: 1}\n  stack: {count: 2}\n", STATUS_LIMIT, 2, "ring",
	  "generators stack and ring; it may have one" },
	{ "bodies: [{shape: {kind: plane}}]\n", STATUS_STATUS_WRONG, 1, "status",
	  "static or inactive" },
	{ "bodies: [{status: static, velocity: [1, 0, 0]}]\n", STATUS_STATUS_WRONG, 1, "velocity",
	  "dynamic or animated" },
	{ "bodies: [{fixed_rotation: true, angular_velocity: [1, 0, 0]}]\n", STATUS_STATUS_WRONG, 1,
	  "angular_velocity", "fixed rotation" },
	{ "bodies: [{shape: {kind: polygon, points: [[0, 0], [1, 0], [0, 1]]}}]\n", STATUS_PLANAR,
	  1, "shape", "planar: true" },
	{ "world: {planar: true}\nbodies: [{shape: {kind: sphere, radius: 1}}]\n", STATUS_PLANAR, 2,
	  "shape", "polygons" },
	{ "bodies: [{name: a}, {name: b}, {carried_by: [a, b]}]\n", STATUS_PLANAR, 1, "carried_by",
	  "planar worlds only" },
	{ "world: {planar: true}\nbodies: [{name: a}, {carried_by: [a, ab]}]\n", STATUS_MISSING, 2,
	  "carried_by", "'ab'" },
	{ "world: {planar: true}\nbodies: [{name: a}, {carried_by: [a]}]\n", STATUS_LIMIT, 2,
	  "carried_by", "from 2 to 4" },
	{ "world: {planar: true}\nbodies: [{name: a}, {carried_by: [a, world]}]\n", STATUS_RANGE, 2,
	  "carried_by", "the world" },
	{ "world: {planar: true}\nbodies: [{name: a, array: {count: 2, step: [1, 0, 0]}}, {carried_by: [a, "
	  "\"a[0]\"]}]\n",
	  STATUS_RANGE, 2, "carried_by", "several bodies" },
	{ "world: {planar: true}\nbodies: [{name: a, array: {count: 2, step: [1, 0, 0]}}, {carried_by: "
	  "[\"a[0]\", \"a[1]\"], array: {count: 3, step: [1, 0, 0]}}]\n",
	  STATUS_RANGE, 2, "carried_by", "3 bodies" },
	{ "world: {planar: true}\nprototypes: {p: {carried_by: [a, b]}}\nbodies: [{like: p}]\n",
	  STATUS_EXISTS, 3, "carried_by", "in a prototype" },
	{ "world: {planar: true}\nbodies: [{at: [0, 0, 1]}]\n", STATUS_PLANAR, 2, "at", "z = 1" },
	{ "world: {planar: true}\nbodies: [{velocity: [0, 0, 1]}]\n", STATUS_PLANAR, 2, "velocity",
	  "x-y" },
	{ "world: {planar: true}\nbodies: [{ring: {count: 3, radius: 1}}]\n", STATUS_PLANAR, 2,
	  "at", "z" },
	/* ---- degenerate ---- */
	{ "shapes: {a: {kind: plane, normal: [0, 0, 0]}}\n", STATUS_DEGENERATE, 1, "normal",
	  "1e-09" },
	{ "shapes: {a: {kind: hull, points: [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, -0.0]]}}\n",
	  STATUS_DEGENERATE, 1, "points", "3 different points; a hull needs at least 4" },
	{ "shapes: {a: {kind: mesh, triangles: [[0, 1, 2]], points: [[0, 0, 0], [1, 0, 0], [2, 0, 0]]}}\n",
	  STATUS_DEGENERATE, 1, "triangles", "no triangle has an area" },
	/* ---- too many ---- */
	{ "world: {limits: {bodies: 10}}\nbodies:\n- {}\n- {stack: {count: 10}}\n", STATUS_LIMIT, 4,
	  "bodies", "11 bodies so far, more than the limit of 10" },
	{ "bodies: [{stack: {count: 65537}}]\n", STATUS_LIMIT, 1, "bodies", "65536" },
	{ "bodies: [{stack: {count: 262145}}]\n", STATUS_RANGE, 1, "count", "262144" },
	{ "bodies: [{grid: {count: [262144, 262144, 262144]}}]\n", STATUS_LIMIT, 1, "count",
	  "262144" },
	{ "bodies: [{pyramid: {base: 1024, square: true}}]\n", STATUS_LIMIT, 1, "count", "262144" },
	{ "shapes: {a: {kind: hull, points: [[0, 0, 0]]}}\n", STATUS_LIMIT, 1, "points",
	  "from 4 to" },
	{ "shapes: {a: {kind: polygon, points: [[0, 0], [1, 1]]}}\n", STATUS_LIMIT, 1, "points",
	  "from 3 to 64" },
};

static void refused(const char *text, size_t bytes, enum status expected, unsigned line,
		    const char *field, const char *says)
{
	struct scene *scene = NULL;
	struct reason why;
	char place[32];
	int64_t live = heap_live();
	memset(&why, 0xa5, sizeof why);
	enum status status = scene_parse(text, bytes, NULL, &scene, &why);
	ck_assert_msg(status == expected, "%s, not %s: %s\nof %.60s", status_name(status),
		      status_name(expected), status == STATUS_OK ? "" : why.text, text);
	snprintf(place, sizeof place, "scene:%u: ", line);
	ck_assert_msg(strncmp(why.text, place, strlen(place)) == 0, "'%s' is not at '%s'", why.text,
		      place);
	ck_assert_str_eq(why.field, field);
	ck_assert_msg(strstr(why.text, says) != NULL, "'%s' does not say '%s'", why.text, says);
	ck_assert_int_eq(why.status, status);
	ck_assert_ptr_null(scene);
	ck_assert_int_eq(heap_live(), live);
	/* The same without a reason to fill. */
	ck_assert_int_eq(scene_parse(text, bytes, NULL, &scene, NULL), expected);
}

START_TEST(every_error_names_line_key_and_limit)
{
	const struct broken *b = &BROKEN[_i];
	refused(b->text, strlen(b->text), b->status, b->line, b->field, b->says);
}
END_TEST

/* ---- large scenes, generated --------------------------------------------------------------------- */

static void append(struct bytes *text, const char *more)
{
	ck_assert_int_eq(bytes_append(text, more, strlen(more)), STATUS_OK);
}

START_TEST(deep_nesting_costs_no_stack)
{
	struct bytes text = { 0 };
	append(&text, "bodies: ");
	for (int i = 0; i < 200000; i++)
		append(&text, "[");
	refused((const char *)text.data, text.count, STATUS_TOO_DEEP, 1, "scene", "16");
	bytes_release(&text);
}
END_TEST

START_TEST(a_mapping_with_too_many_keys_is_refused)
{
	struct bytes text = { 0 };
	append(&text, "shapes:\n");
	for (int i = 0; i < 4097; i++) {
		char line[64];
		snprintf(line, sizeof line, "  s%d: {kind: sphere, radius: 1}\n", i);
		append(&text, line);
	}
	refused((const char *)text.data, text.count, STATUS_TOO_LARGE, 4098, "s4096", "4096");
	bytes_release(&text);
}
END_TEST

START_TEST(a_value_with_too_many_bytes_is_refused)
{
	struct bytes text = { 0 };
	append(&text, "world:\n  name: ");
	for (int i = 0; i < 1025; i++)
		append(&text, "n");
	refused((const char *)text.data, text.count, STATUS_TOO_LARGE, 2, "scene", "1024");
	bytes_release(&text);
}
END_TEST

START_TEST(a_file_with_too_many_bytes_is_refused)
{
	size_t bytes = ((size_t)16 << 20) + 1;
	char *text = heap_alloc(bytes);
	ck_assert_ptr_nonnull(text);
	memset(text, '\n', bytes);
	refused(text, bytes, STATUS_TOO_LARGE, 1, "scene", "16777216");
	heap_free(text);
}
END_TEST

START_TEST(a_truncated_scene_is_refused_or_complete)
{
	const char *text = "{\"world\": {\"name\": \"cut\", \"rate\": [60, 1]},"
			   " \"shapes\": {\"a\": {\"kind\": \"box\", \"size\": [1, 2, 3]}},"
			   " \"bodies\": [{\"shape\": \"a\", \"at\": [0, 1, 0]}]}";
	for (size_t bytes = 0; bytes < strlen(text); bytes++) {
		struct scene *scene = NULL;
		struct reason why = { 0 };
		int64_t live = heap_live();
		ck_assert_int_ne(scene_parse(text, bytes, NULL, &scene, &why), STATUS_OK);
		ck_assert_ptr_null(scene);
		ck_assert_ptr_nonnull(strstr(why.text, "scene:"));
		ck_assert_int_eq(heap_live(), live);
	}
}
END_TEST

START_TEST(a_zero_byte_is_refused)
{
	const char text[] = "world: {name: \"a\\0b\"}\n";
	refused(text, strlen(text), STATUS_MALFORMED, 1, "scene", "zero byte");
	const char raw[] = "world: {name: a\0b}\n";
	struct scene *scene = NULL;
	ck_assert_int_eq(scene_parse(raw, sizeof raw - 1, NULL, &scene, NULL), STATUS_MALFORMED);
}
END_TEST

/* ---- files --------------------------------------------------------------------------------------- */

START_TEST(an_error_names_the_file_and_the_line)
{
	char directory[128] = "/tmp/cairn-errors-XXXXXX", path[256], place[300];
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof path, "%s/bad.yaml", directory);
	FILE *file = fopen(path, "w");
	ck_assert_ptr_nonnull(file);
	fputs("world:\n  rate: sixty\n", file);
	fclose(file);
	struct scene *scene = NULL;
	struct reason why = { 0 };
	ck_assert_int_eq(scene_load(path, &scene, &why), STATUS_TYPE);
	snprintf(place, sizeof place, "%s:2: ", path);
	ck_assert_msg(strncmp(why.text, place, strlen(place)) == 0, "%s", why.text);
	ck_assert_int_eq(unlink(path), 0);
	/* A missing file, and a directory in place of a file. */
	ck_assert_int_eq(scene_load(path, &scene, &why), STATUS_MISSING);
	ck_assert_ptr_nonnull(strstr(why.text, "bad.yaml"));
	ck_assert_int_eq(scene_load(directory, &scene, &why), STATUS_IO);
	rmdir(directory);
}
END_TEST

START_TEST(an_error_names_the_bad_mesh_file)
{
	static const struct {
		const char *text;
		enum status status;
	} meshes[] = {
		{ "this is no mesh", STATUS_MALFORMED },
		{ "", STATUS_MALFORMED },
		{ "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 9\n", STATUS_MALFORMED },
		{ "v 0 0 0\nv 1 0 0\nv 2 0 0\nf 1 2 3\n", STATUS_DEGENERATE },
		{ "v 0 0 0\nv 1e30 0 0\nv 0 1 0\nf 1 2 3\n", STATUS_RANGE },
	};
	const char *text = "shapes:\n  m: {kind: mesh, file: bad.obj}\n";
	char directory[128] = "/tmp/cairn-errors-XXXXXX", path[256];
	ck_assert_ptr_nonnull(mkdtemp(directory));
	snprintf(path, sizeof path, "%s/bad.obj", directory);
	for (size_t i = 0; i < COUNT_OF(meshes); i++) {
		FILE *file = fopen(path, "w");
		ck_assert_ptr_nonnull(file);
		fputs(meshes[i].text, file);
		fclose(file);
		struct scene *scene = NULL;
		struct reason why = { 0 };
		int64_t live = heap_live();
		enum status status = scene_parse(text, strlen(text), directory, &scene, &why);
		ck_assert_msg(status == meshes[i].status, "%s: %s", status_name(status), why.text);
		ck_assert_msg(strncmp(why.text, "scene:2: ", 9) == 0, "%s", why.text);
		ck_assert_int_eq(heap_live(), live);
	}
	unlink(path);
	rmdir(directory);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("errors");
	TCase *table = tcase_create("table");
	tcase_add_loop_test(table, every_error_names_line_key_and_limit, 0, COUNT_OF(BROKEN));
	suite_add_tcase(suite, table);
	TCase *large = tcase_create("large and cut");
	tcase_add_test(large, deep_nesting_costs_no_stack);
	tcase_add_test(large, a_mapping_with_too_many_keys_is_refused);
	tcase_add_test(large, a_value_with_too_many_bytes_is_refused);
	tcase_add_test(large, a_file_with_too_many_bytes_is_refused);
	tcase_add_test(large, a_truncated_scene_is_refused_or_complete);
	tcase_add_test(large, a_zero_byte_is_refused);
	suite_add_tcase(suite, large);
	TCase *files = tcase_create("files");
	tcase_add_test(files, an_error_names_the_file_and_the_line);
	tcase_add_test(files, an_error_names_the_bad_mesh_file);
	suite_add_tcase(suite, files);
	return suite;
}

int main(void)
{
	return check_main(make);
}
