/* piece.h: what pieces of a body have that the body does not: rows of the table `piece`.
 *
 * A piece is a placement; of a mesh, the triangles of a patch are a piece of it that may have a
 * material and a surface velocity. A patch has what its row has, else what the row of the whole
 * piece has, else what the body has. Worlds without rows pay for one comparison where a piece is
 * asked.
 */
#ifndef CAIRN_ENGINE_DYNAMICS_PIECE_H
#define CAIRN_ENGINE_DYNAMICS_PIECE_H

#include "server/engine/dynamics/contact.h"

/* As the child of a contact_piece: no patch of a mesh. */
#define PIECE_WHOLE UINT32_MAX

/* The row of the table that has this for the piece; DYNAMICS_NONE: its body has it. O(patches). */
uint32_t piece_find(const struct dynamics *self, struct contact_piece piece, enum piece_own what);
static inline uint32_t piece_own(const struct dynamics *self, struct contact_piece piece,
				 enum piece_own what)
{
	return self->piece_used.count == 0 ? DYNAMICS_NONE : piece_find(self, piece, what);
}

/* Whether a placement has no contacts and tells what it overlaps. piece_senses: where pieces may say so. */
bool piece_senses(const struct dynamics *self, uint32_t placement);
static inline bool piece_is_sensor(const struct dynamics *self, uint32_t placement)
{
	const struct tables *tables = self->tables;
	return self->piece_used.count == 0
		       ? (tables->body.flags[placement_body(tables, placement)] & BODY_SENSOR) != 0
		       : piece_senses(self, placement);
}
/* Whether some piece of a body may be a sensor. */
bool piece_any_sensor(const struct dynamics *self, uint32_t body);

/* What a placement collides with. */
struct piece_filter {
	uint32_t category, mask;
	int64_t group;
};
/* piece_own_filter: where pieces may have their own. */
struct piece_filter piece_own_filter(const struct dynamics *self, uint32_t placement);
static inline struct piece_filter piece_filter(const struct dynamics *self, uint32_t placement)
{
	const struct body_table *body = &self->tables->body;
	uint32_t row = placement_body(self->tables, placement);
	return self->piece_used.count == 0
		       ? (struct piece_filter){ body->category[row], body->mask[row],
						body->group[row] }
		       : piece_own_filter(self, placement);
}

/* Whether two pieces of one body have one material and one surface velocity, because they have
 * them from the same place. */
bool piece_alike(const struct dynamics *self, struct contact_piece a, struct contact_piece b);

/* Room for so many more rows. NO_MEMORY: nothing changed. */
MUST_CHECK enum status dynamics_piece_reserve(struct dynamics *self, uint32_t rows);
/* The row of a patch of a placement, 0 the whole, made if there is none (reserved); clear but for
 * body, patch and links. */
uint32_t dynamics_piece_take(struct dynamics *self, uint32_t placement, uint32_t patch);
/* Frees that row, if there is one. */
void dynamics_piece_free(struct dynamics *self, uint32_t placement, uint32_t patch);
/* Frees all rows of a placement. */
void dynamics_pieces_drop(struct dynamics *self, uint32_t placement);
/* The row of a patch of a placement, or DYNAMICS_NONE. */
uint32_t dynamics_piece_row(const struct dynamics *self, uint32_t placement, uint32_t patch);
/* The body's membership in dynamics->sensing, by the rows of its pieces. */
void piece_refresh(struct dynamics *self, uint32_t body);

#endif
