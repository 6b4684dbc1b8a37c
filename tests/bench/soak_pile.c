/* soak_pile: an open box of spheres to rest under `pile`, each step checked: energy does not grow, and no two
 * spheres, and no sphere and wall, overlap anywhere on the way. At the end the forces of contacts balance
 * each sphere. Spheres have a radius of ½ m and a mass of 1 kg; the layout is that of bench_pile.
 *
 *	soak_pile WIDE HIGH [NAME=VALUE…] [FILE SECONDS]
 *
 * WIDE × WIDE × HIGH spheres; the values are of parameters, and `seed` (1) of the layout. With FILE it
 * goes on from there, if there is such a file, and saves the world there after so many seconds, with an
 * exit status of 2; a long run can be done in parts. Else the status says whether all is as above.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "server/base/bytes.h"
#include "server/base/rng.h"
#include "server/engine/math/scalar.h"
#include "server/engine/world/parameters.h"
#include "tests/lib/smooth_worlds.h"

#define RADIUS 0.5
#define GRAVITY 9.81
#define SPACING 1.25
#define JITTER 0.1
#define SEED "seed="
enum { WALLS = 5, TICKS_MAX = 5000, TELLS = 10, TO_BE_CONTINUED = 2 };

struct soak {
	struct world *world;
	uint32_t wide, high, count, seed;
	double half;			/* m: of the box */
	vec3 *at, *before;		/* m, of the spheres */
	uint32_t *cell, *first, *order; /* the cell of each; where each begins in `order` */
	double overlap, wall, growth, energy, longest, total; /* m, m, J, J, ms, ms */
	uint32_t waits, steps;
};

/* ms. */
static double clock_of(clockid_t clock)
{
	struct timespec t;
	clock_gettime(clock, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* ---- the box ----------------------------------------------------------------------------------- */

static void make_box(struct soak *self)
{
	static const double QUARTERS[WALLS][2] = {
		{ 0, 0 }, { -1, 0 }, { 1, 0 }, { 0, 1 }, { 0, -1 }
	};
	struct rng rng = rng_seeded(self->seed);
	self->world = test_world(false, "pile");
	smooth_set(self->world, "sleep.time", 0);
	for (uint32_t i = 0; i < WALLS; i++) {
		quat turn =
			quat_mul(quat_from_axis_angle(vec3_make(0, 0, 1), QUARTERS[i][0] * PI / 2),
				 quat_from_axis_angle(vec3_make(1, 0, 0), QUARTERS[i][1] * PI / 2));
		vec3 normal = quat_rotate(turn, vec3_make(0, 1, 0));
		smooth_put(self->world, TEST_PLANE, vec3_scale(normal, i == 0 ? 0 : -self->half),
			   turn, BODY_STATIC);
	}
	for (uint32_t i = 0; i < self->count; i++) {
		uint32_t n = self->wide;
		vec3 at = vec3_scale(vec3_make(i % n, i / n / n, i / n % n), SPACING);
		double side = -0.5 * (n - 1) * SPACING;
		at = vec3_add(at, vec3_make(side, 0.5 * SPACING, side));
		at.x += rng_range(&rng, -JITTER, JITTER);
		at.y += rng_range(&rng, -JITTER, JITTER);
		at.z += rng_range(&rng, -JITTER, JITTER);
		smooth_put(self->world, TEST_SPHERE, at, quat_identity(), BODY_DYNAMIC);
	}
}

static bool load_box(struct soak *self, const char *path)
{
	FILE *file = fopen(path, "rb");
	if (file == NULL)
		return false;
	fseek(file, 0, SEEK_END);
	size_t size = (size_t)ftell(file);
	rewind(file);
	uint8_t *data = malloc(size);
	struct reason why;
	bool good = data != NULL && fread(data, 1, size, file) == size &&
		    world_load(data, size, test_shape_source(), &self->world, &why) == STATUS_OK;
	fclose(file);
	free(data);
	if (!good)
		fprintf(stderr, "%s is no saved world\n", path);
	return good;
}

static bool save_box(const struct soak *self, const char *path)
{
	struct bytes image = test_save(self->world);
	FILE *file = fopen(path, "wb");
	bool good = file != NULL && fwrite(image.data, 1, image.count, file) == image.count;
	good = file != NULL && fclose(file) == 0 && good;
	bytes_release(&image);
	return good;
}

/* ---- checks ------------------------------------------------------------------------------------ */

static body_id ball_of(uint32_t i)
{
	return WALLS + 1 + i;
}

static void read_places(struct soak *self)
{
	for (uint32_t i = 0; i < self->count; i++)
		self->at[i] = test_body(self->world, ball_of(i)).position;
}

static double energy_of(const struct soak *self)
{
	double energy = 0;
	for (uint32_t i = 0; i < self->count; i++)
		energy += GRAVITY * self->at[i].y;
	return energy;
}

/* m: by how much two spheres overlap at the worst place of a straight way: where their distance turns, or an
 * end. */
static double overlap_on_the_way(const struct soak *self, uint32_t i, uint32_t j)
{
	vec3 from = vec3_sub(self->before[i], self->before[j]);
	vec3 way = vec3_sub(vec3_sub(self->at[i], self->at[j]), from);
	double square = vec3_length_squared(way);
	double part = square > 0 ? scalar_clamp(-vec3_dot(from, way) / square, 0, 1) : 0;
	return 2 * RADIUS - vec3_length(vec3_mul_add(from, way, part));
}

/* Cells that two spheres which can meet on their ways are in, or beside. */
static uint32_t sort_into_cells(struct soak *self, uint32_t sides[3])
{
	double farthest = 0, high = 0, size;
	for (uint32_t i = 0; i < self->count; i++) {
		farthest = scalar_max(farthest, vec3_distance(self->at[i], self->before[i]));
		high = scalar_max(high, self->before[i].y);
	}
	size = 2 * RADIUS + 2 * farthest;
	sides[0] = sides[2] = (uint32_t)(2 * self->half / size) + 1;
	sides[1] = (uint32_t)(high / size) + 1;
	uint32_t cells = sides[0] * sides[1] * sides[2];
	uint32_t *first = realloc(self->first, (cells + 2) * sizeof *first);
	if (first == NULL)
		return 0;
	self->first = first;
	memset(first, 0, (cells + 2) * sizeof *first);
	for (uint32_t i = 0; i < self->count; i++) {
		vec3 at = self->before[i];
		uint32_t x = (uint32_t)((at.x + self->half) / size);
		uint32_t y = (uint32_t)(at.y / size), z = (uint32_t)((at.z + self->half) / size);
		self->cell[i] = (y * sides[2] + z) * sides[0] + x;
		first[self->cell[i] + 2]++;
	}
	for (uint32_t c = 1; c <= cells; c++)
		first[c + 1] += first[c];
	for (uint32_t i = 0; i < self->count; i++)
		self->order[first[self->cell[i] + 1]++] = i;
	return cells;
}

static bool find_overlaps(struct soak *self)
{
	uint32_t sides[3], cells = sort_into_cells(self, sides);
	for (uint32_t c = 0; c < cells; c++) {
		uint32_t x = c % sides[0], z = c / sides[0] % sides[2], y = c / sides[0] / sides[2];
		for (uint32_t k = 0; k < 27; k++) {
			uint32_t u = x + k % 3, v = y + k / 3 % 3, w = z + k / 9;
			if (u < 1 || v < 1 || w < 1 || u > sides[0] || v > sides[1] || w > sides[2])
				continue;
			uint32_t other = ((v - 1) * sides[2] + w - 1) * sides[0] + u - 1;
			for (uint32_t p = self->first[c]; p < self->first[c + 1]; p++)
				for (uint32_t q = self->first[other]; q < self->first[other + 1];
				     q++)
					if (self->order[p] < self->order[q])
						self->overlap = scalar_max(
							self->overlap,
							overlap_on_the_way(self, self->order[p],
									   self->order[q]));
		}
	}
	for (uint32_t i = 0; i < self->count; i++) {
		vec3 at = self->at[i];
		double side = scalar_max(scalar_abs(at.x), scalar_abs(at.z)) - self->half;
		self->wall = scalar_max(self->wall, RADIUS + scalar_max(side, -at.y));
	}
	return cells > 0;
}

static bool step_box(struct soak *self)
{
	vec3 *before = self->before;
	self->before = self->at;
	self->at = before;
	double begin = clock_of(CLOCK_PROCESS_CPUTIME_ID);
	test_step(self->world, 1);
	double took = clock_of(CLOCK_PROCESS_CPUTIME_ID) - begin;
	struct world_stats stats = world_stats(self->world);
	read_places(self);
	double energy = energy_of(self);
	self->growth = scalar_max(self->growth, energy - self->energy);
	self->energy = energy;
	self->longest = scalar_max(self->longest, took);
	self->total += took;
	self->waits += stats.fallbacks;
	self->steps++;
	if (world_info(self->world).tick % TELLS == 0)
		printf("# %llu steps: energy %.6f J, %u awake, residual %.1e, %u rounds or pivots, %.0f ms\n",
		       (unsigned long long)world_info(self->world).tick, energy, stats.awake,
		       stats.residual, stats.iterations, took);
	fflush(stdout);
	return find_overlaps(self);
}

/* 1: the largest force that the contacts leave on a sphere, of its weight. */
static double worst_balance(const struct soak *self)
{
	uint32_t most = 12 * self->count;
	struct contact_view *contacts = malloc(most * sizeof *contacts);
	vec3 *force = malloc(self->count * sizeof *force);
	double worst = 0, dt = 1.0 / world_info(self->world).rate_num;
	if (contacts == NULL || force == NULL)
		exit(1);
	for (uint32_t i = 0; i < self->count; i++)
		force[i] = vec3_make(0, -GRAVITY, 0);
	uint32_t count = test_contacts(self->world, 0, contacts, most);
	for (uint32_t c = 0; c < count; c++) {
		vec3 push = vec3_scale(contacts[c].normal, contacts[c].normal_impulse / dt);
		if (contacts[c].a > WALLS)
			force[contacts[c].a - WALLS - 1] =
				vec3_sub(force[contacts[c].a - WALLS - 1], push);
		if (contacts[c].b > WALLS)
			force[contacts[c].b - WALLS - 1] =
				vec3_add(force[contacts[c].b - WALLS - 1], push);
	}
	for (uint32_t i = 0; i < self->count; i++)
		worst = scalar_max(worst, vec3_length(force[i]) / GRAVITY);
	free(force);
	free(contacts);
	return worst;
}

/* ---- the run ----------------------------------------------------------------------------------- */

static bool allocate(struct soak *self)
{
	self->at = calloc(self->count, sizeof *self->at);
	self->before = calloc(self->count, sizeof *self->before);
	self->cell = calloc(self->count, sizeof *self->cell);
	self->order = calloc(self->count, sizeof *self->order);
	return self->at != NULL && self->before != NULL && self->cell != NULL &&
	       self->order != NULL;
}

static void release(struct soak *self)
{
	world_destroy(self->world);
	free(self->at);
	free(self->before);
	free(self->cell);
	free(self->order);
	free(self->first);
}

static bool tell(const struct soak *self)
{
	bool rest = world_stats(self->world).awake == 0;
	double balance = rest ? worst_balance(self) : 1;
	printf("box of %u x %u x %u = %u spheres: %llu steps%s, here %u, mean %.0f ms, longest %.0f ms; "
	       "energy %.6f J, growth %.1e J, overlap on the way %.1e m, at walls %.1e m, "
	       "%u programmes waited, %u rounds or pivots in the last step, residual %.1e, "
	       "balance %.1e of a weight\n",
	       self->wide, self->wide, self->high, self->count,
	       (unsigned long long)world_info(self->world).tick, rest ? " to rest" : "",
	       self->steps, self->total / MAX_OF(self->steps, 1u), self->longest, self->energy,
	       self->growth, self->overlap, self->wall, self->waits,
	       world_stats(self->world).iterations, world_stats(self->world).residual, balance);
	return self->growth <= 1e-9 * self->count && self->overlap <= 1e-9 && self->wall <= 1e-9 &&
	       (!rest || balance <= 1e-6);
}

static int run(struct soak *self, const char *path, double seconds)
{
	if (!allocate(self))
		return 1;
	read_places(self);
	self->energy = energy_of(self);
	double begin = clock_of(CLOCK_MONOTONIC);
	bool good = true, rest = false;
	while (good && !rest && world_info(self->world).tick < TICKS_MAX &&
	       (path == NULL || clock_of(CLOCK_MONOTONIC) - begin < 1e3 * seconds)) {
		good = step_box(self);
		rest = world_stats(self->world).awake == 0;
	}
	good = tell(self) && good;
	if (good && !rest && path != NULL)
		return save_box(self, path) ? TO_BE_CONTINUED : 1;
	return good && rest ? 0 : 1;
}

int main(int argc, char **argv)
{
	struct soak self = { .wide = argc > 1 ? (uint32_t)atoi(argv[1]) : 13 };
	self.high = argc > 2 ? (uint32_t)atoi(argv[2]) : self.wide;
	self.count = self.wide * self.wide * self.high;
	self.half = 0.5 * self.wide * SPACING;
	int at = 3;
	self.seed = 1;
	for (; at < argc && strchr(argv[at], '=') != NULL; at++)
		if (strncmp(argv[at], SEED, sizeof SEED - 1) == 0)
			self.seed = (uint32_t)atoi(argv[at] + sizeof SEED - 1);
	const char *path = at + 1 < argc ? argv[at] : NULL;
	double seconds = path != NULL ? atof(argv[at + 1]) : 0;
	if (self.count == 0 || (at < argc && path == NULL)) {
		fprintf(stderr, "usage: soak_pile WIDE HIGH [NAME=VALUE...] [FILE SECONDS]\n");
		return 1;
	}
	if (path == NULL || !load_box(&self, path))
		make_box(&self);
	for (int i = 3; i < at; i++) {
		char *value = strchr(argv[i], '=');
		if (strncmp(argv[i], SEED, sizeof SEED - 1) == 0)
			continue;
		*value = '\0';
		smooth_set(self.world, argv[i], atof(value + 1));
	}
	int status = run(&self, path, seconds);
	release(&self);
	return status;
}
