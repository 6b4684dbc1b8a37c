/* gen_lcp.c: random and geometric complementarity problems. */
#include "tests/lib/gen_lcp.h"

#include <string.h>

#include "server/base/heap.h"

const char *gen_family_name(enum gen_family family)
{
	static const char *const names[] = { "definite", "redundant", "integer", "boxed",
					     "free",	 "empty",     "ratio",	 "inconsistent" };
	_Static_assert(COUNT_OF(names) == GEN_FAMILIES, "a name for each");
	return names[family];
}

void gen_lcp_init(struct gen_lcp *self, uint32_t capacity)
{
	*self = (struct gen_lcp){ .capacity = capacity };
	self->a = heap_alloc_zero(((size_t)capacity * capacity + 1) * sizeof(double));
	self->b = heap_alloc_zero(3 * ((size_t)capacity + 1) * sizeof(double));
	ASSERT(self->a != NULL && self->b != NULL);
	self->lower = self->b + capacity + 1;
	self->upper = self->lower + capacity + 1;
}

void gen_lcp_release(struct gen_lcp *self)
{
	heap_free(self->a);
	heap_free(self->b);
}

static double number(struct rng *rng, bool integer)
{
	if (integer)
		return (double)rng_below(rng, 5) - 2;
	double sum = 0;
	for (uint32_t i = 0; i < 4; i++)
		sum += rng_range(rng, -1, 1);
	return sum;
}

/* A = G diag(mass) Gᵀ, with G's rows sometimes repeated; b = G u if consistent. */
static void gram(struct gen_lcp *self, struct rng *rng, enum gen_family family, uint32_t n,
		 uint32_t rank)
{
	double g[64][64], mass[64], u[64];
	ASSERT(n <= 64 && rank <= 64);
	bool integer = family == GEN_INTEGER;
	for (uint32_t k = 0; k < rank; k++) {
		mass[k] = family == GEN_RATIO && rng_below(rng, 2) == 0 ? 1e-8 : 1;
		u[k] = number(rng, integer);
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t twin = rng_below(rng, n + 1);
		for (uint32_t k = 0; k < rank; k++)
			g[i][k] = number(rng, integer);
		if (family != GEN_DEFINITE && twin < i)
			memcpy(g[i], g[twin], sizeof g[i]);
	}
	for (uint32_t i = 0; i < n; i++) {
		double b = 0;
		for (uint32_t k = 0; k < rank; k++)
			b += g[i][k] * u[k];
		self->b[i] = b;
		for (uint32_t j = 0; j <= i; j++) {
			double sum = 0;
			for (uint32_t k = 0; k < rank; k++)
				sum += g[i][k] * mass[k] * g[j][k];
			self->a[(size_t)i * self->capacity + j] = sum;
			self->a[(size_t)j * self->capacity + i] = sum;
		}
	}
}

static void bound(struct gen_lcp *self, struct rng *rng, enum gen_family family, uint32_t i)
{
	uint32_t kind = rng_below(rng, 5);
	double span = rng_double(rng);
	self->lower[i] = 0;
	self->upper[i] = __builtin_inf();
	if (family == GEN_FREE && kind < 2)
		self->lower[i] = -__builtin_inf();
	if (family != GEN_BOXED)
		return;
	double low[] = { 0, -span, -__builtin_inf(), -span, 0.3 };
	double high[] = { span, span, 0, __builtin_inf(), 0.3 + span * (span > 0.2) };
	self->lower[i] = low[kind];
	self->upper[i] = high[kind];
}

void gen_lcp_random(struct gen_lcp *self, enum gen_family family, struct rng *rng,
		    uint32_t rows_max)
{
	uint32_t n = 1 + rng_below(rng, MIN_OF(rows_max, self->capacity));
	uint32_t rank = family == GEN_DEFINITE ? n : 1 + rng_below(rng, n);
	if (family == GEN_EMPTY) {
		n = rng_below(rng, 3);
		rank = 0;
	}
	gram(self, rng, family, n, rank);
	for (uint32_t i = 0; i < n; i++) {
		bound(self, rng, family, i);
		if (family == GEN_DEFINITE)
			self->a[(size_t)i * self->capacity + i] += 0.1;
		if (family == GEN_DEFINITE || family == GEN_INCONSISTENT)
			self->b[i] = number(rng, false);
	}
	self->problem = (struct lcp_problem){ .count = n,
					      .stride = self->capacity,
					      .a = self->a,
					      .b = self->b,
					      .lower = self->lower,
					      .upper = self->upper };
}

void gen_lcp_dense(struct gen_lcp *self, struct rng *rng, uint32_t rank)
{
	uint32_t n = self->capacity;
	double *g = heap_alloc(((size_t)n + 1) * rank * sizeof *g), *u = g + (size_t)n * rank;
	ASSERT(g != NULL);
	for (uint32_t k = 0; k < (n + 1) * rank; k++)
		g[k] = number(rng, false);
	for (uint32_t i = 0; i < n; i++) {
		self->b[i] = 0;
		for (uint32_t k = 0; k < rank; k++)
			self->b[i] += g[i * rank + k] * u[k];
		for (uint32_t j = 0; j <= i; j++) {
			double sum = 0;
			for (uint32_t k = 0; k < rank; k++)
				sum += g[i * rank + k] * g[j * rank + k];
			self->a[i * n + j] = self->a[j * n + i] = sum;
		}
	}
	heap_free(g);
	self->problem = (struct lcp_problem){ n, n, self->a, self->b, NULL, NULL };
}

/* ---- boxes -------------------------------------------------------------------------------------
 */

struct gen_scene gen_scene_make(uint32_t bodies, uint32_t contacts)
{
	struct gen_scene self = { .bodies = bodies };
	self.mass_inv = heap_alloc_zero(bodies * sizeof *self.mass_inv);
	self.velocity = heap_alloc_zero(bodies * sizeof *self.velocity);
	self.contact = heap_alloc_zero(contacts * sizeof *self.contact);
	ASSERT(self.mass_inv != NULL && self.velocity != NULL && self.contact != NULL);
	return self;
}

void gen_scene_release(struct gen_scene *self)
{
	heap_free(self->mass_inv);
	heap_free(self->velocity);
	heap_free(self->contact);
}

static void set_mass(struct gen_scene *self, uint32_t body, double mass)
{
	for (uint32_t i = 0; i < 6; i++)
		self->mass_inv[body][i] = (i < 3 ? 1 : 6) / mass;
}

void gen_scene_touch(struct gen_scene *self, const double point[3], const double axes[3][3],
		     int32_t first, const double *centre_first, int32_t second,
		     const double *centre_second)
{
	struct gen_contact *contact = &self->contact[self->contacts++];
	const double *centre[2] = { centre_first, centre_second };
	*contact = (struct gen_contact){ .body = { first, second } };
	for (uint32_t d = 0; d < 3; d++)
		for (uint32_t s = 0; s < 2; s++) {
			double *row = contact->row[d][s], sign = s == 0 ? 1 : -1, r[3];
			if (contact->body[s] == GEN_GROUND)
				continue;
			const double *n = axes[d];
			for (uint32_t i = 0; i < 3; i++) {
				r[i] = point[i] - centre[s][i];
				row[i] = sign * n[i];
			}
			row[3] = sign * (r[1] * n[2] - r[2] * n[1]);
			row[4] = sign * (r[2] * n[0] - r[0] * n[2]);
			row[5] = sign * (r[0] * n[1] - r[1] * n[0]);
		}
}

/* A contact at `point` with normal y, between boxes centred at `centre`. */
static void add_contact(struct gen_scene *self, const double point[3], int32_t above,
			const double *centre_above, int32_t below, const double *centre_below)
{
	static const double axes[3][3] = { { 0, 1, 0 }, { 1, 0, 0 }, { 0, 0, 1 } };
	gen_scene_touch(self, point, axes, above, centre_above, below, centre_below);
}

/* The four corners of the overlap of two unit boxes, one above the other. */
static void add_face(struct gen_scene *self, int32_t above, const double *ca, int32_t below,
		     const double *cb)
{
	double left = ca[0] - 0.5, right = ca[0] + 0.5;
	if (below != GEN_GROUND) {
		left = MAX_OF(left, cb[0] - 0.5);
		right = MIN_OF(right, cb[0] + 0.5);
	}
	for (uint32_t c = 0; c < 4; c++) {
		double point[3] = { c & 1 ? right : left, ca[1] - 0.5, c & 2 ? 0.5 : -0.5 };
		add_contact(self, point, above, ca, below, cb);
	}
}

struct gen_scene gen_tower(uint32_t k, double ratio)
{
	struct gen_scene self = gen_scene_make(k, 4 * k);
	for (uint32_t i = 0; i < k; i++) {
		double here[3] = { 0, 0.5 + i, 0 }, under[3] = { 0, i - 0.5, 0 };
		set_mass(&self, i, i + 1 == k ? ratio : 1);
		add_face(&self, (int32_t)i, here, (int32_t)i - 1, under);
	}
	return self;
}

struct gen_scene gen_wall(uint32_t k)
{
	struct gen_scene self = gen_scene_make(k * (k + 1) / 2, 4 * k + 4 * k * (k - 1));
	uint32_t first = 0;
	for (uint32_t row = 0; row < k; row++) {
		uint32_t below = first - (k - row + 1);
		for (uint32_t i = 0; i < k - row; i++) {
			double here[3] = { i + 0.5 * row, 0.5 + row, 0 };
			set_mass(&self, first + i, 1);
			if (row == 0)
				add_face(&self, (int32_t)i, here, GEN_GROUND, NULL);
			for (uint32_t s = 0; row > 0 && s < 2; s++) {
				double under[3] = { here[0] - 0.5 + s, here[1] - 1, 0 };
				add_face(&self, (int32_t)(first + i), here,
					 (int32_t)(below + i + s), under);
			}
		}
		first += k - row;
	}
	return self;
}

void gen_scene_fall(struct gen_scene *self, struct rng *rng, double noise)
{
	for (uint32_t i = 0; i < self->bodies; i++)
		for (uint32_t k = 0; k < 6; k++) {
			double random = noise > 0 ? rng_range(rng, -noise, noise) : 0;
			self->velocity[i][k] = random - (k == 1 ? 9.81 / 60 : 0);
		}
}

static uint32_t picked(const uint32_t *order, uint32_t i)
{
	return order != NULL ? order[i] : i;
}

static double product(const struct gen_scene *self, const struct gen_contact *p, uint32_t d,
		      const struct gen_contact *q, uint32_t e)
{
	double sum = 0;
	for (uint32_t s = 0; s < 2; s++)
		for (uint32_t t = 0; t < 2; t++) {
			if (p->body[s] != q->body[t] || p->body[s] == GEN_GROUND)
				continue;
			const double *mass_inv = self->mass_inv[p->body[s]];
			for (uint32_t k = 0; k < 6; k++)
				sum += p->row[d][s][k] * mass_inv[k] * q->row[e][t][k];
		}
	return sum;
}

void gen_scene_lcp(const struct gen_scene *self, uint32_t directions, const uint32_t *order,
		   struct gen_lcp *out)
{
	uint32_t n = self->contacts * directions;
	ASSERT(n <= out->capacity);
	for (uint32_t i = 0; i < n; i++) {
		const struct gen_contact *p = &self->contact[picked(order, i / directions)];
		out->lower[i] = 0;
		out->upper[i] = __builtin_inf();
		double b = 0;
		for (uint32_t s = 0; s < 2; s++)
			for (uint32_t k = 0; k < 6 && p->body[s] != GEN_GROUND; k++)
				b += p->row[i % directions][s][k] * self->velocity[p->body[s]][k];
		out->b[i] = b;
		for (uint32_t j = 0; j < n; j++)
			out->a[(size_t)i * out->capacity + j] = product(
				self, p, i % directions,
				&self->contact[picked(order, j / directions)], j % directions);
	}
	out->problem = (struct lcp_problem){
		.count = n, .stride = out->capacity, .a = out->a, .b = out->b
	};
}

void gen_scene_velocities(const struct gen_scene *self, uint32_t directions, const uint32_t *order,
			  const double *x, double (*out)[6])
{
	memcpy(out, self->velocity, self->bodies * sizeof *out);
	for (uint32_t i = 0; i < self->contacts * directions; i++) {
		const struct gen_contact *p = &self->contact[picked(order, i / directions)];
		for (uint32_t s = 0; s < 2; s++)
			for (uint32_t k = 0; k < 6 && p->body[s] != GEN_GROUND; k++)
				out[p->body[s]][k] += self->mass_inv[p->body[s]][k] *
						      p->row[i % directions][s][k] * x[i];
	}
}
