/* See piece.h. The rows of a placement are a list with ascending patches. */
#include "server/engine/dynamics/piece.h"

#include "server/engine/dynamics/body.h"
#include "server/engine/dynamics/contact.h"
#include "server/engine/geometry/mesh.h"

/* The patch of a mesh's triangle; 0 for other pieces and the whole. */
static uint32_t patch_of(const struct dynamics *self, struct contact_piece piece)
{
	const struct shape *shape = placement_shape(self, piece.placement);
	if (piece.child == PIECE_WHOLE || !shape_is_surface(shape))
		return 0;
	ASSERT(piece.child < shape->mesh->triangle_count);
	return mesh_patch(shape->mesh, piece.child);
}

uint32_t piece_find(const struct dynamics *self, struct contact_piece piece, enum piece_own what)
{
	const struct piece_table *table = &self->tables->piece;
	uint32_t at = self->tables->placement.first_piece[piece.placement], found = DYNAMICS_NONE;
	if (at == 0)
		return found;
	uint32_t patch = patch_of(self, piece);
	for (; at != 0 && table->patch[at - 1] <= patch; at = table->next[at - 1])
		if ((table->own[at - 1] & what) != 0 &&
		    (table->patch[at - 1] == 0 || table->patch[at - 1] == patch))
			found = at - 1;
	ASSERT(found == DYNAMICS_NONE || found < table->count);
	return found;
}

static struct contact_piece whole(uint32_t placement)
{
	return (struct contact_piece){ placement, PIECE_WHOLE };
}

bool piece_senses(const struct dynamics *self, uint32_t placement)
{
	const struct tables *tables = self->tables;
	uint32_t own = piece_own(self, whole(placement), OWN_SENSOR);
	if (own != DYNAMICS_NONE)
		return tables->piece.sensor[own] != 0;
	return (tables->body.flags[placement_body(tables, placement)] & BODY_SENSOR) != 0;
}

bool piece_any_sensor(const struct dynamics *self, uint32_t body)
{
	ASSERT(body < self->tables->body.count);
	return (self->tables->body.flags[body] & BODY_SENSOR) != 0 ||
	       (self->sensing.count > 0 && bitset_get(&self->sensing, body));
}

struct piece_filter piece_own_filter(const struct dynamics *self, uint32_t placement)
{
	const struct body_table *body = &self->tables->body;
	const struct piece_table *piece = &self->tables->piece;
	uint32_t own = piece_own(self, whole(placement), OWN_FILTER);
	if (own != DYNAMICS_NONE)
		return (struct piece_filter){ piece->category[own], piece->mask[own],
					      piece->group[own] };
	uint32_t row = placement_body(self->tables, placement);
	return (struct piece_filter){ body->category[row], body->mask[row], body->group[row] };
}

bool piece_alike(const struct dynamics *self, struct contact_piece a, struct contact_piece b)
{
	ASSERT(placement_body(self->tables, a.placement) ==
	       placement_body(self->tables, b.placement));
	return piece_own(self, a, OWN_MATERIAL) == piece_own(self, b, OWN_MATERIAL) &&
	       piece_own(self, a, OWN_SURFACE) == piece_own(self, b, OWN_SURFACE);
}

/* ---- rows ---------------------------------------------------------------------------------- */

enum status dynamics_piece_reserve(struct dynamics *self, uint32_t rows)
{
	enum status status =
		tables_reserve(self->tables, TABLE_PIECE, self->tables->piece.count + rows);
	if (status == STATUS_OK)
		status = bitset_reserve(&self->piece_used, self->tables->piece.capacity);
	return status;
}

/* The link to the row of the patch, or to the first with a higher one. */
static uint32_t *find_link(struct dynamics *self, uint32_t placement, uint32_t patch)
{
	ASSERT(placement < self->tables->placement.count);
	struct piece_table *table = &self->tables->piece;
	uint32_t *link = &self->tables->placement.first_piece[placement];
	while (*link != 0 && table->patch[*link - 1] < patch)
		link = &table->next[*link - 1];
	return link;
}

uint32_t dynamics_piece_row(const struct dynamics *self, uint32_t placement, uint32_t patch)
{
	const struct piece_table *table = &self->tables->piece;
	uint32_t at = self->tables->placement.first_piece[placement];
	while (at != 0 && table->patch[at - 1] < patch)
		at = table->next[at - 1];
	return at != 0 && table->patch[at - 1] == patch ? at - 1 : DYNAMICS_NONE;
}

uint32_t dynamics_piece_take(struct dynamics *self, uint32_t placement, uint32_t patch)
{
	struct tables *tables = self->tables;
	uint32_t row = dynamics_piece_row(self, placement, patch);
	ASSERT(patch < PATCHES_END);
	if (row == DYNAMICS_NONE) {
		row = tables_take_row(tables, TABLE_PIECE, &self->piece_used);
		uint32_t *link = find_link(self, placement, patch);
		tables->piece.next[row] = *link;
		*link = row + 1;
	}
	uint32_t next = tables->piece.next[row];
	tables_clear_row(tables, TABLE_PIECE, row);
	tables->piece.body[row] = tables->placement.body[placement];
	tables->piece.next[row] = next;
	tables->piece.patch[row] = (uint8_t)patch;
	return row;
}

void dynamics_piece_free(struct dynamics *self, uint32_t placement, uint32_t patch)
{
	uint32_t row = dynamics_piece_row(self, placement, patch);
	if (row == DYNAMICS_NONE)
		return;
	uint32_t *link = find_link(self, placement, patch);
	ASSERT(*link == row + 1);
	*link = self->tables->piece.next[row];
	tables_free_row(self->tables, TABLE_PIECE, row, &self->piece_used, NULL);
}

void dynamics_pieces_drop(struct dynamics *self, uint32_t placement)
{
	uint32_t *first = &self->tables->placement.first_piece[placement];
	while (*first != 0) {
		uint32_t row = *first - 1;
		ASSERT(self->tables->piece.body[row] == self->tables->placement.body[placement]);
		*first = self->tables->piece.next[row];
		tables_free_row(self->tables, TABLE_PIECE, row, &self->piece_used, NULL);
	}
}

void piece_refresh(struct dynamics *self, uint32_t body)
{
	const struct tables *tables = self->tables;
	bool is = false;
	ASSERT(body < tables->body.count);
	if (self->piece_used.count == 0 && self->sensing.count == 0)
		return;
	for (uint32_t p = tables->body.first_placement[body]; p != 0;
	     p = tables->placement.next[p - 1]) {
		uint32_t own = piece_own(self, whole(p - 1), OWN_SENSOR);
		is |= own != DYNAMICS_NONE && tables->piece.sensor[own] != 0;
	}
	if (is)
		bitset_set(&self->sensing, body);
	else
		bitset_clear(&self->sensing, body);
}
