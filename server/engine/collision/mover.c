/* See placed.h: a walker without state, for queries. walker.h has the parts of its motion. */
#include "server/engine/collision/walker.h"

/* m: ground is looked for so many skins below. */
enum { GROUND_SKINS = 4 };

enum status placed_move(const struct placed_shape *placed, uint32_t count,
			const struct shape *shape, pose from, vec3 way,
			const struct mover_options *options, struct mover_result *out)
{
	struct walker walker;
	struct cast_hit hit;
	uint32_t index;
	walker_init(&walker, placed, NULL, count, shape, from, options, out);
	out->left = way;
	if (shape_is_ground(shape))
		return STATUS_UNSUPPORTED;
	out->stuck = !walker_free(&walker, NULL, 0);
	if (!out->stuck)
		walker_slide(&walker, way, false, false);
	vec3 down = vec3_scale(options->up, -GROUND_SKINS * options->skin);
	out->grounded = walker_cast(&walker, walker.at, down, &hit, &index) &&
			walker_is_ground(&walker, &hit, index);
	if (out->grounded)
		out->ground = hit;
	out->position = walker.at.position;
	ASSERT(out->iterations <= MOVER_ITERATIONS_MAX);
	ASSERT(out->contact_count <= MOVER_CONTACTS_MAX);
	return STATUS_OK;
}
