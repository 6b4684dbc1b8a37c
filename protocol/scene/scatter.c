/* scatter.c: random places at least a distance apart, by dart throwing.
 *
 * Body after body, a place in the box is drawn until it is far enough from those before it. The places so
 * far lie in cells of a lattice whose pitch is that distance, so only the 27 cells around a new place can
 * have one that is too near; the cells are chains in a table by the hash of their numbers. A body that
 * finds no room in TRIES draws is refused, because a scene that needs luck is one that nobody can
 * change. The random numbers are drawn in the order of bodies, x, y, z, then the turn.
 */
#include "protocol/scene/compile.h"

#include "server/base/rng.h"
#include "server/engine/math/trig.h"

enum { TRIES = 256 };
/* Words of `turn`, in the manifest's order. */
enum scatter_turn { TURN_NONE, TURN_UPRIGHT, TURN_ANY };

struct lattice {
	double pitch;	 /* m; 0: nothing is too near */
	uint32_t *heads; /* by hash: index + 1 of a place */
	uint32_t *nexts; /* by place: index + 1 of the next one */
	uint32_t mask;
	const pose *places;
};

static uint32_t cell_hash(const struct lattice *self, int64_t x, int64_t y, int64_t z)
{
	uint64_t mixed = rng_mix((uint64_t)x);
	mixed = rng_mix(mixed ^ (uint64_t)y);
	return (uint32_t)(rng_mix(mixed ^ (uint64_t)z) & self->mask);
}

/* The cell along one axis. Coordinates are at most LENGTH_MAX, pitches at least SCENE_LENGTH_MIN. */
static int64_t cell_of(const struct lattice *self, double x)
{
	return (int64_t)scalar_floor(x / self->pitch);
}

static bool is_free_in(const struct lattice *self, uint32_t hash, vec3 at)
{
	for (uint32_t i = self->heads[hash]; i != 0; i = self->nexts[i - 1]) {
		vec3 apart = vec3_sub(self->places[i - 1].position, at);
		if (vec3_dot(apart, apart) < self->pitch * self->pitch)
			return false;
	}
	return true;
}

static bool is_free(const struct lattice *self, vec3 at)
{
	if (self->pitch == 0)
		return true;
	int64_t x = cell_of(self, at.x), y = cell_of(self, at.y), z = cell_of(self, at.z);
	for (int64_t i = x - 1; i <= x + 1; i++)
		for (int64_t k = y - 1; k <= y + 1; k++)
			for (int64_t l = z - 1; l <= z + 1; l++)
				if (!is_free_in(self, cell_hash(self, i, k, l), at))
					return false;
	return true;
}

static void take_place(struct lattice *self, uint32_t index, vec3 at)
{
	if (self->pitch == 0)
		return;
	uint32_t hash =
		cell_hash(self, cell_of(self, at.x), cell_of(self, at.y), cell_of(self, at.z));
	self->nexts[index] = self->heads[hash];
	self->heads[hash] = index + 1;
}

/* Shoemake: uniform among all orientations. */
static quat draw_turn(struct rng *rng, uint32_t turn, bool planar)
{
	if (turn == TURN_NONE)
		return quat_identity();
	double u = rng_double(rng);
	if (turn == TURN_UPRIGHT)
		return quat_from_axis_angle(vec3_axis(planar ? 2 : 1), 2 * PI * u);
	double sine, cosine, other_sine, other_cosine;
	double v = rng_double(rng), w = rng_double(rng);
	double near = scalar_sqrt(1 - u), far = scalar_sqrt(u);
	trig_sincos(2 * PI * v, &sine, &cosine);
	trig_sincos(2 * PI * w, &other_sine, &other_cosine);
	return quat_normalize(
		quat_make(near * sine, near * cosine, far * other_sine, far * other_cosine));
}

static enum status fill_places(const struct source *source, uint32_t line,
			       const struct scatter_keys *keys, uint64_t seed, bool planar,
			       struct lattice *lattice, pose *places)
{
	struct rng rng = rng_seeded(seed);
	vec3 half = vec3_scale(keys->size, 0.5);
	for (uint32_t i = 0; i < keys->count; i++) {
		vec3 at = vec3_zero();
		uint32_t tries = 0;
		do {
			at.x = rng_range(&rng, -half.x, half.x);
			at.y = rng_range(&rng, 0, keys->size.y);
			at.z = rng_range(&rng, -half.z, half.z);
		} while (++tries < TRIES && !is_free(lattice, at));
		if (tries == TRIES)
			return source_fail(
				source, line, STATUS_LIMIT, "apart",
				"body %u of %u finds no room %g m apart from the others; "
				"make size larger, or count or apart smaller",
				(unsigned)i, (unsigned)keys->count, keys->apart);
		places[i].position = at;
		take_place(lattice, i, at);
		places[i].rotation = draw_turn(&rng, keys->turn, planar);
	}
	return STATUS_OK;
}

enum status scatter_make(const struct source *source, uint32_t line,
			 const struct scatter_keys *keys, uint64_t seed, bool planar, pose **out)
{
	if (keys->apart > 0 && keys->apart < SCENE_LENGTH_MIN)
		return source_fail(source, line, STATUS_RANGE, "apart",
				   "apart %g m is neither 0 nor at least %g m", keys->apart,
				   SCENE_LENGTH_MIN);
	uint32_t buckets = 8;
	while (buckets < keys->count)
		buckets *= 2;
	pose *places = heap_alloc_zero(keys->count * sizeof *places);
	struct lattice lattice = { .pitch = keys->apart,
				   .heads = heap_alloc_zero(buckets * sizeof *lattice.heads),
				   .nexts = heap_alloc_zero(keys->count * sizeof *lattice.nexts),
				   .mask = buckets - 1,
				   .places = places };
	enum status status =
		places == NULL || lattice.heads == NULL || lattice.nexts == NULL
			? source_no_memory(source)
			: fill_places(source, line, keys, seed, planar, &lattice, places);
	heap_free(lattice.heads);
	heap_free(lattice.nexts);
	if (status == STATUS_OK)
		*out = places;
	else
		heap_free(places);
	return status;
}
