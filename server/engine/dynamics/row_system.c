/* row_system.c: assembly by lists of rows.
 *
 * An incidence is a pair of a row and a group that responds to it. Sorted by group, incidences form
 * the lists; the sort is stable and rows ascend, so each list ascends. The neighbours of a row are
 * the merge of the lists of its groups, at most ROW_PARTS_MAX, which gives columns in order without
 * a search. Each entry is computed once, from J of the lower row and the response of the upper one,
 * and written twice.
 */
#include "server/engine/dynamics/row_system.h"

#include "server/base/sort.h"
#include "server/engine/solvers/solver.h"

static void carve_system(struct row_system *self, struct solver_memory *memory,
			 struct row_system_sizes sizes)
{
	*self = (struct row_system){ .sizes = sizes };
	self->responses = SOLVER_CARVE(memory, struct mass_response, sizes.rows);
	self->room = SOLVER_CARVE(memory, struct spatial, sizes.room);
	self->group = SOLVER_CARVE(memory, uint64_t, sizes.parts);
	self->scratch_group = SOLVER_CARVE(memory, uint64_t, sizes.parts);
	self->row = SOLVER_CARVE(memory, uint32_t, sizes.parts);
	self->scratch_row = SOLVER_CARVE(memory, uint32_t, sizes.parts);
	self->list = solver_carve(memory, sizes.rows, sizeof *self->list);
	self->list_end = SOLVER_CARVE(memory, uint32_t, sizes.parts);
	self->groups = SOLVER_CARVE(memory, uint32_t, sizes.parts);
	self->first = SOLVER_CARVE(memory, uint32_t, (size_t)sizes.parts + 1);
}

size_t row_system_bytes(struct row_system_sizes sizes)
{
	struct solver_memory memory = { NULL, 0 };
	struct row_system self;
	carve_system(&self, &memory, sizes);
	return memory.used;
}

void row_system_init(struct row_system *self, void *bytes, struct row_system_sizes sizes)
{
	struct solver_memory memory = { bytes, 0 };
	carve_system(self, &memory, sizes);
}

struct row_system_sizes row_system_sizes(const struct mass_operator *mass,
					 const struct constraint_row *rows, uint32_t count)
{
	struct row_system_sizes sizes = { count, 0, 0 };
	for (uint32_t i = 0; i < count; i++) {
		sizes.parts += rows[i].j.count;
		sizes.room += mass_room(mass, rows[i].j);
	}
	return sizes;
}

/* ---- responses ----------------------------------------------------------------------------- */

/* 1 or −1 if J of `b` is that of `a` times it; else 0. */
static int common_sign(struct jacobian a, struct jacobian b)
{
	bool equal = a.count == b.count, opposite = equal;
	for (uint32_t k = 0; k < a.count && (equal || opposite); k++) {
		const struct spatial *one = &a.parts[k].on, *other = &b.parts[k].on;
		struct spatial negative = spatial_negate(*other);
		bool same = a.parts[k].slot == b.parts[k].slot;
		equal = equal && same && vec3_equal(one->linear, other->linear) &&
			vec3_equal(one->angular, other->angular);
		opposite = opposite && same && vec3_equal(one->linear, negative.linear) &&
			   vec3_equal(one->angular, negative.angular);
	}
	return equal ? 1 : opposite ? -1 : 0;
}

/* The response to −J, given that to J: no 0 of either is negative. */
static void oppose(const struct mass_response *to, uint32_t room, struct spatial *out,
		   struct mass_response *response)
{
	ASSERT(to->count > 0 || room == 0);
	*response = *to;
	for (uint32_t g = 0; g < to->count; g++)
		response->change[g] = out + (to->change[g] - to->change[0]);
	for (uint32_t i = 0; i < room; i++)
		out[i] = spatial_mul_add(spatial_zero(), to->change[0][i], -1);
}

/* The response of row i, in `room` if it is not the one before's: limits, spring and motor of an axis
 * have one J, or its negative. Returns how much of the room it takes. */
static uint32_t respond_row(struct row_system *self, uint32_t i, struct spatial *room)
{
	const struct mass_operator *mass = self->mass;
	struct jacobian j = self->rows[i].j;
	uint32_t needed = mass_room(mass, j);
	ASSERT(room + needed <= self->room + self->sizes.room);
	int sign = i > 0 && mass->kind->mirrors ? common_sign(j, self->rows[i - 1].j) : 0;
	if (sign == 1) {
		self->responses[i] = self->responses[i - 1];
		return 0;
	}
	if (sign == -1)
		oppose(&self->responses[i - 1], needed, room, &self->responses[i]);
	else
		mass_respond(mass, j, room, &self->responses[i]);
	return needed;
}

/* ---- lists --------------------------------------------------------------------------------- */

void row_system_make(struct row_system *self, const struct mass_operator *mass,
		     const struct constraint_row *rows, uint32_t count)
{
	ASSERT(count <= self->sizes.rows);
	self->mass = mass;
	self->rows = rows;
	self->count = count;
	/* Responses, and an incidence for each group that responds. */
	struct spatial *room = self->room;
	uint32_t incidences = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct mass_response *response = &self->responses[i];
		room += respond_row(self, i, room);
		ASSERT(incidences + response->count <= self->sizes.parts);
		for (uint32_t g = 0; g < response->count; g++) {
			self->group[incidences] = response->group[g];
			self->row[incidences++] = i;
		}
	}
	self->incidences = incidences;
	sort_keys(self->group, self->row, self->scratch_group, self->scratch_row, incidences);
	/* The lists of each row by group, then UINT32_MAX; the groups and their coordinates. */
	uint32_t begin = 0;
	self->group_count = 0;
	self->coordinates = 0;
	for (uint32_t i = 0; i < count; i++)
		for (uint32_t k = 0; k < ROW_PARTS_MAX; k++)
			self->list[i][k] = UINT32_MAX;
	for (uint32_t at = 0; at < incidences; at++) {
		if (at == 0 || self->group[at] != self->group[at - 1]) {
			begin = at;
			self->groups[self->group_count] = (uint32_t)self->group[at];
			self->first[self->group_count++] = self->coordinates;
			self->coordinates += mass_coordinates(mass, (uint32_t)self->group[at]);
		}
		self->list_end[begin] = at + 1;
		uint32_t *lists = self->list[self->row[at]], k = 0;
		while (lists[k] != UINT32_MAX)
			k++;
		lists[k] = begin;
	}
	ASSERT(self->group_count <= self->sizes.parts);
	self->first[self->group_count] = self->coordinates;
}

void row_system_speeds(const struct row_system *self, const struct spatial *velocities, double *u)
{
	for (uint32_t i = 0; i < self->count; i++)
		u[i] = jacobian_speed(self->rows[i].j, velocities);
}

void row_system_apply(const struct row_system *self, const double *lambda,
		      struct spatial *velocities)
{
	for (uint32_t i = 0; i < self->count; i++)
		if (lambda[i] != 0)
			mass_apply(self->mass, &self->responses[i], lambda[i], velocities);
}

/* ---- A ------------------------------------------------------------------------------------- */

/* Iterator over the neighbours of a row, ascending, the row itself included. */
struct neighbours {
	const struct row_system *system;
	uint32_t at[ROW_PARTS_MAX], end[ROW_PARTS_MAX], lists;
	uint32_t own; /* the row, visited once, even if no group responds to it */
	bool own_done;
};

static struct neighbours first_neighbour(const struct row_system *system, uint32_t row)
{
	ASSERT(row < system->count);
	struct neighbours walk = { .system = system, .own = row };
	for (uint32_t k = 0; k < ROW_PARTS_MAX && system->list[row][k] != UINT32_MAX; k++) {
		walk.at[k] = system->list[row][k];
		walk.end[k] = system->list_end[walk.at[k]];
		walk.lists++;
	}
	return walk;
}

/* The next neighbour, or UINT32_MAX. */
static uint32_t next_neighbour(struct neighbours *walk)
{
	uint32_t least = walk->own_done ? UINT32_MAX : walk->own;
	for (uint32_t k = 0; k < walk->lists; k++)
		if (walk->at[k] < walk->end[k])
			least = MIN_OF(least, walk->system->row[walk->at[k]]);
	for (uint32_t k = 0; k < walk->lists; k++)
		if (walk->at[k] < walk->end[k] && walk->system->row[walk->at[k]] == least)
			walk->at[k]++;
	walk->own_done |= least == walk->own;
	return least;
}

/* Entry (i, j) of A = J M⁻¹ Jᵀ, i ≤ j. */
static double coupling_entry(const struct row_system *self, uint32_t i, uint32_t j)
{
	VALIDATE(i <= j && j < self->count);
	return mass_couple(self->mass, self->rows[i].j, &self->responses[j]);
}

void row_system_dense(const struct row_system *self, double *a, uint32_t stride)
{
	ASSERT(stride >= self->count);
	for (uint32_t i = 0; i < self->count; i++)
		for (uint32_t j = 0; j < self->count; j++)
			a[(size_t)i * stride + j] = 0;
	for (uint32_t j = 0; j < self->count; j++) {
		struct neighbours walk = first_neighbour(self, j);
		for (uint32_t i = next_neighbour(&walk); i <= j; i = next_neighbour(&walk))
			a[(size_t)i * stride + j] = a[(size_t)j * stride + i] =
				coupling_entry(self, i, j);
	}
}

/* ---- coordinates --------------------------------------------------------------------------- */

/* Index of a group in `groups`, which must contain it. */
static uint32_t find_group(const struct row_system *self, uint32_t group)
{
	uint32_t low = 0, high = self->group_count;
	while (low + 1 < high) {
		uint32_t middle = low + (high - low) / 2;
		if (self->groups[middle] <= group)
			low = middle;
		else
			high = middle;
	}
	ASSERT(self->groups[low] == group);
	return low;
}

uint32_t row_system_jacobian(const struct row_system *self, uint32_t *start, uint32_t *column,
			     double *value)
{
	uint32_t entries = 0;
	for (uint32_t i = 0; i < self->count; i++) {
		start[i] = entries;
		for (uint32_t k = 0; k < ROW_PARTS_MAX && self->list[i][k] != UINT32_MAX; k++) {
			uint32_t group = (uint32_t)self->group[self->list[i][k]];
			uint32_t place = find_group(self, group);
			uint32_t n = self->first[place + 1] - self->first[place];
			for (uint32_t c = 0; c < n && column != NULL; c++) {
				struct jacobian j = self->rows[i].j;
				double sum = 0;
				for (uint32_t p = 0; p < j.count; p++)
					if (mass_group(self->mass, j.parts[p].slot) == group)
						sum += spatial_dot(
							j.parts[p].on,
							mass_axis(self->mass, j.parts[p].slot, c));
				column[entries + c] = self->first[place] + c;
				value[entries + c] = sum;
			}
			ASSERT(n <= self->coordinates);
			entries += n;
		}
	}
	start[self->count] = entries;
	return entries;
}

void row_system_mass(const struct row_system *self, double *m)
{
	VALIDATE(self->group_count <= self->coordinates);
	size_t n = self->coordinates;
	for (size_t i = 0; i < n * n; i++)
		m[i] = 0;
	for (uint32_t g = 0; g < self->group_count; g++) {
		uint32_t first = self->first[g], size = self->first[g + 1] - first;
		for (uint32_t i = 0; i < size; i++)
			for (uint32_t j = 0; j < size; j++)
				m[(first + i) * n + first + j] =
					mass_entry(self->mass, self->groups[g], i, j);
	}
}
