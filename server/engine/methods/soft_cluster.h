/* soft_cluster.h: the manifolds that soft-step solves: contacts as they are, and clusters of contacts.
 *
 * Two bodies of one piece each have one contact, which is solved as it is: its number is its index in
 * the step's list. Two bodies of several pieces (a mesh, a solid of parts, a body of many shapes) may
 * have thousands; those with nearly equal normals become one or two manifolds, numbered from the list's
 * length on. soft_cluster.c describes how.
 *
 * A cluster's point is a point of one of its contacts. It starts with the impulses stored in that
 * contact's row, and its new impulses are stored there. So nothing but columns outlives a step.
 */
#ifndef CAIRN_ENGINE_METHODS_SOFT_CLUSTER_H
#define CAIRN_ENGINE_METHODS_SOFT_CLUSTER_H

#include "server/engine/dynamics/step.h"

/* Destination of a solved manifold's impulses, in the layouts of the contact table's columns. */
struct soft_impulses {
	double *normal, *friction, *multiplier;
};

struct soft_cluster {
	struct contact_state state; /* bodies and pieces of the first contact, normal, points */
	uint32_t contact[MANIFOLD_POINTS_MAX]; /* by point: the contact it belongs to */
	uint8_t point[MANIFOLD_POINTS_MAX];    /* by point: its index in that contact */
	uint32_t friction_contact;	       /* contact whose row stores its friction */
	double normal_impulse[MANIFOLD_POINTS_MAX], friction_impulse[3];
	double multiplier[3 *
			  MANIFOLD_POINTS_MAX]; /* warm start; after the step the new multipliers */
};

/* All arrays are in the step's scratch. */
struct soft_clusters {
	uint32_t plain; /* contacts in the step's list; manifold `plain + i` is items[order[i]] */
	uint32_t count;
	uint32_t *order;
	struct soft_cluster *items;
	uint8_t *clustered; /* by contact: 1 if it is part of a cluster; NULL while there is none */
};

/* The most scratch bytes that the clusters of this many contacts need. */
uint64_t soft_clusters_need(uint64_t contacts);
/* Makes the clusters of the step's contacts; after step_number. `dt`: s, the step. Memory is reserved by
 * step_begin. */
void soft_clusters_make(struct soft_clusters *self, const struct step *step, double dt);
/* Stores the clusters' impulses in the rows of their contacts; after those of all manifolds are known. */
void soft_clusters_store(const struct soft_clusters *self, const struct step *step);

/* Number of manifolds; those below `plain` that are clustered are not solved. */
static inline uint32_t soft_manifolds(const struct soft_clusters *self)
{
	return self->plain + self->count;
}
static inline bool soft_is_clustered(const struct soft_clusters *self, uint32_t i)
{
	return self->clustered != NULL && i < self->plain && self->clustered[i];
}
static inline struct soft_cluster *soft_cluster_of(const struct soft_clusters *self, uint32_t i)
{
	VALIDATE(i >= self->plain && i - self->plain < self->count);
	return &self->items[self->order[i - self->plain]];
}
static inline const struct contact_state *soft_manifold(const struct soft_clusters *self,
							const struct step *step, uint32_t i)
{
	VALIDATE(i < soft_manifolds(self));
	return i < self->plain ? &step->contacts.items[i] : &soft_cluster_of(self, i)->state;
}
/* Its warm start, in the layout of contact.multiplier. */
static inline const double *soft_multipliers(const struct soft_clusters *self,
					     const struct step *step, uint32_t i)
{
	VALIDATE(i < soft_manifolds(self));
	return i < self->plain ? step_multipliers(step, &step->contacts, i)
			       : soft_cluster_of(self, i)->multiplier;
}
static inline struct soft_impulses soft_impulses_of(const struct soft_clusters *self,
						    const struct step *step, uint32_t i)
{
	VALIDATE(i < soft_manifolds(self));
	if (i >= self->plain) {
		struct soft_cluster *to = soft_cluster_of(self, i);
		return (struct soft_impulses){ to->normal_impulse, to->friction_impulse,
					       to->multiplier };
	}
	struct contact_table *table = &step->dynamics->tables->contact;
	uint32_t row = step->contacts.items[i].row;
	return (struct soft_impulses){ table->normal_impulse[row], table->friction_impulse[row],
				       table->multiplier[row] };
}

#endif
