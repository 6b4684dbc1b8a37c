/* body_mass.h: mass properties of a SPAWN: mass, centre and inertia from its shapes (app D-01). */
#ifndef CAIRN_ENGINE_WORLD_BODY_MASS_H
#define CAIRN_ENGINE_WORLD_BODY_MASS_H

#include "server/engine/geometry/mass.h"
#include "server/engine/world/command.h"
#include "server/engine/world/tables.h"

struct body_mass {
	double mass; /* kg; 0 for a body with a plane or a mesh, which never moves */
	vec3 centre; /* m, body axes */
	double inertia
		[6]; /* kg·m² about the centre, body axes: xx yy zz xy yz zx; planar: zz alone */
};

/* True for planes and meshes: they have no volume and so no mass, and cannot be dynamic. */
bool shape_is_static_only(const struct shape *shape);

/* Sums the shapes of a SPAWN in their order, at the SPAWN's density, or scaled to its mass if that is
 * given; its mass_rule may give the centre and the inertia. */
struct body_mass body_mass_of(const struct command_SPAWN *spawn, const struct shape *const *shapes,
			      bool planar);

/* The sum over parts with densities (app D-01), in their order. */
struct body_mass body_mass_of_parts(const struct mass_part *parts, uint32_t count, bool planar);

/* OK if a dynamic body may have this mass: it must be within MASS_MIN … MASS_MAX (else RANGE), and the
 * inertia must be positive about every axis by more than rounding (else DEGENERATE). Zero inertia is
 * allowed: it is that of a body without shapes, which never rotates. */
MUST_CHECK enum status body_mass_check(const struct body_mass *mass, bool planar,
				       bool fixed_rotation, int64_t index, struct reason *why);

/* The inverse tensor in the same order; zero for zero inertia. False if the inertia is degenerate. */
MUST_CHECK bool body_inertia_inverse(const double inertia[6], bool planar, double inverse[6]);

/* Sets mass_inv and inertia_inv of a body row from its status, mass, inertia and flags. The inertia of a
 * dynamic body must have an inverse (body_mass_check). */
void body_inverses_set(struct tables *tables, uint32_t row);

#endif
