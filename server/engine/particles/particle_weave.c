/* See particle_weave.h. */
#include "server/engine/particles/particle_weave.h"

#include "server/base/heap.h"
#include "server/engine/particles/particle_kernels.h"

#include <string.h>

/* Shorter runs are gathered. */
enum { RUN_MIN = 4, SLOT_CLASSES = 4 };
/* Columns of nodes: three of each of x, v, before, field, then mass_inv, decay, coast. */
enum { NODE_COLUMNS = 15, LINK_COLUMNS = 6 };
/* From a column to the next one, numbers: they do not begin at the same place of a page, where
 * they would displace each other from the cache. */
enum { COLUMN_ALIGN = 512, COLUMN_SHIFT = 72 };

struct weave_ends {
	uint32_t node[LINK_ENDS]; /* within the system */
	uint32_t ends;
};

/* What bonds depend on, of a particle. */
struct weave_key {
	uint64_t serial;
	double mass_inv;
};

/* Of one system. */
struct particle_weave {
	ARRAY_OF(struct weave_key) keys;  /* by node */
	ARRAY_OF(struct weave_ends) ends; /* by bond, for which the order was made */
	ARRAY_OF(struct weave_run) runs;
	ARRAY_OF(uint32_t) order;  /* bonds, by place */
	ARRAY_OF(uint32_t) a, b;   /* slots, by place */
	ARRAY_OF(uint32_t) levels; /* by bond */
	ARRAY_OF(uint32_t) sorted; /* bonds, twice */
	ARRAY_OF(uint32_t) heads;  /* by slot, level or node */
	ARRAY_OF(double) numbers;  /* columns by place, then by slot */
	uint32_t nodes, slots, level_count;
	/* Where the bonds were, and of what they were made. */
	uint64_t lists, edition;
	uint32_t first_bond, first_node;
	double h;
	struct link_traits traits;
	struct weave_nodes at;
	struct weave_links links;
	double *rest, *softness, *gamma, *least, *pull, *stretch;
	const struct particle_kernels *kernels;
};

/* ---- memory -------------------------------------------------------------------------------------- */

static uint64_t column_of(uint64_t count)
{
	uint64_t padded = count + PARTICLE_LANES_MAX;
	return (padded + COLUMN_ALIGN - 1) / COLUMN_ALIGN * COLUMN_ALIGN + COLUMN_SHIFT;
}

static uint32_t slots_of(uint32_t nodes)
{
	ASSERT(nodes <= PARTICLES_MAX);
	return (nodes + SLOT_CLASSES - 1) / SLOT_CLASSES * SLOT_CLASSES;
}

static enum status reserve_system(struct particle_weave *self, uint32_t nodes, uint64_t links)
{
	uint64_t slots = slots_of(nodes), padded = links + PARTICLE_LANES_MAX;
	enum status status = ARRAY_RESERVE(&self->keys, nodes);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->ends, links);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->runs, links);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->order, links);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->a, padded);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->b, padded);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->levels, links);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->sorted, 2 * links);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->heads, MAX_OF(slots, links) + 2);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->numbers, NODE_COLUMNS * column_of(slots) +
							       LINK_COLUMNS * column_of(links));
	return status;
}

enum status particle_weave_reserve(struct dynamics *self)
{
	struct particle_links *links = self->links;
	const struct system_table *table = &self->tables->system;
	enum status status = STATUS_OK;
	ASSERT(links != NULL);
	if (links->weaves == NULL)
		links->weaves = heap_alloc_zero(SYSTEMS_MAX * sizeof *links->weaves);
	if (links->weaves == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t row = 0; row < table->count && status == STATUS_OK; row++)
		if (table->id[row] != 0 && particle_system_linked(self->tables, row))
			status = reserve_system(&links->weaves[row], table->alive[row],
						table->links[row]);
	return status;
}

void particle_weave_release(struct particle_links *self)
{
	for (uint32_t row = 0; row < SYSTEMS_MAX && self->weaves != NULL; row++) {
		struct particle_weave *one = &self->weaves[row];
		ARRAY_RELEASE(&one->keys);
		ARRAY_RELEASE(&one->ends);
		ARRAY_RELEASE(&one->runs);
		ARRAY_RELEASE(&one->order);
		ARRAY_RELEASE(&one->a);
		ARRAY_RELEASE(&one->b);
		ARRAY_RELEASE(&one->levels);
		ARRAY_RELEASE(&one->sorted);
		ARRAY_RELEASE(&one->heads);
		ARRAY_RELEASE(&one->numbers);
	}
	heap_free(self->weaves);
	self->weaves = NULL;
}

uint64_t particle_weave_memory(const struct particle_links *self)
{
	uint64_t sum = self->weaves != NULL ? SYSTEMS_MAX * sizeof *self->weaves : 0;
	for (uint32_t row = 0; row < SYSTEMS_MAX && self->weaves != NULL; row++) {
		const struct particle_weave *one = &self->weaves[row];
		sum += (uint64_t)one->keys.capacity * sizeof *one->keys.items;
		sum += (uint64_t)one->ends.capacity * sizeof *one->ends.items;
		sum += (uint64_t)one->runs.capacity * sizeof *one->runs.items;
		sum += ((uint64_t)one->order.capacity + one->a.capacity + one->b.capacity +
			one->levels.capacity + one->sorted.capacity + one->heads.capacity) *
		       sizeof(uint32_t);
		sum += (uint64_t)one->numbers.capacity * sizeof(double);
	}
	return sum;
}

/* ---- the order ----------------------------------------------------------------------------------- */

static uint32_t slot_of(const struct particle_weave *self, uint32_t node)
{
	VALIDATE(node < self->nodes);
	return node % SLOT_CLASSES * (self->slots / SLOT_CLASSES) + node / SLOT_CLASSES;
}

/* Takes over which particles are linked; true: as before. */
static bool take_over(struct particle_weave *self, const struct particle_links *links,
		      const struct linked_system *system)
{
	bool same = self->ends.count == system->bonds && self->nodes == system->nodes;
	ASSERT(system->bonds <= self->ends.capacity);
	for (uint32_t i = 0; i < system->bonds; i++) {
		const struct bond *bond = &links->bonds.items[system->first_bond + i];
		struct weave_ends *ends = &self->ends.items[i];
		uint32_t differs = ends->ends ^ bond->ends;
		ends->ends = bond->ends;
		for (uint32_t k = 0; k < bond->ends; k++) {
			uint32_t node = bond->node[k] - system->first_node;
			differs |= ends->node[k] ^ node;
			ends->node[k] = node;
		}
		same &= differs == 0;
	}
	self->ends.count = system->bonds;
	self->nodes = system->nodes;
	return same;
}

static void find_levels(struct particle_weave *self)
{
	uint32_t *next = self->heads.items; /* by node: the least level of its next link */
	memset(next, 0, self->nodes * sizeof *next);
	ASSERT(self->nodes <= self->heads.capacity);
	self->level_count = 0;
	for (uint32_t i = 0; i < self->ends.count; i++) {
		const struct weave_ends *ends = &self->ends.items[i];
		uint32_t level = 0;
		for (uint32_t k = 0; k < ends->ends; k++)
			level = MAX_OF(level, next[ends->node[k]]);
		for (uint32_t k = 0; k < ends->ends; k++)
			next[ends->node[k]] = level + 1;
		self->levels.items[i] = level;
		self->level_count = MAX_OF(self->level_count, level + 1);
	}
}

/* A stable counting sort of `from` (NULL: 0, 1, …) by keys below `range`. */
static void sort_bonds(struct particle_weave *self, const uint32_t *from, uint32_t *to,
		       uint32_t range, bool by_level)
{
	uint32_t *heads = self->heads.items, count = self->ends.count;
	ASSERT(range + 1 <= self->heads.capacity);
	memset(heads, 0, ((size_t)range + 1) * sizeof *heads);
#define KEY(bond)                                                                                  \
	(by_level ? self->levels.items[bond] : slot_of(self, self->ends.items[bond].node[0]))
	for (uint32_t i = 0; i < count; i++)
		heads[KEY(i) + 1]++;
	for (uint32_t key = 0; key < range; key++)
		heads[key + 1] += heads[key];
	for (uint32_t i = 0; i < count; i++) {
		uint32_t bond = from != NULL ? from[i] : i;
		to[heads[KEY(bond)]++] = bond;
	}
#undef KEY
}

static void add_place(struct particle_weave *self, uint32_t bond)
{
	const struct weave_ends *ends = &self->ends.items[bond];
	uint32_t place = self->order.count++;
	ASSERT(place < self->ends.count && ends->ends >= 2);
	self->order.items[place] = bond;
	self->a.items[place] = slot_of(self, ends->node[0]);
	self->b.items[place] = slot_of(self, ends->node[1]);
}

/* Whether bond `next` can follow `bond` in a run. */
static bool can_follow(const struct particle_weave *self, uint32_t bond, uint32_t next)
{
	const struct weave_ends *a = &self->ends.items[bond], *b = &self->ends.items[next];
	VALIDATE(bond < self->ends.count && next < self->ends.count);
	return a->ends == 2 && b->ends == 2 &&
	       slot_of(self, b->node[0]) == slot_of(self, a->node[0]) + 1 &&
	       slot_of(self, b->node[1]) == slot_of(self, a->node[1]) + 1;
}

/* The rest of a level, which has no runs: distances or volumes. */
static void gather_rest(struct particle_weave *self, const uint32_t *bonds, uint32_t count,
			bool volumes)
{
	struct weave_run run = { .first = self->order.count,
				 .scattered = true,
				 .volumes = volumes };
	ASSERT(count <= self->ends.count);
	for (uint32_t i = 0; i < count; i++)
		if ((self->ends.items[bonds[i]].ends != 2) == volumes)
			add_place(self, bonds[i]);
	run.count = self->order.count - run.first;
	if (run.count > 0)
		self->runs.items[self->runs.count++] = run;
}

/* The runs of a level, whose bonds are sorted; they are overwritten. */
static void find_runs(struct particle_weave *self, uint32_t *bonds, uint32_t count)
{
	uint32_t rest = 0;
	for (uint32_t first = 0, last; first < count; first = last) {
		last = first + 1;
		while (last < count && can_follow(self, bonds[last - 1], bonds[last]))
			last++;
		if (last - first >= RUN_MIN) {
			self->runs.items[self->runs.count++] =
				(struct weave_run){ .first = self->order.count,
						    .count = last - first };
			for (uint32_t i = first; i < last; i++)
				add_place(self, bonds[i]);
		} else {
			for (uint32_t i = first; i < last; i++)
				bonds[rest++] = bonds[i];
		}
	}
	gather_rest(self, bonds, rest, false);
	gather_rest(self, bonds, rest, true);
	ASSERT(self->runs.count <= self->runs.capacity);
}

/* The places of all bonds, level after level. */
static void order_levels(struct particle_weave *self)
{
	uint32_t count = self->ends.count;
	uint32_t *by_slot = self->sorted.items, *sorted = by_slot + count;
	ASSERT(count > 0);
	find_levels(self);
	sort_bonds(self, NULL, by_slot, self->slots, false);
	sort_bonds(self, by_slot, sorted, self->level_count, true);
	for (uint32_t first = 0, last; first < count; first = last) {
		uint32_t level = self->levels.items[sorted[first]];
		last = first + 1;
		while (last < count && self->levels.items[sorted[last]] == level)
			last++;
		find_runs(self, sorted + first, last - first);
	}
}

static void make_order(struct particle_weave *self)
{
	uint32_t count = self->ends.count;
	self->order.count = self->runs.count = 0;
	if (count > 0) /* else nothing links the particles, which are held */
		order_levels(self);
	ASSERT(self->order.count == count);
	memset(self->a.items + count, 0, PARTICLE_LANES_MAX * sizeof *self->a.items);
	memset(self->b.items + count, 0, PARTICLE_LANES_MAX * sizeof *self->b.items);
}

/* ---- the numbers of a tick ----------------------------------------------------------------------- */

/* Shares the memory among the columns. */
static void place_columns(struct particle_weave *self)
{
	uint64_t slots = column_of(self->slots), links = column_of(self->ends.count);
	double *next = self->numbers.items;
	ASSERT(NODE_COLUMNS * slots + LINK_COLUMNS * links <= self->numbers.capacity);
	double **const columns[] = {
		self->at.x,	     self->at.x + 1,  self->at.x + 2,	  self->at.v,
		self->at.v + 1,	     self->at.v + 2,  self->at.before,	  self->at.before + 1,
		self->at.before + 2, self->at.field,  self->at.field + 1, self->at.field + 2,
		&self->at.mass_inv,  &self->at.decay, &self->at.coast,
	};
	_Static_assert(COUNT_OF(columns) == NODE_COLUMNS, "every column has memory");
	for (uint32_t i = 0; i < NODE_COLUMNS; i++, next += slots)
		*columns[i] = next;
	double **const numbers[] = { &self->rest,  &self->softness, &self->gamma,
				     &self->least, &self->pull,	    &self->stretch };
	_Static_assert(COUNT_OF(numbers) == LINK_COLUMNS, "every column has memory");
	for (uint32_t i = 0; i < LINK_COLUMNS; i++, next += links)
		*numbers[i] = next;
}

/* Slots without a particle are pinned at 0, and so is what vectors read beyond the end. */
static void clear_columns(struct particle_weave *self)
{
	uint64_t slots = column_of(self->slots), links = column_of(self->ends.count);
	ASSERT(NODE_COLUMNS * slots + LINK_COLUMNS * links <= self->numbers.capacity);
	memset(self->numbers.items, 0,
	       (NODE_COLUMNS * slots + LINK_COLUMNS * links) * sizeof *self->numbers.items);
}

/* Numbers of the links, by place; which runs have the same ones. */
static void take_numbers(struct particle_weave *self, const struct bond *bonds)
{
	ASSERT(self->order.count == self->ends.count);
	for (uint32_t r = 0; r < self->runs.count; r++) {
		struct weave_run *run = &self->runs.items[r];
		const uint32_t *order = self->order.items;
		const struct bond *first = &bonds[order[run->first]];
		run->uniform = !run->volumes;
		run->damped = false;
		for (uint32_t place = run->first; place < run->first + run->count; place++) {
			const struct bond *bond = &bonds[order[place]];
			self->rest[place] = bond->rest;
			self->softness[place] = bond->softness;
			self->gamma[place] = bond->gamma;
			self->least[place] = bond->kind == LINK_ROPE ? 0 : -SCALAR_MAX;
			run->damped |= bond->gamma > 0;
			run->uniform &= (bond->rest == first->rest) &
					(bond->softness == first->softness) &
					(bond->kind == first->kind);
		}
	}
}

bool particle_weave_expects(const struct particle_links *self, struct linked_system *system)
{
	const struct particle_weave *one = &self->weaves[system->row];
	const struct link_node *nodes = self->nodes.items + system->first_node;
	bool same = one->lists > 0 && one->lists + 1 == self->lists &&
		    one->edition == self->edition && one->h == system->h &&
		    one->first_bond == system->first_bond &&
		    one->first_node == system->first_node && one->nodes == system->nodes;
	ASSERT(system->h > 0);
	for (uint32_t i = 0; i < system->nodes && same; i++) {
		const struct weave_key *key = &one->keys.items[i];
		same = (key->serial == nodes[i].serial) & (key->mass_inv == nodes[i].mass_inv);
	}
	if (same)
		system->traits = one->traits;
	return same;
}

static void take_keys(struct particle_weave *self, const struct link_node *nodes, uint32_t count)
{
	ASSERT(count <= self->keys.capacity);
	for (uint32_t i = 0; i < count; i++)
		self->keys.items[i] = (struct weave_key){ nodes[i].serial, nodes[i].mass_inv };
}

void particle_weave_begin(const struct particle_links *self, struct linked_system *system)
{
	struct particle_weave *one = &self->weaves[system->row];
	system->woven = true;
	one->slots = slots_of(system->nodes);
	if (system->changed && !take_over(one, self, system)) {
		place_columns(one);
		make_order(one);
		clear_columns(one);
	}
	place_columns(one);
	if (system->changed) {
		take_numbers(one, self->bonds.items + system->first_bond);
		take_keys(one, self->nodes.items + system->first_node, system->nodes);
	}
	one->lists = self->lists;
	one->edition = self->edition;
	one->first_bond = system->first_bond;
	one->first_node = system->first_node;
	one->h = system->h;
	one->traits = system->traits;
	memset(one->pull, 0, system->traits.watched ? system->bonds * sizeof *one->pull : 0);
	one->links = (struct weave_links){ one->a.items,
					   one->b.items,
					   one->rest,
					   one->softness,
					   one->gamma,
					   one->least,
					   system->traits.watched ? one->pull : NULL };
	one->kernels = particle_kernels_choose();
}

void particle_weave_end(const struct particle_links *self, const struct linked_system *system)
{
	const struct particle_weave *one = &self->weaves[system->row];
	struct bond *bonds = self->bonds.items + system->first_bond;
	ASSERT(one->order.count == system->bonds);
	for (uint32_t place = 0; place < one->order.count && one->links.pull != NULL; place++)
		bonds[one->order.items[place]].pull += one->pull[place];
}

/* ---- nodes --------------------------------------------------------------------------------------- */

static void set3(double *const column[3], uint32_t slot, vec3 value)
{
	column[0][slot] = value.x;
	column[1][slot] = value.y;
	column[2][slot] = value.z;
}

static vec3 get3(double *const column[3], uint32_t slot)
{
	return vec3_make(column[0][slot], column[1][slot], column[2][slot]);
}

static void load_nodes(const struct particle_weave *self, const struct link_node *nodes)
{
	ASSERT(self->slots == slots_of(self->nodes));
	for (uint32_t i = 0; i < self->nodes; i++) {
		uint32_t slot = slot_of(self, i);
		set3(self->at.x, slot, nodes[i].x);
		set3(self->at.v, slot, nodes[i].v);
		self->at.mass_inv[slot] = nodes[i].mass_inv;
		self->at.decay[slot] = nodes[i].decay;
		self->at.coast[slot] = nodes[i].coast;
	}
}

static void store_nodes(const struct particle_weave *self, struct link_node *nodes)
{
	ASSERT(self->slots == slots_of(self->nodes));
	for (uint32_t i = 0; i < self->nodes; i++) {
		uint32_t slot = slot_of(self, i);
		nodes[i].x = get3(self->at.x, slot);
		nodes[i].v = get3(self->at.v, slot);
		nodes[i].before = get3(self->at.before, slot);
	}
}

/* ---- sub-steps ----------------------------------------------------------------------------------- */

/* What fields give each particle, at the middle of its way. */
static void take_fields(const struct particle_weave *self, const struct particle_motion *motion,
			uint32_t system, double h)
{
	ASSERT(h > 0);
	for (uint32_t slot = 0; slot < self->slots; slot++) {
		double mass_inv = self->at.mass_inv[slot];
		if (!(mass_inv > 0))
			continue;
		vec3 x = get3(self->at.x, slot), v = get3(self->at.v, slot);
		set3(self->at.field, slot,
		     particle_field_acceleration(motion, system, vec3_mul_add(x, v, 0.5 * h), v,
						 1 / mass_inv));
	}
}

/* The gradients of a volume; of an area those of its three corners. */
static void find_slopes(const vec3 at[LINK_ENDS], uint32_t ends, vec3 slope[LINK_ENDS])
{
	ASSERT(ends == 3 || ends == LINK_ENDS);
	if (ends == 3) {
		for (uint32_t k = 0; k < 3; k++) {
			vec3 side = vec3_sub(at[(k + 2) % 3], at[(k + 1) % 3]);
			slope[k] = vec3_make(-0.5 * side.y, 0.5 * side.x, 0);
		}
		return;
	}
	vec3 a = vec3_sub(at[1], at[0]), b = vec3_sub(at[2], at[0]), c = vec3_sub(at[3], at[0]);
	slope[1] = vec3_scale(vec3_cross(b, c), 1.0 / 6);
	slope[2] = vec3_scale(vec3_cross(c, a), 1.0 / 6);
	slope[3] = vec3_scale(vec3_cross(a, b), 1.0 / 6);
	slope[0] = vec3_scale(vec3_add(vec3_add(slope[1], slope[2]), slope[3]), -1);
}

static void correct_volume(const struct particle_weave *self, const struct bond *bond,
			   const struct weave_ends *ends, double rate)
{
	vec3 at[LINK_ENDS] = { 0 }, slope[LINK_ENDS];
	uint32_t slot[LINK_ENDS] = { 0 };
	double sum = bond->softness;
	ASSERT(bond->kind == LINK_VOLUME && sum >= 0);
	for (uint32_t k = 0; k < ends->ends; k++) {
		slot[k] = slot_of(self, ends->node[k]);
		at[k] = get3(self->at.x, slot[k]);
	}
	find_slopes(at, ends->ends, slope);
	for (uint32_t k = 0; k < ends->ends; k++)
		sum += self->at.mass_inv[slot[k]] * vec3_length_squared(slope[k]);
	if (!(sum > 0))
		return;
	double push = -(particle_volume(at, ends->ends) - bond->rest) / sum;
	for (uint32_t k = 0; k < ends->ends; k++) {
		double way = self->at.mass_inv[slot[k]] * push;
		set3(self->at.x, slot[k], vec3_mul_add(at[k], slope[k], way));
		set3(self->at.v, slot[k],
		     vec3_mul_add(get3(self->at.v, slot[k]), slope[k], way * rate));
	}
}

static void correct_run(const struct particle_weave *self, const struct bond *bonds,
			const struct weave_run *run, double rate)
{
	ASSERT(rate > 0 && run->first + run->count <= self->order.count);
	if (!run->volumes) {
		self->kernels->correct(&self->at, &self->links, run, rate);
		return;
	}
	for (uint32_t place = run->first; place < run->first + run->count; place++) {
		uint32_t bond = self->order.items[place];
		correct_volume(self, &bonds[bond], &self->ends.items[bond], rate);
	}
}

void particle_weave_move(const struct particle_links *self, const struct linked_system *system,
			 double h, uint32_t count)
{
	const struct particle_weave *one = &self->weaves[system->row];
	const struct particle_law *law = &self->motion->laws[system->row];
	const struct bond *bonds = self->bonds.items + system->first_bond;
	ASSERT(h > 0 && one->nodes == system->nodes);
	load_nodes(one, self->nodes.items + system->first_node);
	for (uint32_t step = 0; step < count; step++) {
		if (law->fields)
			take_fields(one, self->motion, system->row, h);
		one->kernels->fly(&one->at, one->slots, law->acceleration, law->fields, h);
		for (uint32_t r = 0; r < one->runs.count; r++)
			correct_run(one, bonds, &one->runs.items[r], 1 / h);
	}
	store_nodes(one, self->nodes.items + system->first_node);
}

/* ---- after the paths ----------------------------------------------------------------------------- */

double particle_weave_measure(const struct particle_links *self, struct linked_system *system)
{
	const struct tables *tables = self->motion->dynamics->tables;
	struct particle_weave *one = &self->weaves[system->row];
	const uint32_t *rows = self->links.items + system->first_bond;
	double most = 0;
	ASSERT(system->first_bond + system->bonds <= self->bonds.count);
	if (!system->woven)
		particle_weave_begin(self, system);
	for (uint32_t i = 0; i < system->nodes; i++)
		set3(one->at.x, slot_of(one, i),
		     tables->particle.position[self->nodes.items[system->first_node + i].row]);
	for (uint32_t r = 0; r < one->runs.count; r++) {
		const struct weave_run *run = &one->runs.items[r];
		double worst = 0;
		if (!run->volumes)
			worst = one->kernels->stretch(&one->at, &one->links, run, one->stretch);
		most = scalar_max(most, worst);
	}
	for (uint32_t place = 0; place < one->order.count && system->traits.tears; place++)
		self->stretches.items[rows[one->order.items[place]]] = one->stretch[place];
	return most;
}
