/* See bench.h. */
#include "tests/bench/bench.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { FALLING_STEPS = 120 };

#define REACH 1.75 /* m: bodies whose middles are farther apart do not meet; boxes: sqrt(3) */

typedef struct bench_vec vec;

static vec make(double x, double y, double z)
{
	return (vec){ x, y, z };
}

static vec sub(vec a, vec b)
{
	return make(a.x - b.x, a.y - b.y, a.z - b.z);
}

static double dot(vec a, vec b)
{
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

static double length(vec a)
{
	return sqrt(dot(a, a));
}

static vec cross(vec a, vec b)
{
	return make(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static vec turn(struct bench_quat q, vec a)
{
	vec u = make(q.x, q.y, q.z), t = cross(u, a), c;
	t = make(2 * t.x, 2 * t.y, 2 * t.z);
	c = cross(u, t);
	return make(a.x + q.w * t.x + c.x, a.y + q.w * t.y + c.y, a.z + q.w * t.z + c.z);
}

double bench_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec * 1e-6;
}

/* ---- scenes ----------------------------------------------------------------------------------- */

static void usage(const char *program)
{
	fprintf(stderr,
		"usage: %s scene[:n] [-s steps] [-t threads] [-v variant] [-sleep]\n"
		"  scene: pyramid spheres grid tower\n",
		program);
	exit(2);
}

static const struct {
	const char *name;
	int size; /* default size */
} KINDS[] = {
	[BENCH_PYRAMID] = { "pyramid", 20 },
	[BENCH_SPHERES] = { "spheres", 10 },
	[BENCH_GRID] = { "grid", 10 },
	[BENCH_TOWER] = { "tower", 100 },
};

static void read_scene(struct bench *self, const char *text, const char *program)
{
	char name[32];
	snprintf(name, sizeof name, "%s", text);
	char *colon = strchr(name, ':');
	if (colon != NULL)
		*colon++ = '\0';
	for (int kind = BENCH_PYRAMID; kind <= BENCH_TOWER; kind++) {
		if (strcmp(name, KINDS[kind].name) != 0)
			continue;
		self->kind = (enum bench_kind)kind;
		self->size = colon != NULL ? atoi(colon) : KINDS[kind].size;
		if (self->size < 1)
			usage(program);
		snprintf(self->name, sizeof self->name, "%s:%d", name, self->size);
		return;
	}
	usage(program);
}

static void read_options(struct bench *self, int argc, char **argv)
{
	if (argc < 2)
		usage(argv[0]);
	read_scene(self, argv[1], argv[0]);
	for (int i = 2; i < argc; i++) {
		if (strcmp(argv[i], "-sleep") == 0)
			self->sleep = 1;
		else if (i + 1 == argc)
			usage(argv[0]);
		else if (strcmp(argv[i], "-s") == 0)
			self->steps = atoi(argv[++i]);
		else if (strcmp(argv[i], "-t") == 0)
			self->threads = atoi(argv[++i]);
		else if (strcmp(argv[i], "-v") == 0)
			self->variant = argv[++i];
		else
			usage(argv[0]);
	}
	if (self->steps < 1 || self->threads < 1)
		usage(argv[0]);
}

static int count_bodies(const struct bench *self)
{
	int n = self->size;
	switch (self->kind) {
	case BENCH_PYRAMID:
		return n * (n + 1) / 2;
	case BENCH_TOWER:
		return 8;
	default:
		return n * n * n;
	}
}

static double jitter(uint32_t *state)
{
	*state = *state * 1664525u + 1013904223u;
	return ((*state >> 8) / 16777216.0 - 0.5) * 0.1;
}

static void place_lattice(struct bench *self)
{
	double middle = 0.5 * (self->size - 1);
	uint32_t state = 12345;
	int k = 0;
	for (int y = 0; y < self->size; y++)
		for (int x = 0; x < self->size; x++)
			for (int z = 0; z < self->size; z++, k++) {
				if (self->kind == BENCH_GRID) {
					self->start[k] = make(1.1 * (x - middle), 1.0 + 1.1 * y,
							      1.1 * (z - middle));
					continue;
				}
				double a = jitter(&state), b = jitter(&state), c = jitter(&state);
				self->start[k] = make(x - middle + a, 1.0 + y + b, z - middle + c);
			}
}

static void place(struct bench *self)
{
	int k = 0, n = self->size;
	if (self->kind == BENCH_PYRAMID) {
		for (int i = 0; i < n; i++)
			for (int j = i; j < n; j++)
				self->start[k++] =
					make(0.5 * i + (j - i) - 0.5 * (n - 1), 0.5 + i, 0);
	} else if (self->kind == BENCH_TOWER) {
		for (k = 0; k < self->count; k++)
			self->start[k] = make(0, 0.5 + k, 0);
	} else {
		place_lattice(self);
	}
	for (k = 0; k < self->count; k++) {
		int heavy = self->kind == BENCH_TOWER && k == self->count - 1;
		self->mass[k] = heavy ? self->size : 1;
		self->position[k] = self->start[k];
		self->rotation[k].w = 1;
	}
}

static void *zeroed(int count, size_t bytes)
{
	void *memory = calloc((size_t)count, bytes);
	if (memory == NULL)
		abort();
	return memory;
}

void bench_init(struct bench *self, const char *engine, const char *variant, int argc, char **argv)
{
	memset(self, 0, sizeof *self);
	self->engine = engine;
	self->variant = variant;
	self->steps = 600;
	self->threads = 1;
	read_options(self, argc, argv);
	self->count = count_bodies(self);
	self->mass = zeroed(self->count, sizeof *self->mass);
	self->start = zeroed(self->count, sizeof *self->start);
	self->position = zeroed(self->count, sizeof *self->position);
	self->velocity = zeroed(self->count, sizeof *self->velocity);
	self->spin = zeroed(self->count, sizeof *self->spin);
	self->rotation = zeroed(self->count, sizeof *self->rotation);
	self->ms = zeroed(self->steps, sizeof *self->ms);
	place(self);
}

void bench_release(struct bench *self)
{
	free(self->mass);
	free(self->start);
	free(self->position);
	free(self->velocity);
	free(self->spin);
	free(self->rotation);
	free(self->ms);
}

/* ---- penetration ------------------------------------------------------------------------------ */

/* Half the width of a box along a unit axis. */
static double reach(const vec sides[3], vec axis)
{
	return BENCH_HALF *
	       (fabs(dot(axis, sides[0])) + fabs(dot(axis, sides[1])) + fabs(dot(axis, sides[2])));
}

static void sides_of(const struct bench *self, int body, vec sides[3])
{
	sides[0] = turn(self->rotation[body], make(1, 0, 0));
	sides[1] = turn(self->rotation[body], make(0, 1, 0));
	sides[2] = turn(self->rotation[body], make(0, 0, 1));
}

/* Least overlap of two boxes over the 15 axes that can separate them; 0 if they are apart. */
static double boxes_overlap(const struct bench *self, int one, int two)
{
	vec a[3], b[3], between = sub(self->position[two], self->position[one]);
	double least = HUGE_VAL;
	sides_of(self, one, a);
	sides_of(self, two, b);
	for (int i = 0; i < 15; i++) {
		vec axis = i < 3 ? a[i] : i < 6 ? b[i - 3] : cross(a[(i - 6) / 3], b[(i - 6) % 3]);
		double size = length(axis);
		if (size < 1e-3)
			continue;
		axis = make(axis.x / size, axis.y / size, axis.z / size);
		double overlap = reach(a, axis) + reach(b, axis) - fabs(dot(axis, between));
		if (overlap <= 0)
			return 0;
		least = fmin(least, overlap);
	}
	return least;
}

static double ground_overlap(const struct bench *self, int body)
{
	vec at = self->position[body], sides[3];
	if (self->kind == BENCH_SPHERES) {
		double inner = BENCH_CONTAINER - BENCH_RADIUS;
		double wall = fmax(fabs(at.x), fabs(at.z)) - inner;
		return fmax(BENCH_RADIUS - at.y, wall);
	}
	sides_of(self, body, sides);
	return reach(sides, make(0, 1, 0)) - at.y;
}

static double pair_overlap(const struct bench *self, int one, int two)
{
	vec between = sub(self->position[two], self->position[one]);
	if (self->kind == BENCH_SPHERES)
		return 2 * BENCH_RADIUS - length(between);
	return dot(between, between) > 3.0001 ? 0 : boxes_overlap(self, one, two);
}

struct along_x {
	double x;
	int body;
};

static int by_place(const void *a, const void *b)
{
	const struct along_x *one = a, *two = b;
	return one->x != two->x ? (one->x > two->x) - (one->x < two->x) : one->body - two->body;
}

/* Pairs whose middles are nearer along x than two bodies reach, in the order of x. */
static void penetration(const struct bench *self, double *worst, double *mean)
{
	struct along_x *sorted = zeroed(self->count, sizeof *sorted);
	double sum = 0;
	long found = 0;
	*worst = 0;
	for (int i = 0; i < self->count; i++)
		sorted[i] = (struct along_x){ self->position[i].x, i };
	qsort(sorted, (size_t)self->count, sizeof *sorted, by_place);
	for (int i = 0; i < self->count; i++)
		for (int j = i; j < self->count && sorted[j].x - sorted[i].x < REACH; j++) {
			int one = sorted[i].body, two = sorted[j].body;
			double depth =
				i == j ? ground_overlap(self, one) : pair_overlap(self, one, two);
			if (depth <= 0)
				continue;
			sum += depth;
			found++;
			*worst = fmax(*worst, depth);
		}
	*mean = found > 0 ? sum / (double)found : 0;
	free(sorted);
}

void bench_sample(struct bench *self, int step)
{
	double worst, mean;
	if (step % 60 != 59)
		return;
	penetration(self, &worst, &mean);
	self->penetration_run = fmax(self->penetration_run, worst);
}

/* ---- report ----------------------------------------------------------------------------------- */

static double kinetic(const struct bench *self)
{
	double energy = 0;
	double inertia = self->kind == BENCH_SPHERES ? 0.4 * BENCH_RADIUS * BENCH_RADIUS
						     : 2.0 / 3 * BENCH_HALF * BENCH_HALF;
	for (int i = 0; i < self->count; i++)
		energy += 0.5 * self->mass[i] *
			  (dot(self->velocity[i], self->velocity[i]) +
			   inertia * dot(self->spin[i], self->spin[i]));
	return energy;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

struct times {
	double median, p99, most;
};

static struct times times_of(const double *ms, int count)
{
	double *sorted = zeroed(count > 0 ? count : 1, sizeof *sorted);
	memcpy(sorted, ms, (size_t)count * sizeof *sorted);
	qsort(sorted, (size_t)count, sizeof *sorted, by_size);
	struct times times = { 0, 0, 0 };
	if (count > 0)
		times = (struct times){ sorted[count / 2], sorted[(int)(count * 0.99)],
					sorted[count - 1] };
	free(sorted);
	return times;
}

static uint64_t hash_poses(const struct bench *self)
{
	uint64_t hash = 1469598103934665603u;
	for (int i = 0; i < self->count; i++) {
		vec p = self->position[i];
		struct bench_quat q = self->rotation[i];
		double values[7] = { p.x, p.y, p.z, q.x, q.y, q.z, q.w };
		unsigned char bytes[sizeof values];
		memcpy(bytes, values, sizeof values);
		for (size_t k = 0; k < sizeof bytes; k++)
			hash = (hash ^ bytes[k]) * 1099511628211u;
	}
	return hash;
}

void bench_report(struct bench *self)
{
	int falling = self->steps < FALLING_STEPS ? self->steps : FALLING_STEPS;
	struct times all = times_of(self->ms, self->steps);
	struct times early = times_of(self->ms, falling);
	struct times late = times_of(self->ms + falling, self->steps - falling);
	double worst, mean, drift = 0, speed = 0;
	int bad = 0;
	penetration(self, &worst, &mean);
	for (int i = 0; i < self->count; i++) {
		vec moved = sub(self->position[i], self->start[i]);
		drift = fmax(drift, sqrt(moved.x * moved.x + moved.z * moved.z));
		speed = fmax(speed, length(self->velocity[i]));
		bad += !(moved.y == moved.y);
	}
	printf("%-8s %-9s %-10s t=%d ms med %7.3f p99 %7.3f max %7.3f falling %7.3f settled %7.3f | "
	       "pen end %.2e mean %.2e run %.2e drift %.2e ke/body %.1e vmax %.1e bad %d "
	       "hash %016llx\n",
	       self->engine, self->variant, self->name, self->threads, all.median, all.p99,
	       all.most, early.median, late.median, worst, mean, self->penetration_run, drift,
	       kinetic(self) / self->count, speed, bad, (unsigned long long)hash_poses(self));
}
