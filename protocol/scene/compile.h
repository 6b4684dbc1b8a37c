/* compile.h: compiles the tree of a scene file into shapes and commands. Private to this folder;
 * its public header is scene.h. */
#ifndef CAIRN_PROTOCOL_SCENE_COMPILE_H
#define CAIRN_PROTOCOL_SCENE_COMPILE_H

#include "protocol/scene/scene.h"
#include "protocol/scene/schema.h"
#include "server/base/array.h"
#include "server/base/table.h"

/* Numbers of the canonical form (engine/geometry/shape.h, which this folder must not include; a
 * test compares them). */
enum canonical_kind {
	CANONICAL_SPHERE = 1,
	CANONICAL_CAPSULE = 2,
	CANONICAL_BOX = 3,
	CANONICAL_HULL = 4,
	CANONICAL_PLANE = 5,
	CANONICAL_MESH = 6,
	CANONICAL_POLYGON = 7,
	CANONICAL_SOLID = 8,
	CANONICAL_ROUNDED = 9,
	CANONICAL_CYLINDER = 10,
	CANONICAL_CONE = 11,
	CANONICAL_ELLIPSOID = 12,
	CANONICAL_HEIGHTFIELD = 13,
};
enum {
	SCENE_SHAPES_MAX = 4096,
	SCENE_BODIES_MAX = 262144, /* made by all entries and generators of a file */
	SCENE_ATTACHMENTS_MAX = 1 << 20,
	HULL_POINTS_MAX = 65536,  /* of a cloud */
	HULL_VERTICES_MAX = 1024, /* of the finished hull */
	HULL_DIRECTIONS = 512,	  /* `simplify` of a larger cloud when the file does not say */
	LIKE_DEPTH_MAX = 16,
	SCENE_NAMES_MAX = 65536,    /* of bodies */
	SCENE_JOINTS_MAX = 65536,   /* made by all entries of a file */
	SCENE_POINTS_MAX = 1 << 20, /* of all tables of motors */
};

/* `friction` sets both kinds that the layer does not set separately. */
#define SPREAD_FRICTION(values, NAME)                                                              \
	do {                                                                                       \
		const uint64_t one = 1;                                                            \
		if (!KEY_GIVEN(values, NAME, friction))                                            \
			break;                                                                     \
		if (!KEY_GIVEN(values, NAME, static_friction))                                     \
			(values)->static_friction = (values)->friction;                            \
		if (!KEY_GIVEN(values, NAME, dynamic_friction))                                    \
			(values)->dynamic_friction = (values)->friction;                           \
		(values)->given |= one << KEY_##NAME##_static_friction;                            \
		(values)->given |= one << KEY_##NAME##_dynamic_friction;                           \
	} while (0)

/* A shape name of the file, and its shape. */
struct named_shape {
	const char *name; /* borrowed from the document */
	uint32_t shape;	  /* index */
};

/* The bodies of an entry with a name: commands first … first + count − 1. */
struct named_bodies {
	const char *name; /* borrowed from the document */
	uint32_t first, count, line;
	uint32_t same; /* index + 1 of the next one whose name has the same hash */
};

/* The bodies of an entry that has colours: commands first … first + count − 1. */
struct coloured_bodies {
	const struct yaml_node *colour; /* of the entry, its prototype or material (borrowed) */
	uint32_t first, count;
};

/* The bodies of an entry that pictures show as something else: commands first … first + count −
 * 1. */
struct shown_bodies {
	const struct yaml_node *visuals; /* of the entry or its prototype (borrowed) */
	uint32_t first, count;
};

/* The bodies of an entry that walk: commands first … first + count − 1. */
struct walking_bodies {
	const struct yaml_node *mover; /* of the entry or its prototype (borrowed) */
	quat rotation;		       /* of the entry's frame */
	uint32_t first, count;
};
/* A body that points carry: its command. */
struct carried_body {
	const struct yaml_node *entry;	/* with the names (borrowed) */
	const struct yaml_node *points; /* of it (borrowed) */
	uint32_t body;
};
/* Commands first … first + count − 1 of piece_sets. */
struct piece_range {
	uint32_t first, count;
};
/* The bodies of an entry whose pieces have something of their own: commands first … first +
 * count − 1. */
struct pieced_bodies {
	struct piece_range pieces;
	uint32_t first, count, line;
};

/* The joints of an entry with a name: joints first … first + count − 1. */
struct named_joints {
	const char *name; /* borrowed */
	uint32_t first, count, line;
};
/* An axis that is to follow another one, when all joints are made. */
struct geared_axis {
	const struct yaml_node *node; /* table gear (borrowed) */
	struct named_joints own;      /* of its entry; `count` 0: that has no name */
	uint32_t joint;		      /* its number */
	uint32_t axis;
};

struct compile {
	struct source source;
	const char *base;			       /* directory for meshes, or NULL */
	uint64_t formula_samples, formula_samples_max; /* of heightfields by formulas */
	uint64_t seed;				       /* the world's */
	bool planar;
	bool keeps_names; /* of bodies */
	uint32_t bodies_max, body_count, joints_max, joint_count;
	const struct yaml_node *materials, *prototypes; /* NULL when the file has none */
	ARRAY_OF(struct named_shape) named;
	ARRAY_OF(struct scene_shape) shapes;
	ARRAY_OF(struct command) commands;
	/* For each command: index of its first shape in `attachments`; for a JOINT_TABLE or
	 * PARTICLES_CREATE: of its first point in `points`. */
	ARRAY_OF(uint32_t) firsts;
	/* For each command: its line in the file. */
	ARRAY_OF(uint32_t) lines;
	ARRAY_OF(uint32_t) entry_bodies; /* of each entry of `bodies`: how many it makes */
	ARRAY_OF(struct attachment) attachments;
	ARRAY_OF(struct joint_point) points;
	ARRAY_OF(struct named_bodies) bodies;
	struct table names;		   /* the first of `bodies` by the hash of a name */
	ARRAY_OF(uint32_t) joint_commands; /* by joint: its JOINT_CREATE */
	ARRAY_OF(struct named_joints) named_joints;
	ARRAY_OF(struct geared_axis) geared;
	ARRAY_OF(struct coloured_bodies) coloured;
	ARRAY_OF(struct shown_bodies) shown;
	uint64_t visual_count; /* of these bodies, together */
	ARRAY_OF(struct walking_bodies) walking;
	ARRAY_OF(struct carried_body) carried;
	ARRAY_OF(struct command_SET_PIECE) piece_sets; /* without bodies */
	ARRAY_OF(struct pieced_bodies) pieced;
	uint64_t piece_commands; /* of these bodies, together */
	ARRAY_OF(struct scene_expectation) expectations;
};

/* Appends a command with its defaults; NULL if there is no memory. */
struct command *compile_command(struct compile *self, uint16_t op, uint32_t line);

/* The parts of a scene, each a step of scene_parse. */
MUST_CHECK enum status compile_world(struct compile *self, const struct yaml_node *node,
				     struct scene_world *out);
MUST_CHECK enum status compile_shapes(struct compile *self, const struct yaml_node *shapes);
MUST_CHECK enum status compile_prototypes(struct compile *self);
MUST_CHECK enum status compile_bodies(struct compile *self, const struct yaml_node *bodies);
/* 0xRRGGBB of a scalar; refused by line and value if it is none. */
MUST_CHECK enum status compile_colour(struct compile *self, const struct yaml_node *node,
				      uint32_t *out);
/* The colours of the bodies, after all bodies: joints and names count on consecutive SPAWNs. */
MUST_CHECK enum status compile_colours(struct compile *self);
/* The one of `colour` and `color` that `map` has, checked; NULL: none. */
MUST_CHECK enum status compile_colour_key(struct compile *self, const struct yaml_node *map,
					  const struct yaml_node *colour,
					  const struct yaml_node *color,
					  const struct yaml_node **out);
/* Notes that the `count` bodies that are made next have these visuals; and the visuals of all
 * bodies, after all bodies for the same reason. */
MUST_CHECK enum status compile_note_visuals(struct compile *self, const struct yaml_node *visuals,
					    uint64_t count);
MUST_CHECK enum status compile_visuals(struct compile *self);
/* labels.c: the names of all named bodies, if the world keeps them; the name of a joint, the `index`-th
 * of `count` of its entry. */
MUST_CHECK enum status compile_body_names(struct compile *self);
MUST_CHECK enum status compile_joint_name(struct compile *self, const char *name, uint32_t line,
					  uint32_t joint, uint32_t index, uint32_t count);
/* The movers, after all bodies for the same reason. */
MUST_CHECK enum status compile_movers(struct compile *self);
/* carried.c: notes that the body of this entry, which is made next, has points that carry it; and the CARRY
 * commands of all such bodies, after all bodies. */
MUST_CHECK enum status compile_note_carried(struct compile *self, const struct yaml_node *entry,
					    const struct yaml_node *points, uint64_t count);
MUST_CHECK enum status compile_carried(struct compile *self);
MUST_CHECK enum status compile_joints(struct compile *self, const struct yaml_node *joints);
MUST_CHECK enum status compile_fields(struct compile *self, const struct yaml_node *fields);
MUST_CHECK enum status compile_particles(struct compile *self, const struct yaml_node *systems);
MUST_CHECK enum status compile_compare(struct compile *self, const struct yaml_node *node,
				       struct scene_compare *out);
MUST_CHECK enum status compile_expect(struct compile *self, const struct yaml_node *expect);

/* The world, or the bodies of commands first … first + count − 1. */
struct body_range {
	uint32_t first, count; /* COMPILE_WORLD, 1: the world */
};
#define COMPILE_WORLD UINT32_MAX
/* The bodies that a name stands for: NAME, NAME[i], "world" or NULL (the world). `key` is the
 * key of `entry` with the text. */
MUST_CHECK enum status compile_find_bodies(struct compile *self, const struct yaml_node *entry,
					   const char *key, const char *text,
					   struct body_range *out);

/* The bodies whose entry has this name; NULL: none. */
const struct named_bodies *compile_named(const struct compile *self, const char *name);
/* EXISTS: refuses a name that another entry has. Both lines are told, with their files where these differ. */
enum status compile_refuse_name(const struct compile *self, uint32_t line, const char *name,
				uint32_t other_line);
/* Adds a name that no bodies have. */
MUST_CHECK enum status compile_name(struct compile *self, const struct named_bodies *named);

/* The material that `use` names, with `friction` as both kinds, and its colour (NULL: none). */
MUST_CHECK enum status compile_material(struct compile *self, const struct yaml_node *use,
					struct material_keys *material,
					const struct yaml_node **colour);
/* What the pieces of an entry's bodies have of their own, as commands without a body in
 * `piece_sets`. `shapes`: how many the bodies have. */
MUST_CHECK enum status compile_pieces(struct compile *self, const struct body_keys *body,
				      uint32_t shapes, struct piece_range *out);
/* Notes that the `count` bodies that are made next have these. */
MUST_CHECK enum status compile_pieces_of(struct compile *self, struct piece_range pieces,
					 uint32_t line, uint64_t count);
/* The SET_PIECEs of all bodies, after all bodies. */
MUST_CHECK enum status compile_all_pieces(struct compile *self);

/* Refuses the entry if both of two exclusive keys are given. */
MUST_CHECK enum status compile_refuse_both(struct compile *self, const struct yaml_node *node,
					   bool both, const char *one, const char *other);
/* The axis of a word of table gear for a joint type; UINT32_MAX: the type has none. joints.c */
uint32_t compile_axis_number(uint32_t word, uint32_t type);
/* The JOINT_GEARs of all joints, after all joints; refuses a name of two joints. gears.c */
MUST_CHECK enum status compile_gears(struct compile *self);
/* The commands of one axis of a joint, from `node` (the axis' mapping) and its keys: a
 * JOINT_AXIS and, if the motor follows a table, a JOINT_TABLE. `length` is the initial length of
 * a distance, m. joint_axes.c */
MUST_CHECK enum status compile_axis(struct compile *self, const struct yaml_node *node,
				    const struct axis_keys *keys, uint32_t joint, uint32_t type,
				    uint32_t axis, double length);

/* A shape by name or by its own mapping; *index is into `shapes`. */
MUST_CHECK enum status compile_shape(struct compile *self, const struct yaml_node *node,
				     const char *label, uint32_t *index);
enum canonical_kind compile_shape_kind(const struct compile *self, uint32_t shape);
/* Whether bodies with such a shape cannot move. */
static inline bool canonical_is_ground(enum canonical_kind kind)
{
	return kind == CANONICAL_PLANE || kind == CANONICAL_MESH || kind == CANONICAL_HEIGHTFIELD;
}
struct writer;
/* The canonical bytes of a mapping of kind heightfield. */
MUST_CHECK enum status compile_heightfield(struct compile *self, const struct yaml_node *node,
					   struct writer *writer);

/* ---- frames
 * -------------------------------------------------------------------------------------- */

/* The pose that a key `frame` gives; the identity for NULL. */
MUST_CHECK enum status compile_frame(const struct source *source, const struct yaml_node *node,
				     pose *out);

/* ---- generators
 * ---------------------------------------------------------------------------------- */

/* All generators: their table, and their key. */
#define GENERATORS(GENERATOR)                                                                      \
	GENERATOR(GRID, grid)                                                                      \
	GENERATOR(STACK, stack)                                                                    \
	GENERATOR(PYRAMID, pyramid)                                                                \
	GENERATOR(RING, ring)                                                                      \
	GENERATOR(SPIRAL, spiral)                                                                  \
	GENERATOR(TOWER, tower)                                                                    \
	GENERATOR(ARCH, arch)                                                                      \
	GENERATOR(ARRAY, array)                                                                    \
	GENERATOR(SCATTER, scatter)

/* The keys of an entry that may have a generator. */
struct generator_maps {
#define GENERATOR(NAME, name) const struct yaml_node *name;
	GENERATORS(GENERATOR)
#undef GENERATOR
};
#define GENERATOR_MAPS(keys)                                                                       \
	((struct generator_maps){ .grid = (keys)->grid,                                            \
				  .stack = (keys)->stack,                                          \
				  .pyramid = (keys)->pyramid,                                      \
				  .ring = (keys)->ring,                                            \
				  .spiral = (keys)->spiral,                                        \
				  .tower = (keys)->tower,                                          \
				  .arch = (keys)->arch,                                            \
				  .array = (keys)->array,                                          \
				  .scatter = (keys)->scatter })

/* Whether there is one. */
static inline bool generator_maps_any(const struct generator_maps *maps)
{
	bool any = false;
#define GENERATOR(NAME, name) any = any || maps->name != NULL;
	GENERATORS(GENERATOR)
#undef GENERATOR
	return any;
}

/* The generator of an entry. */
struct generator {
	enum {
		GENERATE_ONE,
#define GENERATOR(NAME, name) GENERATE_##NAME,
		GENERATORS(GENERATOR)
#undef GENERATOR
	} kind;
	union {
#define GENERATOR(NAME, name) struct name##_keys name;
		GENERATORS(GENERATOR)
#undef GENERATOR
	};
	pose *places; /* owned: of a scatter, or of an array of places; NULL of the others */
};

/* Reads the generator of the entry, if any. LIMIT if there are two. `seed` is of a scatter. A
 * generator that was read is to be released; after a failure there is nothing to release. */
MUST_CHECK enum status generator_read(const struct source *source, const struct yaml_node *node,
				      const struct generator_maps *maps, uint64_t seed, bool planar,
				      struct generator *out);
void generator_release(struct generator *self);
/* The number of bodies; saturates. */
uint64_t generator_count(const struct generator *self);
/* The pose of the index-th body: position relative to the entry's `at`, and a rotation that is
 * applied first. */
pose generator_pose(const struct generator *self, uint32_t index);

/* scatter.c: the poses of a scatter, returned owned in *out. */
MUST_CHECK enum status scatter_make(const struct source *source, uint32_t line,
				    const struct scatter_keys *keys, uint64_t seed, bool planar,
				    pose **out);

#endif
