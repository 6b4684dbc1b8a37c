/* contact.h: contact rows, the lists that link them to bodies, and combined materials. Private to
 * dynamics except contact_material and contact_axis, which methods use. */
#ifndef CAIRN_ENGINE_DYNAMICS_CONTACT_H
#define CAIRN_ENGINE_DYNAMICS_CONTACT_H

#include "server/engine/dynamics/dynamics.h"

static inline uint32_t placement_body(const struct tables *tables, uint32_t placement)
{
	VALIDATE(placement < tables->placement.count);
	return tables->placement.body[placement] - 1;
}

/* m: how far behind its surface the point is about which a shape rolls, where its outward normal is
 * `normal` (world): the radius of a round shape, the mean radius of curvature of a curved one
 * (curve.h). */
double placement_rounding(const struct dynamics *self, uint32_t placement, vec3 normal);

static inline uint32_t contact_body_a(const struct tables *tables, uint32_t row)
{
	return placement_body(tables, tables->contact.placement_a[row]);
}
static inline uint32_t contact_body_b(const struct tables *tables, uint32_t row)
{
	return placement_body(tables, tables->contact.placement_b[row]);
}

/* The contact row of an edge (struct contact_edge). */
static inline uint32_t edge_row(uint32_t edge)
{
	return edge / 2;
}
/* The body at the other end. */
static inline uint32_t edge_other(const struct tables *tables, uint32_t edge)
{
	return edge % 2 == 0 ? contact_body_b(tables, edge / 2) : contact_body_a(tables, edge / 2);
}

/* In use, not inactive and not in quarantine: other bodies may touch it. */
bool body_is_solid(const struct tables *tables, uint32_t body);
/* The condition for membership in `awake` (dynamics.h): dynamic and not asleep, or animated and
 * moving. */
bool body_is_awake(const struct tables *tables, uint32_t body);

/* Motion of B in A's frame since a manifold was made: x ↦ turn x + shift. */
struct contact_motion {
	mat3 turn;
	vec3 shift;
};
struct contact_motion contact_motion(const struct tables *tables, uint32_t row, const pose *b_in_a);
/* A manifold's point after that motion, in A's body frame: the points on both surfaces stay with
 * their bodies, the separation is measured anew (collide.c). `point` < the row's point_count. */
struct contact_place {
	vec3 point;	   /* midway between the surfaces */
	double separation; /* m */
};
struct contact_place contact_place(const struct tables *tables, uint32_t row, uint32_t point,
				   const struct contact_motion *motion);

/* Room for `rows` contact rows in all. NO_MEMORY: the tables are unchanged. */
MUST_CHECK enum status dynamics_contact_reserve(struct dynamics *self, uint32_t rows);
/* Takes a free row, which must be reserved, and fills it as new. */
void contact_take(struct dynamics *self, uint32_t row, const struct contact_pair *pair);
/* Links a filled row to its bodies, the index and the sets. */
void contact_link(struct dynamics *self, uint32_t row);
/* Notes the end event if it touched, then unlinks and frees the row. */
void contact_drop(struct dynamics *self, uint32_t row);
/* Adds the row to `live` or removes it, as its bodies are awake or not. */
void contact_refresh_live(struct dynamics *self, uint32_t row);
/* The row of a pair, or DYNAMICS_NONE. */
uint32_t contact_find(const struct dynamics *self, const struct contact_pair *pair);
/* < 0, 0 or > 0: the order of pairs by pieces. */
int contact_compare_pairs(const struct contact_pair *x, const struct contact_pair *y);

/* The pair's friction and restitution from the materials of both pieces. If their rules differ, the
 * one with the lower number applies, so that any explicit choice beats the default. Of rolling and
 * spinning friction the larger applies. If both have a friction axis, that of the body with the lower
 * id applies. */
struct contact_material {
	double static_friction, dynamic_friction, restitution;
	double rolling, spinning; /* m */
	vec3 axis; /* world axes, any length, as the bodies are in the tables; zero: none */
	double axis_static, axis_dynamic; /* along it */
};
struct contact_material contact_material(const struct dynamics *self, struct contact_piece a,
					 struct contact_piece b);

/* The material of one piece, for what touches it and is no body. */
struct piece_surface {
	double static_friction, dynamic_friction, restitution;
	uint8_t restitution_rule; /* enum combine_rule */
};
struct piece_surface piece_surface(const struct dynamics *self, struct contact_piece piece);

/* Two values of a material by a rule (enum combine_rule). */
double contact_combine(uint8_t rule, double a, double b);

/* The friction axis of a pair of pieces. */
struct contact_axis {
	uint32_t body;		 /* its row; DYNAMICS_NONE: neither piece has one */
	vec3 axis;		 /* in that body's axes, any length */
	double resting, sliding; /* along it */
};
struct contact_axis contact_axis(const struct dynamics *self, struct contact_piece a,
				 struct contact_piece b);

#endif
