/* See particle_links.h. */
#include "server/engine/particles/particle_links.h"

#include "server/base/array.h"
#include "server/base/heap.h"
#include "server/engine/particles/particle_bonds.h"
#include "server/engine/particles/particle_holds.h"
#include "server/engine/particles/particle_meet.h"
#include "server/engine/particles/particle_limit.h"
#include "server/engine/particles/particle_self.h"
#include "server/engine/particles/particle_weave.h"

/* ---- rows ---------------------------------------------------------------------------------------- */

uint32_t dynamics_find_particle(const struct tables *tables, uint32_t system, uint64_t serial)
{
	const struct particle_table *table = &tables->particle;
	uint32_t low = 0, high = table->count;
	/* Serials of a system ascend with rows; between them are rows of others. */
	while (low < high) {
		uint32_t middle = low + (high - low) / 2, at = middle;
		while (at < high && table->system[at] != system)
			at++;
		if (at < high && table->serial[at] == serial)
			return at;
		if (at < high && table->serial[at] < serial)
			low = at + 1;
		else
			high = middle;
	}
	return DYNAMICS_NONE;
}

static uint32_t find_pin(const struct tables *tables, uint32_t system, uint64_t serial)
{
	uint32_t row = 0;
	while (row < tables->pin.count &&
	       (tables->pin.system[row] != system || tables->pin.serial[row] != serial))
		row++;
	return row;
}

static bool particle_is_pinned(const struct tables *tables, uint32_t system, uint64_t serial)
{
	return find_pin(tables, system, serial) < tables->pin.count;
}

uint32_t particle_link_ends(const struct tables *tables, uint8_t kind)
{
	ASSERT(kind <= LINK_VOLUME);
	if (kind != LINK_VOLUME)
		return 2;
	return tables->world.planar[0] ? 3 : LINK_ENDS;
}

double particle_volume(const vec3 at[LINK_ENDS], uint32_t ends)
{
	if (ends == 3)
		return 0.5 * vec3_cross(vec3_sub(at[1], at[0]), vec3_sub(at[2], at[0])).z;
	ASSERT(ends == LINK_ENDS);
	vec3 a = vec3_sub(at[1], at[0]), b = vec3_sub(at[2], at[0]), c = vec3_sub(at[3], at[0]);
	return vec3_dot(a, vec3_cross(b, c)) / 6;
}

static double measure_link(const struct tables *tables, uint32_t system, uint8_t kind,
			   const uint64_t serial[LINK_ENDS])
{
	vec3 at[LINK_ENDS] = { 0 };
	uint32_t ends = particle_link_ends(tables, kind);
	for (uint32_t k = 0; k < ends; k++) {
		uint32_t row = dynamics_find_particle(tables, system, serial[k]);
		ASSERT(row != DYNAMICS_NONE);
		at[k] = tables->particle.position[row];
	}
	return kind == LINK_VOLUME ? particle_volume(at, ends) : vec3_distance(at[0], at[1]);
}

void dynamics_link_add(struct dynamics *self, uint32_t system, const struct particle_link *link)
{
	struct tables *tables = self->tables;
	uint32_t ends = particle_link_ends(tables, link->kind);
	uint32_t row = tables_append(tables, TABLE_LINK);
	struct link_table *table = &tables->link;
	table->system[row] = system;
	table->kind[row] = link->kind;
	for (uint32_t k = 0; k < LINK_ENDS; k++)
		table->serial[row][k] = k < ends ? link->serial[k] : 0;
	table->compliance[row] = link->compliance;
	table->damping_ratio[row] = link->damping_ratio;
	table->tear[row] = link->tear;
	table->tear_force[row] = link->tear_force;
	table->rest[row] = link->rest > 0 ? link->rest
					  : measure_link(tables, system, link->kind, link->serial);
	tables->system.links[system]++;
	particle_links_forget(self);
}

void dynamics_pin_add(struct dynamics *self, uint32_t system, uint64_t serial)
{
	if (particle_is_pinned(self->tables, system, serial))
		return;
	ASSERT(system < self->tables->system.count);
	uint32_t row = tables_append(self->tables, TABLE_PIN);
	self->tables->pin.system[row] = system;
	self->tables->pin.serial[row] = serial;
	self->tables->system.pins[system]++;
	uint32_t particle = dynamics_find_particle(self->tables, system, serial);
	ASSERT(particle != DYNAMICS_NONE);
	self->tables->particle.velocity[particle] = vec3_zero();
}

bool particle_system_linked(const struct tables *tables, uint32_t system)
{
	const struct system_table *table = &tables->system;
	ASSERT(system < table->count);
	return table->links[system] + table->pins[system] + table->holds[system] > 0;
}

void dynamics_pin_remove(struct dynamics *self, uint32_t system, uint64_t serial)
{
	struct tables *tables = self->tables;
	uint32_t at = find_pin(tables, system, serial);
	if (at == tables->pin.count)
		return;
	tables->system.pins[system]--;
	tables_remove(tables, TABLE_PIN, at, 1);
}

/* The rows of each system's particles, so that a search does not pass those of others. */
struct row_finder {
	const struct tables *tables;
	uint32_t *
		rows; /* by system, then ascending; NULL: no memory, and searches pass the others */
	uint32_t *first; /* by system, and one more */
};

static struct row_finder find_rows(struct arena *arena, const struct tables *tables)
{
	const struct particle_table *table = &tables->particle;
	uint32_t systems = tables->system.count;
	ASSERT(table->count == 0 || systems > 0);
	struct row_finder self = {
		.tables = tables,
		.rows = ARENA_ARRAY(arena, uint32_t, table->count),
		.first = arena_push_zero(arena, ((size_t)systems + 2) * sizeof(uint32_t)),
	};
	if (self.first == NULL)
		self.rows = NULL;
	if (self.rows == NULL)
		return self;
	for (uint32_t row = 0; row < table->count; row++)
		self.first[table->system[row] + 2]++;
	for (uint32_t system = 0; system < systems; system++)
		self.first[system + 2] += self.first[system + 1];
	for (uint32_t row = 0; row < table->count; row++)
		self.rows[self.first[table->system[row] + 1]++] = row;
	return self;
}

static bool particle_exists(const struct row_finder *self, uint32_t system, uint64_t serial)
{
	if (self->rows == NULL)
		return dynamics_find_particle(self->tables, system, serial) != DYNAMICS_NONE;
	ASSERT(system < self->tables->system.count);
	uint32_t low = self->first[system], high = self->first[system + 1];
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (self->tables->particle.serial[self->rows[middle]] < serial)
			low = middle + 1;
		else
			high = middle;
	}
	return low < self->first[system + 1] &&
	       self->tables->particle.serial[self->rows[low]] == serial;
}

/* Links, pins or holds, which refer to particles. */
struct referring_rows {
	enum table_index table;
	const uint32_t *systems; /* by row */
	uint32_t *counts;	 /* of rows, by system */
};

/* Whether all particles of a row exist. */
static bool row_is_whole(const struct row_finder *finder, const struct referring_rows *rows,
			 uint32_t row)
{
	const struct tables *tables = finder->tables;
	uint32_t ends = 1;
	const uint64_t *serials;
	ASSERT(row < tables_count(tables, rows->table));
	if (rows->table == TABLE_LINK) {
		serials = tables->link.serial[row];
		ends = particle_link_ends(tables, tables->link.kind[row]);
	} else {
		serials = rows->table == TABLE_HOLD ? &tables->hold.serial[row]
						    : &tables->pin.serial[row];
	}
	for (uint32_t k = 0; k < ends; k++)
		if (!particle_exists(finder, rows->systems[row], serials[k]))
			return false;
	return true;
}

/* Removes rows of the system `gone`, or, for DYNAMICS_NONE, of particles that do not exist. */
static void keep_rows(struct tables *tables, const struct row_finder *finder,
		      const struct referring_rows *rows, uint32_t gone)
{
	uint32_t kept = 0, count = tables_count(tables, rows->table);
	for (uint32_t row = 0; row < count; row++) {
		uint32_t system = rows->systems[row];
		if (gone != DYNAMICS_NONE ? system != gone : row_is_whole(finder, rows, row))
			tables_copy_row(tables, rows->table, kept++, row);
		else
			rows->counts[system]--;
	}
	ASSERT(kept <= count);
	tables_truncate(tables, rows->table, kept);
}

void particle_links_prune(struct dynamics *self, uint32_t system)
{
	struct arena_mark mark = arena_mark(&self->scratch);
	struct tables *tables = self->tables;
	struct row_finder finder = { .tables = tables };
	const struct referring_rows all[] = {
		{ TABLE_LINK, tables->link.system, tables->system.links },
		{ TABLE_PIN, tables->pin.system, tables->system.pins },
		{ TABLE_HOLD, tables->hold.system, tables->system.holds },
	};
	ASSERT(system == DYNAMICS_NONE || system < tables->system.count);
	if (system == DYNAMICS_NONE)
		finder = find_rows(&self->scratch, tables);
	for (uint32_t i = 0; i < COUNT_OF(all); i++)
		keep_rows(tables, &finder, &all[i], system);
	particle_links_forget(self);
	arena_rewind(&self->scratch, mark);
}

void particle_links_forget(struct dynamics *self)
{
	if (self->links != NULL)
		self->links->edition++;
}

enum status particle_links_reserve(struct dynamics *self)
{
	uint32_t links = self->tables->link.count, particles = self->tables->particle.count;
	if (self->links == NULL)
		self->links = heap_alloc_zero(sizeof *self->links);
	if (self->links == NULL)
		return STATUS_NO_MEMORY;
	enum status status = ARRAY_RESERVE(&self->links->nodes, particles);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->links->ends, particles);
	/* One more, because systems whose particles are only held have a place in these lists, too. */
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->links->bonds, links + 1);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->links->links, links + 1);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->links->stretches, links);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->links->pulls, links);
	if (status == STATUS_OK)
		status = particle_weave_reserve(self);
	if (status == STATUS_OK)
		status = particle_cloth_reserve(self);
	if (status == STATUS_OK)
		status = particle_self_reserve(self);
	if (status == STATUS_OK)
		status = particle_meet_reserve(self);
	if (status == STATUS_OK)
		status = particle_limit_reserve(self);
	return status;
}

void particle_links_destroy(struct particle_links *self)
{
	if (self == NULL)
		return;
	ARRAY_RELEASE(&self->nodes);
	ARRAY_RELEASE(&self->ends);
	ARRAY_RELEASE(&self->bonds);
	ARRAY_RELEASE(&self->links);
	ARRAY_RELEASE(&self->stretches);
	ARRAY_RELEASE(&self->pulls);
	particle_weave_release(self);
	particle_cloth_release(self);
	particle_self_release(self);
	particle_meet_release(self);
	particle_limit_release(self);
	heap_free(self);
}

uint64_t particle_links_memory(const struct particle_links *self)
{
	if (self == NULL)
		return 0;
	return sizeof *self + (uint64_t)self->nodes.capacity * sizeof *self->nodes.items +
	       (uint64_t)self->ends.capacity * sizeof *self->ends.items +
	       (uint64_t)self->bonds.capacity * sizeof *self->bonds.items +
	       (uint64_t)self->links.capacity * sizeof *self->links.items +
	       (uint64_t)self->stretches.capacity * sizeof *self->stretches.items +
	       (uint64_t)self->pulls.capacity * sizeof *self->pulls.items +
	       particle_weave_memory(self) + particle_cloth_memory(self) +
	       particle_self_memory(self) + particle_meet_memory(self) +
	       particle_limit_memory(self);
}

/* ---- nodes and bonds of a tick ------------------------------------------------------------------- */

static double step_of(const struct particle_links *self, uint32_t system)
{
	const struct tables *tables = self->motion->dynamics->tables;
	uint32_t own = tables->system.link_substeps[system];
	ASSERT(own >= 1);
	return self->motion->dt / (self->substeps > 0 ? self->substeps : own);
}

static void gather_nodes(struct particle_links *self, struct linked_system *system)
{
	const struct particle_table *table = &self->motion->dynamics->tables->particle;
	double mass = 0;
	struct particle_law law = self->motion->laws[system->row];
	system->first_node = self->nodes.count;
	for (uint32_t row = 0; row < table->count; row++) {
		if (table->system[row] != system->row)
			continue;
		if (table->mass[row] != mass)
			particle_law_of_mass(&law, table->mass[row], system->h);
		mass = table->mass[row];
		self->nodes.items[self->nodes.count++] =
			(struct link_node){ .x = table->position[row],
					    .v = table->velocity[row],
					    .mass_inv = 1 / table->mass[row],
					    .radius = table->radius[row],
					    .decay = law.decay,
					    .coast = law.coast,
					    .serial = table->serial[row],
					    .row = row };
	}
	system->nodes = self->nodes.count - system->first_node;
}

static uint32_t search_node(const struct link_node *nodes, uint32_t count, uint64_t serial)
{
	uint32_t low = 0, high = count - 1;
	ASSERT(count > 0);
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (nodes[middle].serial < serial)
			low = middle + 1;
		else
			high = middle;
	}
	ASSERT(nodes[low].serial == serial);
	return low;
}

/* Serials are mostly without gaps. */
static inline uint32_t find_node(const struct particle_links *self,
				 const struct linked_system *system, uint64_t serial)
{
	const struct link_node *nodes = self->nodes.items + system->first_node;
	uint64_t guess = serial - nodes[0].serial;
	if (guess < system->nodes && nodes[guess].serial == serial)
		return system->first_node + (uint32_t)guess;
	return system->first_node + search_node(nodes, system->nodes, serial);
}

uint32_t particle_links_node(const struct particle_links *self, const struct linked_system *system,
			     uint64_t serial)
{
	ASSERT(system->nodes > 0);
	return find_node(self, system, serial);
}

/* What makes bonds of a system in a tick. */
struct bond_maker {
	const struct particle_links *links;
	const struct linked_system *system;
	const struct link_table *table;
	double h;	 /* s: a sub-step */
	uint32_t volume; /* ends of a volume */
	/* Of the last bond, because neighbours mostly have the same numbers. */
	double compliance, mass_inv, damping_ratio, softness, gamma;
};

static void find_softness(struct bond_maker *maker, uint32_t row, double mass_inv, bool distance)
{
	double compliance = maker->table->compliance[row];
	double damping_ratio = distance ? maker->table->damping_ratio[row] : 0;
	ASSERT(maker->h > 0 && compliance >= 0);
	if (compliance == maker->compliance && mass_inv == maker->mass_inv &&
	    damping_ratio == maker->damping_ratio)
		return;
	maker->compliance = compliance;
	maker->mass_inv = mass_inv;
	maker->damping_ratio = damping_ratio;
	maker->softness = compliance / (maker->h * maker->h);
	maker->gamma = 0;
	if (mass_inv > 0 && damping_ratio > 0)
		maker->gamma = 2 * damping_ratio * scalar_sqrt(compliance / mass_inv) / maker->h;
}

/* Makes the bond of a link's row. */
static void make_bond(struct bond_maker *maker, uint32_t row, struct bond *bond)
{
	const struct link_table *table = maker->table;
	double mass_inv = 0;
	ASSERT(row < table->count);
	bond->kind = table->kind[row];
	bond->ends = (uint8_t)(bond->kind == LINK_VOLUME ? maker->volume : 2);
	for (uint32_t k = 0; k < bond->ends; k++) {
		bond->node[k] = find_node(maker->links, maker->system, table->serial[row][k]);
		mass_inv += maker->links->nodes.items[bond->node[k]].mass_inv;
	}
	find_softness(maker, row, mass_inv, bond->kind != LINK_VOLUME);
	bond->rest = table->rest[row];
	bond->softness = maker->softness;
	bond->gamma = maker->gamma;
	bond->pull = 0;
}

static struct bond_maker begin_bonds(const struct particle_links *self,
				     const struct linked_system *system)
{
	const struct tables *tables = self->motion->dynamics->tables;
	ASSERT(system->row < tables->system.count && system->h > 0);
	return (struct bond_maker){ .links = self,
				    .system = system,
				    .table = &tables->link,
				    .h = system->h,
				    .volume = particle_link_ends(tables, LINK_VOLUME) };
}

/* Makes the bonds of a system, whose first one is set. */
static void make_bonds(struct particle_links *self, struct linked_system *system)
{
	struct bond_maker maker = begin_bonds(self, system);
	const struct link_table *table = maker.table;
	for (uint32_t row = 0; row < table->count; row++) {
		if (table->system[row] != system->row)
			continue;
		uint32_t at = self->bonds.count++;
		self->links.items[at] = row;
		make_bond(&maker, row, &self->bonds.items[at]);
		system->traits.watched |= table->tear_force[row] > 0;
		system->traits.tears |= table->tear[row] > 0;
		system->traits.volumes |= table->kind[row] == LINK_VOLUME;
	}
	system->bonds = self->bonds.count - system->first_bond;
}

#ifdef CAIRN_VALIDATE
/* Whether the bonds of a system are what make_bonds would make. */
static bool bonds_stand(const struct particle_links *self, const struct linked_system *system)
{
	struct bond_maker maker = begin_bonds(self, system);
	bool stand = true;
	for (uint32_t i = system->first_bond; i < self->bonds.count && stand; i++) {
		const struct bond *bond = &self->bonds.items[i];
		struct bond made = { 0 };
		stand = maker.table->system[self->links.items[i]] == system->row;
		make_bond(&maker, self->links.items[i], &made);
		stand &= bond->kind == made.kind && bond->rest == made.rest &&
			 bond->softness == made.softness && bond->gamma == made.gamma;
		for (uint32_t k = 0; k < made.ends; k++)
			stand &= bond->node[k] == made.node[k];
	}
	return stand;
}
#endif

/* The bonds of a system: mostly those of the tick before, which are in their place. */
static void gather_bonds(struct particle_links *self, struct linked_system *system)
{
	uint32_t count = self->motion->dynamics->tables->system.links[system->row];
	system->first_bond = self->bonds.count;
	system->changed = !particle_weave_expects(self, system);
	if (system->changed) {
		make_bonds(self, system);
		ASSERT(system->bonds == count);
		return;
	}
	system->bonds = count;
	self->bonds.count += count;
	ASSERT(self->bonds.count <= self->bonds.capacity);
	VALIDATE(bonds_stand(self, system));
	for (uint32_t i = 0; i < count && system->traits.watched; i++)
		self->bonds.items[system->first_bond + i].pull = 0;
}

struct linked_system *particle_links_gather(struct particle_links *self, uint32_t row)
{
	const struct tables *tables = self->motion->dynamics->tables;
	struct linked_system *system = &self->systems[self->system_count++];
	*system = (struct linked_system){ .row = row, .h = step_of(self, row) };
	gather_nodes(self, system);
	for (uint32_t i = 0; i < tables->pin.count; i++)
		if (tables->pin.system[i] == row) {
			uint32_t node = particle_links_node(self, system, tables->pin.serial[i]);
			self->nodes.items[node].mass_inv = 0;
			self->nodes.items[node].v = vec3_zero();
		}
	gather_bonds(self, system);
	return system;
}

/* ---- sub-steps ----------------------------------------------------------------------------------- */

static void move_system(struct particle_links *self, struct linked_system *system)
{
	const struct tables *tables = self->motion->dynamics->tables;
	double h = system->h;
	uint32_t steps = tables->system.link_substeps[system->row];
	bool alone = !particle_self_meets(self, system) && !particle_limit_keeps(self, system);
	particle_weave_begin(self, system);
	particle_self_begin(self, system);
	particle_limit_begin(self, system);
	if (alone)
		particle_weave_move(self, system, h, steps);
	for (uint32_t step = 0; step < steps && !alone; step++) {
		particle_weave_move(self, system, h, 1);
		particle_limit_correct(self, system, h);
		particle_self_correct(self, system);
	}
	particle_weave_end(self, system);
	particle_limit_end(self, system);
}

static void move_systems(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct particle_links *self = context;
	for (uint32_t i = first; i < last; i++)
		if (!self->systems[i].coupled)
			move_system(self, &self->systems[i]);
}

/* Whether a system has moved with the bodies. */
static bool has_moved(const struct particle_links *self, uint32_t row)
{
	bool found = false;
	ASSERT(self->system_count <= SYSTEMS_MAX);
	for (uint32_t i = 0; i < self->system_count; i++)
		found |= self->systems[i].row == row && self->systems[i].coupled;
	return found;
}

const struct particle_end *particle_links_run(struct particle_links *self,
					      const struct particle_motion *motion,
					      const struct particle_end *others)
{
	const struct tables *tables = motion->dynamics->tables;
	ASSERT(tables->particle.count <= self->ends.capacity);
	self->motion = motion;
	particle_cloth_recall(self);
	for (uint32_t row = 0; row < tables->particle.count; row++)
		self->ends.items[row] = others != NULL ? others[row] : (struct particle_end){ 0 };
	for (uint32_t row = 0; row < tables->system.count; row++)
		if (particle_system_linked(tables, row) && !has_moved(self, row))
			particle_links_gather(self, row);
	parallel_run(motion->dynamics->parallel, self->system_count, 1, move_systems, self);
	for (uint32_t i = 0; i < self->nodes.count; i++) {
		const struct link_node *node = &self->nodes.items[i];
		vec3 v = node->v;
		/* Too fast to stay: particle_path.c removes it. */
		if (!vec3_is_finite(node->x) || !vec3_is_finite(v))
			v = vec3_all(2 * SPEED_MAX);
		self->ends.items[node->row] = (struct particle_end){
			.to = vec3_is_finite(node->x) ? node->x : node->before,
			.velocity = v,
			.known = true,
			.held = node->mass_inv == 0 || node->coupled,
		};
	}
	return self->ends.items;
}

/* ---- after the paths ----------------------------------------------------------------------------- */

/* The relative error of the sum of all volumes. */
static double volume_error(const struct particle_links *self, const struct linked_system *system)
{
	const struct tables *tables = self->motion->dynamics->tables;
	double volume = 0, rest = 0;
	ASSERT(system->first_bond + system->bonds <= self->bonds.count);
	for (uint32_t i = 0; i < system->bonds; i++) {
		const struct bond *bond = &self->bonds.items[system->first_bond + i];
		vec3 at[LINK_ENDS] = { 0 };
		if (bond->kind != LINK_VOLUME)
			continue;
		for (uint32_t k = 0; k < bond->ends; k++)
			at[k] = tables->particle.position[self->nodes.items[bond->node[k]].row];
		double size = particle_volume(at, bond->ends);
		volume += bond->rest > 0 ? size : -size;
		rest += scalar_abs(bond->rest);
	}
	return rest > 0 ? scalar_abs(volume / rest - 1) : 0;
}

static void measure_system(const struct particle_links *self, struct linked_system *system)
{
	struct system_table *table = &self->motion->dynamics->tables->system;
	table->stretch[system->row] = particle_weave_measure(self, system);
	table->volume_error[system->row] = system->traits.volumes ? volume_error(self, system) : 0;
	for (uint32_t i = 0; i < system->bonds && system->traits.watched; i++) {
		const struct bond *bond = &self->bonds.items[system->first_bond + i];
		self->pulls.items[self->links.items[system->first_bond + i]] =
			bond->pull / self->motion->dt;
	}
}

static void measure_systems(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	struct particle_links *self = context;
	for (uint32_t i = first; i < last; i++)
		measure_system(self, &self->systems[i]);
}

static void tear_link(struct dynamics *self, uint32_t row, double excess)
{
	struct tables *tables = self->tables;
	const struct link_table *table = &tables->link;
	uint32_t system = table->system[row];
	uint32_t particle = dynamics_find_particle(tables, system, table->serial[row][0]);
	tables->system.links[system]--;
	tables->system.torn[system]++;
	dynamics_event(self, (struct event){ .kind = EVENT_LINK_TORN,
					     .child_a = tables->system.id[system],
					     .child_b = (uint32_t)table->serial[row][0],
					     .fraction = 1,
					     .point = tables->particle.position[particle],
					     .value = excess });
}

/* Whether some link of a linked system has a limit. */
static bool links_tear(const struct particle_links *self)
{
	bool found = false;
	ASSERT(self->system_count <= SYSTEMS_MAX);
	for (uint32_t i = 0; i < self->system_count; i++)
		found |= self->systems[i].traits.tears || self->systems[i].traits.watched;
	return found;
}

static void tear_links(struct dynamics *self)
{
	const struct particle_links *links = self->links;
	const struct link_table *table = &self->tables->link;
	uint32_t kept = 0, count = table->count;
	ASSERT(links->bonds.count == count);
	for (uint32_t row = 0; row < count; row++) {
		double excess = 0;
		if (table->tear[row] > 0)
			excess = links->stretches.items[row] / table->tear[row];
		if (table->tear_force[row] > 0)
			excess = scalar_max(excess,
					    links->pulls.items[row] / table->tear_force[row]);
		if (excess > 1)
			tear_link(self, row, excess);
		else
			tables_copy_row(self->tables, TABLE_LINK, kept++, row);
	}
	if (kept < count)
		particle_links_forget(self);
	tables_truncate(self->tables, TABLE_LINK, kept);
}

void particle_links_settle(struct dynamics *self)
{
	struct particle_links *links = self->links;
	parallel_run(self->parallel, links->system_count, 1, measure_systems, links);
	particle_self_settle(self);
	particle_meet_settle(self);
	particle_limit_settle(self);
	if (links_tear(links))
		tear_links(self);
}
