/* mass_operator.h: M⁻¹ of all bodies of a step at one configuration; the only reader of masses.
 *
 * M is the mass matrix of everything that a step moves; solvers need M⁻¹. For free bodies M has
 * blocks of 6×6; for a tree in reduced coordinates one row moves all its links; for points of a
 * framework M is diagonal. A table of functions hides the kind from the solvers:
 *
 *   respond    M⁻¹Jᵀ of a row, for all bodies that it moves                O(1), a tree O(links)
 *   couple     J · response: an entry of J M⁻¹ Jᵀ                          O(1)
 *   apply      v += response λ                                             as respond
 *   speed      J v                                                         O(1); jacobian_speed of row.h
 *   accelerate M⁻¹(f − c), c the gyroscopic and centripetal terms          O(bodies)
 *   multiply   M v; refused where v moves what has infinite mass
 *
 * M⁻¹ may be singular: a motion that is not possible (of an animated body, a fixed rotation, out of
 * a planar world, along a locked axis) has a zero row, does not respond and keeps its velocity.
 * Coordinates span the possible motions; M over them is positive definite, as a projection of
 * velocities needs.
 *
 * Slots are those of the step. A group is a set of slots that respond together, and each slot is in
 * one group: a free body is a group of its own, with the slot as its number.
 */
#ifndef CAIRN_ENGINE_DYNAMICS_MASS_OPERATOR_H
#define CAIRN_ENGINE_DYNAMICS_MASS_OPERATOR_H

#include "server/engine/dynamics/row.h"
#include "server/engine/math/sym3.h"

/* Changes of velocity by a unit of λ, group by group. */
struct mass_response {
	uint32_t count; /* of groups, each different; 0: nothing moves */
	uint32_t group[ROW_PARTS_MAX];
	const struct spatial
		*change[ROW_PARTS_MAX]; /* borrowed from the room given; by place in the group */
};

struct mass_operator;

struct mass_operator_kind {
	/* Upper bound of the spatials that a response to the row needs. */
	uint32_t (*room)(const struct mass_operator *self, struct jacobian j);
	void (*respond)(const struct mass_operator *self, struct jacobian j, struct spatial *room,
			struct mass_response *out);
	double (*couple)(const struct mass_operator *self, struct jacobian j,
			 const struct mass_response *response);
	void (*apply)(const struct mass_operator *self, const struct mass_response *response,
		      double lambda, struct spatial *velocities);
	void (*accelerate)(const struct mass_operator *self, const struct spatial *forces,
			   const struct spatial *velocities, struct spatial *accelerations);
	bool (*multiply)(const struct mass_operator *self, const struct spatial *velocities,
			 struct spatial *momenta);
	uint32_t (*group)(const struct mass_operator *self, uint32_t slot);
	bool (*moves)(const struct mass_operator *self, uint32_t slot);
	uint32_t (*coordinates)(const struct mass_operator *self, uint32_t group);
	struct spatial (*axis)(const struct mass_operator *self, uint32_t slot,
			       uint32_t coordinate);
	double (*entry)(const struct mass_operator *self, uint32_t group, uint32_t i, uint32_t j);
	/* Responses are worth keeping, and that to −J is 0 less that to J, to the last bit. */
	bool mirrors;
};

struct mass_operator {
	const struct mass_operator_kind *kind;
	const void *context; /* borrowed: of the kind */
	uint32_t slots, groups;
};

static inline uint32_t mass_room(const struct mass_operator *self, struct jacobian j)
{
	return self->kind->room(self, j);
}
/* `room` holds mass_room spatials and is borrowed by the response. */
static inline void mass_respond(const struct mass_operator *self, struct jacobian j,
				struct spatial *room, struct mass_response *out)
{
	self->kind->respond(self, j, room, out);
}
static inline double mass_couple(const struct mass_operator *self, struct jacobian j,
				 const struct mass_response *response)
{
	return self->kind->couple(self, j, response);
}
static inline void mass_apply(const struct mass_operator *self,
			      const struct mass_response *response, double lambda,
			      struct spatial *velocities)
{
	self->kind->apply(self, response, lambda, velocities);
}
/* By slot. velocities NULL: c is left out, so this is M⁻¹ f. */
static inline void mass_accelerate(const struct mass_operator *self, const struct spatial *forces,
				   const struct spatial *velocities, struct spatial *accelerations)
{
	self->kind->accelerate(self, forces, velocities, accelerations);
}
/* Momenta by slot. False: some v is along a locked axis, where the mass is infinite; its momentum
 * is left out. */
MUST_CHECK static inline bool mass_multiply(const struct mass_operator *self,
					    const struct spatial *velocities,
					    struct spatial *momenta)
{
	return self->kind->multiply(self, velocities, momenta);
}
static inline uint32_t mass_group(const struct mass_operator *self, uint32_t slot)
{
	return self->kind->group(self, slot);
}
/* True if some force moves the slot. */
static inline bool mass_moves(const struct mass_operator *self, uint32_t slot)
{
	return self->kind->moves(self, slot);
}
/* Degrees of freedom of a group, 0 … 6 for a free body; and the velocity of a slot of the group for
 * a unit of one of them (`coordinate` < mass_coordinates). */
static inline uint32_t mass_coordinates(const struct mass_operator *self, uint32_t group)
{
	return self->kind->coordinates(self, group);
}
static inline struct spatial mass_axis(const struct mass_operator *self, uint32_t slot,
				       uint32_t coordinate)
{
	return self->kind->axis(self, slot, coordinate);
}

/* Entry (i, j) of M over the coordinates of a group, which is positive definite. */
static inline double mass_entry(const struct mass_operator *self, uint32_t group, uint32_t i,
				uint32_t j)
{
	return self->kind->entry(self, group, i, j);
}

/* ---- free bodies --------------------------------------------------------------------------- */

/* Locked degrees of freedom, along and about world axes; the numbers of body.locks. */
enum mass_lock {
	MASS_LOCK_X = 1,
	MASS_LOCK_Y = 2,
	MASS_LOCK_Z = 4,
	MASS_LOCK_ABOUT_X = 8,
	MASS_LOCK_ABOUT_Y = 16,
	MASS_LOCK_ABOUT_Z = 32,
	MASS_LOCK_TURNING = 56,
	MASS_LOCK_PLANAR = MASS_LOCK_Z | MASS_LOCK_ABOUT_X | MASS_LOCK_ABOUT_Y,
};

/* Whether locks (enum mass_lock) let a motion be: false, it is along and about locked axes alone. Sets
 * *mixed if it is so in part. */
bool mass_locks_let(struct spatial motion, uint32_t locks, bool *mixed);

/* World axes. Rows of locked axes are zero; over the others `inertia` and `inertia_inv` are
 * inverses. */
struct mass_body {
	vec3 mass, mass_inv; /* kg and 1/kg, along each axis */
	sym3 inertia, inertia_inv;
	uint32_t locks; /* enum mass_lock; all of them for a body that no force moves */
};

/* From mass and inertia about the centre in body axes, and their inverses as the body table has
 * them: a mass_inv of 0 locks everything, an inertia_inv of 0 all turning. */
struct mass_body mass_body_make(double mass, double mass_inv, sym3 inertia, sym3 inertia_inv,
				quat rotation, uint32_t locks);

/* Slot i is row bodies[i] of the body table, with the rotation of motions[i]. A planar world locks
 * motions out of its plane, a body its own locks (locks.h). */
struct tables;
struct body_motion;
void mass_bodies_from_tables(const struct tables *tables, const uint32_t *bodies, uint32_t count,
			     const struct body_motion *motions, struct mass_body *out);

/* Borrows `bodies` (by slot). */
struct mass_operator mass_operator_free(const struct mass_body *bodies, uint32_t count);

#endif
