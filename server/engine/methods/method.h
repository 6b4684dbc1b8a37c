/* method.h: one scene, several answers: the interface of everything that can make a step.
 *
 * World state is neutral (the tables). A method may keep state of its own between steps; it saves that
 * as bytes into the method_block table, from which it can be loaded: nothing else survives. Switching
 * happens at a tick boundary: detach writes neutral velocities and wakes everything; attach is a pure
 * function of neutral state; when `supports` refuses, the old method stays.
 */
#ifndef CAIRN_ENGINE_METHODS_METHOD_H
#define CAIRN_ENGINE_METHODS_METHOD_H

#include "server/engine/dynamics/dynamics.h"
#include "server/engine/world/command.h"

struct method {
	const char *name;     /* what the METHOD command says */
	const char *summary;  /* one line */
	uint16_t number;      /* permanent; world.method */
	uint32_t motion;      /* raised with every change of its bits; 0: experimental (engine.h) */
	/* OK, or METHOD_REFUSES with why ("lcp needs spheres or planar boxes: body 17 is a hull"). */
	enum status (*supports)(const struct dynamics *dynamics, struct reason *why);
	/* The same question for one command about to be applied: its ids are resolved (a body may be one
	 * that an earlier command of the batch will make, not yet in the tables), shapes of a SPAWN
	 * are given in the order of its attachments. */
	enum status (*admit)(const struct dynamics *dynamics, const struct command *command,
			     const struct shape *const *spawn_shapes, uint32_t spawn_shape_count,
			     struct reason *why);
	/* Never fails and never allocates: memory is taken by `step`, which may refuse. Not called after a
	 * restore: what a method left in the tables and in method_block is all there is. */
	void (*attach)(struct dynamics *dynamics);
	void (*detach)(struct dynamics *dynamics);
	/* One tick of dt seconds. LIMIT, NO_MEMORY: nothing changed. Fills dynamics->report. */
	enum status (*step)(struct dynamics *dynamics, double dt, struct reason *why);
	/* What it can do, for the generated table of methods. */
	uint32_t shapes; /* bit per enum shape_kind */
	bool friction, restitution, sleep, planar, three_d;
	enum broad_phase_kind broad_phase; /* of worlds made with it that do not name one */
};

/* Ask these, not the members: a method that takes whatever there is has none. */
MUST_CHECK enum status method_supports(const struct method *method,
				       const struct dynamics *dynamics, struct reason *why);
MUST_CHECK enum status method_admit(const struct method *method, const struct dynamics *dynamics,
				    const struct command *command,
				    const struct shape *const *spawn_shapes,
				    uint32_t spawn_shape_count, struct reason *why);

extern const struct method method_free, method_soft_step, method_lcp;

/* NULL when there is none. */
const struct method *method_find(const char *name);
const struct method *method_by_number(uint16_t number);
const struct method *const *method_list(uint32_t *count);

#endif
