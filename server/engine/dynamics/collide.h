/* collide.h: what the ways to collide a contact share. Private to collide.c and collide_balls.c. */
#ifndef CAIRN_ENGINE_DYNAMICS_COLLIDE_H
#define CAIRN_ENGINE_DYNAMICS_COLLIDE_H

#include "server/engine/collision/pairs.h"
#include "server/engine/dynamics/step.h"

#include <string.h>

/* Makes or keeps the manifold of one contact of the list, and places its points. */
void collide_contact(const struct step *self, struct contact_state *out, struct contact_made *made,
		     const struct collide_options *options);

/* m: bound of how far points of the body with the smaller reach moved in the other's frame; *angle:
 * rad. */
static inline double collide_moved(double reach_a, double reach_b, const pose *before,
				   const pose *now, double *angle)
{
	quat turn = quat_mul(now->rotation, quat_conjugate(before->rotation));
	*angle = 2 * vec3_length(quat_vector(turn));
	if (reach_b <= reach_a)
		return vec3_distance(now->position, before->position) + *angle * reach_b;
	vec3 a_now = quat_rotate_inverse(now->rotation, now->position);
	vec3 a_before = quat_rotate_inverse(before->rotation, before->position);
	return vec3_distance(a_now, a_before) + *angle * reach_a;
}

/* Whether a manifold without points still says that the pieces are at least `needed` m apart, or that a
 * neighbour has their contact. */
static inline bool collide_still_empty(const struct contact_table *contact, uint32_t row,
				       double moved, double needed)
{
	ASSERT(row < contact->count && contact->point_count[row] == 0);
	ASSERT(moved >= 0 && needed >= 0);
	if (contact->cache_kind[row] == CACHE_NEIGHBOUR && moved > CONTACT_KEEP_NEIGHBOUR)
		return false;
	return moved + needed <= contact->separation[row][0];
}

/* The narrow phase's hints as the step began. */
static inline void collide_hints(const struct tables *tables, const struct contact_state *contact,
				 struct pair_cache *out)
{
	ASSERT(contact->is_new || contact->row < tables->contact.count);
	/* Member by member where it is used: a copy of the whole would wait for the members' stores. */
	out->kind = contact->is_new ? 0 : tables->contact.cache_kind[contact->row];
	out->feature_a = contact->is_new ? 0 : tables->contact.cache_a[contact->row];
	out->feature_b = contact->is_new ? 0 : tables->contact.cache_b[contact->row];
	memset(out->reserved, 0, sizeof out->reserved);
}

/* Copies the row's multipliers, but the first `width` of each point are those of the row's point with the
 * same feature, or 0 if it has none. */
static inline void carry_multipliers(const struct contact_table *table, uint32_t row,
				     const struct manifold *made, uint32_t width, double *to)
{
	ASSERT(width <= 3);
	ASSERT(made->count <= MANIFOLD_POINTS_MAX);
	memcpy(to, table->multiplier[row], sizeof table->multiplier[row]);
	for (uint32_t p = 0; p < MANIFOLD_POINTS_MAX; p++)
		for (uint32_t c = 0; c < width; c++)
			to[3 * p + c] = 0;
	for (uint32_t p = 0; p < made->count; p++)
		for (uint32_t k = 0; k < table->point_count[row]; k++)
			if (table->feature[row][k] == made->points[p].feature)
				memcpy(&to[3 * p], &table->multiplier[row][3 * k],
				       width * sizeof *to);
}

/* The multipliers that the made manifold begins with. */
static inline void collide_begin(const struct tables *tables, const struct contact_state *contact,
				 enum collide_carry carry, struct contact_made *made)
{
	if (contact->is_new || carry == CARRY_NOTHING)
		memset(made->multiplier, 0, sizeof made->multiplier);
	else if (carry == CARRY_NORMALS)
		carry_multipliers(&tables->contact, contact->row, &made->manifold, 1,
				  made->multiplier);
	else
		carry_multipliers(&tables->contact, contact->row, &made->manifold, 3,
				  made->multiplier);
}

#endif
