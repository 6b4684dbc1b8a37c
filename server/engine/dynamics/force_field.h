/* force_field.h: the force fields of a world: which there are, and what they exert on a body.
 *
 * A field is a pure function of a body's motion and of the tables; types.h defines the kinds. A body is
 * in a field's region with its mass centre, and is acted on there. Source: book, section 3.3.4
 * (constrained force fields), with the sizes and signs that the specification corrects. */
#ifndef CAIRN_ENGINE_DYNAMICS_FORCE_FIELD_H
#define CAIRN_ENGINE_DYNAMICS_FORCE_FIELD_H

#include "server/engine/dynamics/force.h"

/* Room for `fields` further rows. NO_MEMORY. */
MUST_CHECK enum status dynamics_field_reserve(struct dynamics *self, uint32_t fields);
uint32_t dynamics_field_take(struct dynamics *self);
void dynamics_field_free(struct dynamics *self, uint32_t row);
/* DYNAMICS_NONE: no such field. O(FIELDS_MAX). */
uint32_t dynamics_find_field(const struct dynamics *self, field_id id);
/* Wakes the sleeping bodies that the field acts on. O(bodies). */
void dynamics_field_wake(struct dynamics *self, uint32_t row);

/* Adds the force of the field in `row` on a body. With a `span` above 0, a drag takes at most the whole
 * relative motion within that time. */
void force_field_add(const struct force_list *list, uint32_t row, uint32_t body,
		     const struct force_state *state, struct force_sum *sum);
/* The same for a point mass of every category: no torque, and no buoyancy, because it displaces nothing. */
void force_field_at(const struct tables *tables, uint32_t row, const struct force_state *state,
		    double span, struct force_sum *sum);

#endif
