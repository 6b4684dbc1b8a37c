/* pieces.c: what single shapes of bodies have of their own, as SET_PIECE commands.
 *
 * An entry of `pieces` has a bit of `own` if it gives a key of that kind, itself or through its
 * material. Keys of a kind that it does not give are those of its body. A material's density is
 * left out where a body has no mass, as a body's is.
 */
#include "protocol/scene/compile.h"

/* A key of the piece: its own, its material's, or its body's; and whether one of the first two. */
#define CHOOSE(key)                                                                                \
	do {                                                                                       \
		if (KEY_GIVEN(piece, PIECE, key))                                                  \
			set->key = CONVERT(piece->key);                                            \
		else if (KEY_GIVEN(material, MATERIAL, key))                                       \
			set->key = CONVERT(material->key);                                         \
		else                                                                               \
			set->key = CONVERT(body->key);                                             \
		grips |= KEY_GIVEN(piece, PIECE, key) || KEY_GIVEN(material, MATERIAL, key);       \
	} while (0)

/* Returns whether the piece has a material of its own. */
static bool choose_material(const struct piece_keys *piece, const struct material_keys *material,
			    const struct body_keys *body, struct command_SET_PIECE *set)
{
	bool grips = false;
#define CONVERT(value) (value)
	CHOOSE(static_friction);
	CHOOSE(dynamic_friction);
	CHOOSE(restitution);
	CHOOSE(rolling_friction);
	CHOOSE(spinning_friction);
	CHOOSE(friction_axis);
	CHOOSE(axis_friction);
#undef CONVERT
#define CONVERT(value) ((uint8_t)(value))
	CHOOSE(friction_rule);
	CHOOSE(restitution_rule);
#undef CONVERT
	return grips;
}

/* Returns whether the piece has a filter of its own. */
static bool choose_filter(const struct piece_keys *piece, const struct body_keys *body,
			  struct command_SET_PIECE *set)
{
	bool category = KEY_GIVEN(piece, PIECE, category), mask = KEY_GIVEN(piece, PIECE, mask),
	     group = KEY_GIVEN(piece, PIECE, group);
	if (!category && !mask && !group)
		return false;
	set->category = category ? piece->category : body->category;
	set->mask = mask ? piece->mask : body->mask;
	set->group = group ? piece->group : body->group;
	return true;
}

/* Whether one of the last `shapes` attachments, the body's, has no volume. */
static bool has_surface(const struct compile *self, uint32_t shapes)
{
	for (uint32_t i = self->attachments.count - shapes; i < self->attachments.count; i++) {
		uint32_t shape = (uint32_t)(-self->attachments.items[i].shape - 1);
		enum canonical_kind kind = compile_shape_kind(self, shape);
		if (canonical_is_ground(kind))
			return true;
	}
	return false;
}

static enum status choose_density(struct compile *self, const struct yaml_node *node,
				  const struct piece_keys *piece,
				  const struct material_keys *material,
				  const struct body_keys *body, uint32_t shapes,
				  struct command_SET_PIECE *set)
{
	bool own = KEY_GIVEN(piece, PIECE, density);
	if (!own && (!KEY_GIVEN(material, MATERIAL, density) || has_surface(self, shapes)))
		return STATUS_OK;
	if (body->mass > 0 || KEY_GIVEN(body, BODY, centre) || KEY_GIVEN(body, BODY, inertia))
		return source_fail(&self->source, node->line, STATUS_EXISTS, "density",
				   "the body has a mass, centre or inertia, and this piece a "
				   "density, which would replace them; give one of them");
	set->density = own ? piece->density : material->density;
	set->own |= OWN_DENSITY;
	return STATUS_OK;
}

static enum status check_place(struct compile *self, const struct yaml_node *node,
			       const struct command_SET_PIECE *set, uint32_t shapes, uint32_t first)
{
	if (set->piece >= shapes)
		return source_fail(&self->source, node->line, STATUS_RANGE, "piece",
				   "piece is %u; the body has %u shapes, numbered from 0",
				   (unsigned)set->piece, (unsigned)shapes);
	for (uint32_t i = first; i < self->piece_sets.count; i++)
		if (self->piece_sets.items[i].piece == set->piece &&
		    self->piece_sets.items[i].patch == set->patch)
			return source_fail(
				&self->source, node->line, STATUS_EXISTS, "piece",
				"piece %u, patch %u is in the list twice; give it one entry",
				(unsigned)set->piece, (unsigned)set->patch);
	if (set->dynamic_friction > set->static_friction)
		return source_fail(&self->source, node->line, STATUS_RANGE, "dynamic_friction",
				   "dynamic_friction %g is above static_friction %g; lower it",
				   set->dynamic_friction, set->static_friction);
	if (set->own == 0)
		return source_fail(
			&self->source, node->line, STATUS_MISSING, "piece",
			"piece %u has nothing of its own; give it a key, such as friction",
			(unsigned)set->piece);
	return STATUS_OK;
}

static enum status compile_one(struct compile *self, const struct yaml_node *node,
			       const struct body_keys *body, uint32_t shapes, uint32_t first)
{
	struct piece_keys piece;
	struct material_keys material = { 0 };
	const struct yaml_node *colour;
	struct command command;
	enum status status = schema_read(&self->source, node, SCHEMA_PIECE, &piece);
	if (status == STATUS_OK && piece.material != NULL)
		status = compile_material(self, node_find(node, "material"), &material, &colour);
	if (status != STATUS_OK)
		return status;
	SPREAD_FRICTION(&piece, PIECE);
	command_defaults(&command, COMMAND_SET_PIECE);
	struct command_SET_PIECE plain = command.set_piece, set = plain;
	if (choose_material(&piece, &material, body, &set))
		set.own |= OWN_MATERIAL;
	else
		set = plain;
	set.piece = piece.piece;
	set.patch = piece.patch;
	if (choose_filter(&piece, body, &set))
		set.own |= OWN_FILTER;
	if (KEY_GIVEN(&piece, PIECE, sensor)) {
		set.sensor = piece.sensor;
		set.own |= OWN_SENSOR;
	}
	if (KEY_GIVEN(&piece, PIECE, surface_velocity)) {
		set.surface_velocity = piece.surface_velocity;
		set.own |= OWN_SURFACE;
	}
	status = choose_density(self, node, &piece, &material, body, shapes, &set);
	if (status == STATUS_OK)
		status = check_place(self, node, &set, shapes, first);
	if (status != STATUS_OK)
		return status;
	if (ARRAY_RESERVE(&self->piece_sets, (uint64_t)self->piece_sets.count + 1) != STATUS_OK)
		return source_no_memory(&self->source);
	self->piece_sets.items[self->piece_sets.count++] = set;
	return STATUS_OK;
}

enum status compile_pieces(struct compile *self, const struct body_keys *body, uint32_t shapes,
			   struct piece_range *out)
{
	uint32_t first = self->piece_sets.count;
	enum status status = STATUS_OK;
	for (const struct yaml_node *at = body->pieces != NULL ? body->pieces->first : NULL;
	     at != NULL && status == STATUS_OK; at = at->next)
		status = compile_one(self, at, body, shapes, first);
	*out = (struct piece_range){ first, self->piece_sets.count - first };
	return status;
}

enum status compile_pieces_of(struct compile *self, struct piece_range pieces, uint32_t line,
			      uint64_t count)
{
	self->piece_commands += count * pieces.count;
	if (self->piece_commands > SCENE_ATTACHMENTS_MAX)
		return source_fail(&self->source, line, STATUS_LIMIT, "pieces",
				   "the bodies have more than %d pieces with something of their "
				   "own, the limit of a file",
				   SCENE_ATTACHMENTS_MAX);
	if (ARRAY_RESERVE(&self->pieced, (uint64_t)self->pieced.count + 1) != STATUS_OK)
		return source_no_memory(&self->source);
	self->pieced.items[self->pieced.count++] =
		(struct pieced_bodies){ pieces, self->commands.count, (uint32_t)count, line };
	return STATUS_OK;
}

/* The pieces of the body that command `spawn` makes. A density moves its mass centre, whose
 * velocity is then set again to the one that the body has in the file. */
static enum status set_pieces(struct compile *self, const struct pieced_bodies *bodies,
			      uint32_t spawn)
{
	bool moves_centre = false;
	for (uint32_t i = 0; i < bodies->pieces.count; i++) {
		struct command *command = compile_command(self, COMMAND_SET_PIECE, bodies->line);
		if (command == NULL)
			return source_no_memory(&self->source);
		command->set_piece = self->piece_sets.items[bodies->pieces.first + i];
		command->set_piece.body = -(int64_t)spawn - 1;
		moves_centre |= (command->set_piece.own & OWN_DENSITY) != 0;
	}
	const struct command_SPAWN *made = &self->commands.items[spawn].spawn;
	vec3 velocity = made->velocity, spin = made->angular_velocity;
	if (!moves_centre || vec3_equal(spin, vec3_zero()))
		return STATUS_OK;
	struct command *command = compile_command(self, COMMAND_SET_VELOCITY, bodies->line);
	if (command == NULL)
		return source_no_memory(&self->source);
	command->set_velocity.body = -(int64_t)spawn - 1;
	command->set_velocity.velocity = velocity;
	command->set_velocity.angular_velocity = spin;
	return STATUS_OK;
}

enum status compile_all_pieces(struct compile *self)
{
	enum status status = STATUS_OK;
	for (uint32_t i = 0; i < self->pieced.count; i++) {
		const struct pieced_bodies bodies = self->pieced.items[i];
		for (uint32_t k = 0; k < bodies.count && status == STATUS_OK; k++)
			status = set_pieces(self, &bodies, bodies.first + k);
	}
	return status;
}
