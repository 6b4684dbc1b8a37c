/* body_mass.h: mass properties of a SPAWN: mass, centre and inertia from its shapes (app D-01). */
#ifndef CAIRN_ENGINE_WORLD_BODY_MASS_H
#define CAIRN_ENGINE_WORLD_BODY_MASS_H

#include "server/engine/geometry/shape.h"
#include "server/engine/world/command.h"
#include "server/engine/world/tables.h"

struct body_mass {
	double mass; /* kg; 0 for a body with a plane or a mesh, which never moves */
	vec3 centre; /* m, body axes */
	double inertia
		[6]; /* kg·m² about the centre, body axes: xx yy zz xy yz zx; planar: zz alone */
};

/* Planes and meshes have no inside that could be moved about. */
bool shape_is_static_only(const struct shape *shape);

/* Sums the shapes of a SPAWN, in their order, at its density, or scaled to its mass when that is
 * given. */
struct body_mass body_mass_of(const struct command_SPAWN *spawn, const struct shape *const *shapes,
			      bool planar);

/* Whether a dynamic body may have it: mass within MASS_MIN … MASS_MAX and an inertia that is
 * positive in every direction by more than rounding (no shapes: no inertia, and no turning).
 * RANGE, DEGENERATE. */
MUST_CHECK enum status body_mass_check(const struct body_mass *mass, bool planar,
				       bool fixed_rotation, int64_t index, struct reason *why);

/* The inverse tensor in the same order; zero where there is no inertia. False when it is degenerate. */
MUST_CHECK bool body_inertia_inverse(const double inertia[6], bool planar, double inverse[6]);

/* Sets mass_inv and inertia_inv of a body row from its status, mass, inertia and flags, which a check
 * has found to have inverses. */
void body_inverses_set(struct tables *tables, uint32_t row);

#endif
