/* method.h: the interface of a method, which makes the steps of a world, and the state of a world's
 * method.
 *
 * The state of a world is neutral (the tables). What a method stores of its own between steps is
 * its state: an object made from the tables and the method's block, the bytes that it saved, and
 * from nothing else. So a state may be destroyed and made again at any tick boundary without
 * effect on the motion; a world that is restored, forked or loaded does so. History that is no
 * function of the tables (a basis, an active set) is in the block.
 *
 *   attach       the method becomes the world's: neutral state only, no block; its state is made when
 *                it is first needed
 *   create       makes the state from tables and block
 *   step         one tick; reports the size of the block that it would save
 *   save         writes the block, for an image or a hash
 *   slept        reports the bodies that fell asleep in the last step
 *   destroy      frees the state: with the world, before a restore, before detach
 *   detach       another method becomes the world's: writes neutral velocities and wakes all bodies
 */
#ifndef CAIRN_ENGINE_METHODS_METHOD_H
#define CAIRN_ENGINE_METHODS_METHOD_H

#include "server/engine/dynamics/dynamics.h"
#include "server/engine/world/command.h"

struct method {
	const char *name;    /* the METHOD command's parameter */
	const char *summary; /* one line */
	uint16_t number;     /* permanent; world.method */
	uint32_t motion;     /* raised with every change of its bits; 0: experimental (engine.h) */
	/* OK, or METHOD_REFUSES with why ("lcp needs spheres or planar boxes: body 17 is a hull"). */
	enum status (*supports)(const struct dynamics *dynamics, struct reason *why);
	/* The same for one command about to be applied. Its ids are resolved; a body may be one
	 * that an earlier command of the batch will make, not yet in the tables. Shapes of a
	 * SPAWN are in the order of its attachments. */
	enum status (*admit)(const struct dynamics *dynamics, const struct command *command,
			     const struct shape *const *spawn_shapes, uint32_t spawn_shape_count,
			     struct reason *why);
	/* Functions of the tables alone; they neither fail nor allocate. Not called after a
	 * restore, because tables and block are all that a method leaves. */
	void (*attach)(struct dynamics *dynamics);
	void (*detach)(struct dynamics *dynamics);
	/* NULL for a method without a state; the functions below then get NULL for it. Makes the
	 * state from the tables and a block of `bytes` (0 after attach). *state is returned
	 * owned, to be freed by destroy. NO_MEMORY: called again at the next step; CORRUPT: the
	 * method never saved such a block. */
	enum status (*create)(const struct dynamics *dynamics, const uint8_t *block, uint32_t bytes,
			      void **state, struct reason *why);
	void (*destroy)(void *state);
	/* One tick of dt seconds, dt > 0. Fills dynamics->report, and its step.block_bytes with
	 * the size of the method's block from now on. LIMIT, NO_MEMORY: nothing changed, and
	 * method_step resets the scratch memory. */
	enum status (*step)(void *state, struct dynamics *dynamics, double dt, struct reason *why);
	/* Writes the block, as many bytes as the table method_block has rows. NULL where there is
	 * no create. */
	void (*save)(const void *state, const struct dynamics *dynamics, uint8_t *block);
	/* Rows of bodies that fell asleep in the last step, set by set. NULL: not needed. */
	void (*slept)(void *state, const struct dynamics *dynamics, const uint32_t *bodies,
		      uint32_t count);
	/* Bytes of scratch of a step of so many bodies and contacts, at most and usually
	 * (step_touch). NULL: no memory is taken before the step. */
	uint64_t (*need)(uint64_t bodies, uint64_t contacts);
	uint64_t (*usual)(uint64_t bodies, uint64_t contacts);
	/* Capabilities, for the generated table of methods. */
	uint32_t shapes; /* bit per enum shape_kind */
	bool friction, restitution, sleep, planar, three_d, joints;
	bool carriers; /* points may carry bodies (dynamics/carrier.h) */
	bool mutual;   /* fields by which bodies attract each other (FIELD_MUTUAL) */
	bool no_locks; /* bodies with locked axes are refused, in method_supports and method_admit */
	/* Bits of enum material_property that no world has under it: part of method_supports and
	 * method_admit. */
	uint8_t refuses;
	/* Bits of those that have no effect under it. Worlds with them are stepped, because builds
	 * that did not refuse them have made some; method_asks_world and method_asks_command refuse
	 * to make more. */
	uint8_t ignores;
	enum broad_phase_kind broad_phase; /* default of worlds created with it */
};

/* Properties of a material, of which a method may have none (struct method, `ignores`). */
enum material_property {
	MATERIAL_ROLLING = 1,  /* rolling_friction */
	MATERIAL_SPINNING = 2, /* spinning_friction */
	MATERIAL_AXIS = 4,     /* friction_axis */
	MATERIAL_FRICTION = 8, /* static_friction, dynamic_friction */
	MATERIAL_RESTITUTION = 16,
};

/* OK if a method can step the world as it is (method_supports), or after the command
 * (method_admit); else METHOD_REFUSES with the reason. Call these functions and not the members of
 * the same name, which are NULL for a method that refuses nothing. */
MUST_CHECK enum status method_supports(const struct method *method, const struct dynamics *dynamics,
				       struct reason *why);
MUST_CHECK enum status method_admit(const struct method *method, const struct dynamics *dynamics,
				    const struct command *command,
				    const struct shape *const *spawn_shapes,
				    uint32_t spawn_shape_count, struct reason *why);

/* Refuses what the method would ignore: in the bodies and pieces of a world whose method it is to
 * become, and in a command. Asked of METHOD, SPAWN, SET_MATERIAL and SET_PIECE that a client or a
 * scene sends; never of a world that is opened, and never of a recorded batch that is applied
 * again. METHOD_REFUSES with field, value and remedy. */
MUST_CHECK enum status method_asks_world(const struct method *method, const struct tables *tables,
					 struct reason *why);
/* Bits of enum material_property that a command asks for. */
uint8_t material_properties(const struct command *command);
MUST_CHECK enum status method_asks_command(const struct method *method,
					   const struct command *command, struct reason *why);

/* A world's method and its state. */
struct method_instance {
	const struct method *method;
	void *state; /* owned; NULL until it is needed */
};
/* Makes the state if there is none. Errors of create. */
MUST_CHECK enum status method_ready(struct method_instance *self, const struct dynamics *dynamics,
				    struct reason *why);
/* One tick of dt seconds; on LIMIT and NO_MEMORY nothing changed. */
MUST_CHECK enum status method_step(struct method_instance *self, struct dynamics *dynamics,
				   double dt, struct reason *why);
/* After commands: takes memory for the first step of bodies that have been made (step_touch). */
void method_touch(const struct method_instance *self, struct dynamics *dynamics);
/* Writes the block into the table method_block, which has its size already. */
void method_save(const struct method_instance *self, const struct dynamics *dynamics);
/* Replaces the method: destroys its state, detaches it, empties the block, attaches `to`. */
void method_switch(struct method_instance *self, const struct method *to,
		   struct dynamics *dynamics);
/* Destroys the state; the method stays. */
void method_release(struct method_instance *self);

extern const struct method method_free, method_soft_step, method_lcp, method_projection,
	method_reflection, method_impact, method_penalty, method_gauss, method_pile;

/* Another name of a method, from its source; it may also set a parameter's value. */
struct method_alias {
	const char *name, *method;
	uint32_t parameter; /* row of the parameter table; UINT32_MAX: none */
	double value;
};
/* NULL when the name is no alias. */
const struct method_alias *method_alias(const char *name);
const struct method_alias *method_aliases(uint32_t *count);
/* By name or alias; NULL when there is none. */
const struct method *method_find(const char *name);
const struct method *method_by_number(uint16_t number);
const struct method *const *method_list(uint32_t *count);
/* One more method that is found by name and number and never listed; NULL except in tests of this
 * interface. */
extern const struct method *method_unlisted;

#endif
