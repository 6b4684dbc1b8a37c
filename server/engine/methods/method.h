/* method.h: one scene, several answers: the interface of everything that can make a step.
 *
 * World state is neutral (the tables). What a method keeps of its own between steps is its state:
 * an object that it makes from the tables and its block, the bytes that it saved, and from nothing
 * else. So a state may be destroyed and made anew at any boundary without any effect on what
 * follows; a world that is restored, forked or loaded does so. What is history and no function of
 * the tables (a basis, an active set) stands in the block.
 *
 *   attach       a method begins: neutral state only, no block; its state is made when it is first needed
 *   create       makes the state from tables and block
 *   step         one tick; says how large the block is that it would save
 *   save         writes the block, when an image or a hash asks for it
 *   slept        tells which bodies fell asleep in the last step
 *   destroy      the state goes: with the world, before a restore, before detach
 *   detach       the method ends: writes neutral velocities and wakes everything
 */
#ifndef CAIRN_ENGINE_METHODS_METHOD_H
#define CAIRN_ENGINE_METHODS_METHOD_H

#include "server/engine/dynamics/dynamics.h"
#include "server/engine/world/command.h"

struct method {
	const char *name;    /* what the METHOD command says */
	const char *summary; /* one line */
	uint16_t number;     /* permanent; world.method */
	uint32_t motion;     /* raised with every change of its bits; 0: experimental (engine.h) */
	/* OK, or METHOD_REFUSES with why ("lcp needs spheres or planar boxes: body 17 is a hull"). */
	enum status (*supports)(const struct dynamics *dynamics, struct reason *why);
	/* The same question for one command about to be applied: its ids are resolved (a body may be one
	 * that an earlier command of the batch will make, not yet in the tables), shapes of a SPAWN
	 * are given in the order of its attachments. */
	enum status (*admit)(const struct dynamics *dynamics, const struct command *command,
			     const struct shape *const *spawn_shapes, uint32_t spawn_shape_count,
			     struct reason *why);
	/* Of the tables alone; neither fails nor allocates. Not called after a restore: what a
	 * method left in the tables and in its block is all there is. */
	void (*attach)(struct dynamics *dynamics);
	void (*detach)(struct dynamics *dynamics);
	/* NULL for a method without a state; the following then get NULL for it. Makes the state of
	 * the tables and a block of `bytes` (0 after attach). *state is returned owned, to be given
	 * to destroy. NO_MEMORY: asked again at the next step; CORRUPT: no such block was ever
	 * saved. */
	enum status (*create)(const struct dynamics *dynamics, const uint8_t *block, uint32_t bytes,
			      void **state, struct reason *why);
	void (*destroy)(void *state);
	/* One tick of dt seconds. LIMIT, NO_MEMORY: nothing changed, method_step abandons the rest. Fills
	 * dynamics->report, and says in step.block_bytes how large its block is from now on. */
	enum status (*step)(void *state, struct dynamics *dynamics, double dt, struct reason *why);
	/* Writes the block, as many bytes as the table method_block has rows. NULL where there is
	 * no create. */
	void (*save)(const void *state, const struct dynamics *dynamics, uint8_t *block);
	/* Rows of bodies that fell asleep in the last step, set by set. NULL: it does not care. */
	void (*slept)(void *state, const struct dynamics *dynamics, const uint32_t *bodies,
		      uint32_t count);
	/* What it can do, for the generated table of methods. */
	uint32_t shapes; /* bit per enum shape_kind */
	bool friction, restitution, sleep, planar, three_d, joints;
	enum broad_phase_kind broad_phase; /* of worlds made with it that do not name one */
};

/* Ask these, not the members: a method that takes whatever there is has none. */
MUST_CHECK enum status method_supports(const struct method *method, const struct dynamics *dynamics,
				       struct reason *why);
MUST_CHECK enum status method_admit(const struct method *method, const struct dynamics *dynamics,
				    const struct command *command,
				    const struct shape *const *spawn_shapes,
				    uint32_t spawn_shape_count, struct reason *why);

/* A method at work: what a world holds. */
struct method_instance {
	const struct method *method;
	void *state; /* owned; NULL until it is needed */
};
/* Makes the state if there is none. Errors as create's. */
MUST_CHECK enum status method_ready(struct method_instance *self, const struct dynamics *dynamics,
				    struct reason *why);
/* One tick; on LIMIT and NO_MEMORY nothing changed. */
MUST_CHECK enum status method_step(struct method_instance *self, struct dynamics *dynamics,
				   double dt, struct reason *why);
/* Brings the table method_block up to date, which has its size already. */
void method_save(const struct method_instance *self, const struct dynamics *dynamics);
/* The present method ends and another begins. */
void method_switch(struct method_instance *self, const struct method *to,
		   struct dynamics *dynamics);
/* Destroys the state; the method stays. */
void method_release(struct method_instance *self);

extern const struct method method_free, method_soft_step, method_lcp, method_projection,
	method_reflection;

/* Another name of a method, from its source; it may choose a parameter's value as well. */
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
/* One more that is found by name and number and never listed; NULL but in tests of the doors. */
extern const struct method *method_unlisted;

#endif
