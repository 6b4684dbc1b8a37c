/* worlds.h: worlds for tests: a catalogue of shapes, shortcuts to create worlds and send commands.
 * An unexpected failure is printed and ends the program. */
#ifndef CAIRN_TESTS_WORLDS_H
#define CAIRN_TESTS_WORLDS_H

#include "server/engine/engine.h"

/* The catalogue: the same in every run; its shapes live as long as the program. */
enum test_shape {
	TEST_SPHERE, /* radius ½ m */
	TEST_CAPSULE,
	TEST_BOX,      /* a cube of 1 m */
	TEST_HULL,     /* an octahedron */
	TEST_PLANE,    /* y ≤ 0 */
	TEST_MESH,     /* hilly ground of 16 m by 16 m */
	TEST_POLYGON,  /* a square of 1 m, for planar worlds */
	TEST_TRIANGLE, /* the same, with a rounded edge */
	TEST_SHAPES,
	/* Not drawn or counted; cooked on first use. */
	TEST_RING,  /* a torus as a field, radii 0.6 and 0.2 m */
	TEST_BLOCK, /* an L of cubes of ½ m as a field */
	TEST_ELBOW, /* the same as convex parts */
	TEST_SHAPES_ALL,
};
const struct shape *test_shape(enum test_shape shape);
struct name32 test_shape_name(enum test_shape shape);
struct shape_source test_shape_source(void);

struct world_options test_options(bool planar, const char *method);
struct world *test_world(bool planar, const char *method);
struct world *test_world_of(const struct world_options *options);

/* One batch of session 1, now. Returns its status; *result may be NULL. */
enum status test_batch(struct world *world, struct command *commands, uint32_t count,
		       struct batch_result *result);
/* One command that must succeed; returns the id that it creates. */
uint32_t test_do(struct world *world, const struct command *command);
/* The status of one command alone. */
enum status test_try(struct world *world, const struct command *command);

/* The id of a shape of the catalogue, which is defined in the world on first use. */
shape_id test_use(struct world *world, enum test_shape shape);
struct command test_command(enum command_op op);
/* SPAWN of a dynamic body with one shape (TEST_SHAPES: none); `item` is filled and borrowed. */
struct command test_spawn_command(struct world *world, enum test_shape shape, vec3 position,
				  struct attachment *item);
/* Sets gravity to 0. */
void test_no_gravity(struct world *world);
body_id test_spawn(struct world *world, enum test_shape shape, vec3 position);
/* A static plane: y ≤ 0 is solid. */
body_id test_ground(struct world *world);
/* A world with the ground and three boxes that are stacked askew; ids: of all four. Returned owned. */
struct world *test_stack(const char *method, body_id ids[4]);
struct body_view test_body(const struct world *world, body_id id);
/* world_contacts, which must have memory; returns how many were written. */
uint32_t test_contacts(const struct world *world, body_id body, struct contact_view *out,
		       uint32_t capacity);
void test_step(struct world *world, uint32_t ticks);
uint64_t test_hash(const struct world *world);
/* world_check, and compares the tick hash with one computed from the public state. */
void test_check(const struct world *world);
/* A particle system without emitter and end of life, and a particle in a system. */
struct command test_system_command(const char *name);
void test_add_particle(struct world *world, system_id system, vec3 position, vec3 velocity);
struct text32 test_text(const char *text);
/* The answer, whose errors are at most 1e-10. Returned owned: stability_view_release. */
struct stability_view test_stability(const struct world *world, struct stability_query query);
/* The image; returned owned. */
struct bytes test_save(const struct world *world);

#endif
