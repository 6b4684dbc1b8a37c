/* See particle_links.h. */
#include "server/engine/particles/particle_links.h"

#include "server/base/array.h"
#include "server/base/heap.h"
#include "server/engine/particles/particle_bonds.h"
#include "server/engine/particles/particle_holds.h"
#include "server/engine/particles/particle_meet.h"
#include "server/engine/particles/particle_limit.h"
#include "server/engine/particles/particle_self.h"

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

bool particle_is_pinned(const struct tables *tables, uint32_t system, uint64_t serial)
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

/* Of a tetrahedron, or the area of a triangle in the plane; with the sign of the order. */
static double volume_of(const vec3 at[LINK_ENDS], uint32_t ends)
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
	return kind == LINK_VOLUME ? volume_of(at, ends) : vec3_distance(at[0], at[1]);
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

/* Copies row `from` of a table to row `to`. */
static void copy_row(struct tables *tables, enum table_index table, uint32_t to, uint32_t from)
{
	for (uint32_t i = 0; i < table_infos[table].column_count && to != from; i++) {
		size_t bytes = table_infos[table].columns[i].row_bytes;
		uint8_t *data = tables_column(tables, table, i);
		memcpy(data + to * bytes, data + from * bytes, bytes);
	}
}

void dynamics_pin_remove(struct dynamics *self, uint32_t system, uint64_t serial)
{
	struct tables *tables = self->tables;
	uint32_t at = find_pin(tables, system, serial);
	if (at == tables->pin.count)
		return;
	for (uint32_t row = at + 1; row < tables->pin.count; row++)
		copy_row(tables, TABLE_PIN, row - 1, row);
	tables->system.pins[system]--;
	tables_truncate(tables, TABLE_PIN, tables->pin.count - 1);
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

static bool link_is_whole(const struct row_finder *finder, uint32_t row)
{
	const struct link_table *table = &finder->tables->link;
	ASSERT(row < table->count);
	for (uint32_t k = 0; k < particle_link_ends(finder->tables, table->kind[row]); k++)
		if (!particle_exists(finder, table->system[row], table->serial[row][k]))
			return false;
	return true;
}

/* Removes links, pins and holds of a system, or, for DYNAMICS_NONE, of particles that do not exist. */
static void keep_links(struct tables *tables, const struct row_finder *finder, uint32_t system)
{
	uint32_t kept = 0;
	for (uint32_t row = 0; row < tables->link.count; row++) {
		uint32_t of = tables->link.system[row];
		if (system != DYNAMICS_NONE ? of != system : link_is_whole(finder, row))
			copy_row(tables, TABLE_LINK, kept++, row);
		else
			tables->system.links[of]--;
	}
	tables_truncate(tables, TABLE_LINK, kept);
	kept = 0;
	for (uint32_t row = 0; row < tables->pin.count; row++) {
		uint32_t of = tables->pin.system[row];
		uint64_t serial = tables->pin.serial[row];
		if (system != DYNAMICS_NONE ? of != system : particle_exists(finder, of, serial))
			copy_row(tables, TABLE_PIN, kept++, row);
		else
			tables->system.pins[of]--;
	}
	tables_truncate(tables, TABLE_PIN, kept);
	kept = 0;
	for (uint32_t row = 0; row < tables->hold.count; row++) {
		uint32_t of = tables->hold.system[row];
		uint64_t serial = tables->hold.serial[row];
		if (system != DYNAMICS_NONE ? of != system : particle_exists(finder, of, serial))
			copy_row(tables, TABLE_HOLD, kept++, row);
		else
			tables->system.holds[of]--;
	}
	tables_truncate(tables, TABLE_HOLD, kept);
}

void particle_links_prune(struct dynamics *self, uint32_t system)
{
	struct arena_mark mark = arena_mark(&self->scratch);
	struct row_finder finder = { .tables = self->tables };
	ASSERT(system == DYNAMICS_NONE || system < self->tables->system.count);
	if (system == DYNAMICS_NONE)
		finder = find_rows(&self->scratch, self->tables);
	keep_links(self->tables, &finder, system);
	arena_rewind(&self->scratch, mark);
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
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->links->bonds, links);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->links->links, links);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->links->stretches, links);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->links->pulls, links);
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
	       particle_cloth_memory(self) + particle_self_memory(self) +
	       particle_meet_memory(self) + particle_limit_memory(self);
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
	double h = step_of(self, system->row);
	system->first_node = self->nodes.count;
	for (uint32_t row = 0; row < table->count; row++) {
		if (table->system[row] != system->row)
			continue;
		struct particle_law law = self->motion->laws[system->row];
		particle_law_of_mass(&law, table->mass[row], h);
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

/* Serials are mostly without gaps. */
uint32_t particle_links_node(const struct particle_links *self, const struct linked_system *system,
			     uint64_t serial)
{
	const struct link_node *nodes = self->nodes.items + system->first_node;
	ASSERT(system->nodes > 0 && serial >= nodes[0].serial);
	uint64_t guess = serial - nodes[0].serial, low = 0, high = system->nodes - 1;
	if (guess < system->nodes && nodes[guess].serial == serial)
		return system->first_node + (uint32_t)guess;
	while (low < high) {
		uint64_t middle = low + (high - low) / 2;
		if (nodes[middle].serial < serial)
			low = middle + 1;
		else
			high = middle;
	}
	ASSERT(nodes[low].serial == serial);
	return system->first_node + (uint32_t)low;
}

static struct bond bond_of(const struct particle_links *self, const struct linked_system *system,
			   uint32_t row)
{
	const struct link_table *table = &self->motion->dynamics->tables->link;
	double h = step_of(self, system->row);
	const struct tables *tables = self->motion->dynamics->tables;
	struct bond bond = { .kind = table->kind[row],
			     .ends = (uint8_t)particle_link_ends(tables, table->kind[row]),
			     .rest = table->rest[row],
			     .softness = table->compliance[row] / (h * h) };
	double mass_inv = 0;
	for (uint32_t k = 0; k < bond.ends; k++) {
		bond.node[k] = particle_links_node(self, system, table->serial[row][k]);
		mass_inv += self->nodes.items[bond.node[k]].mass_inv;
	}
	if (mass_inv > 0 && bond.kind != LINK_VOLUME)
		bond.gamma = 2 * table->damping_ratio[row] *
			     scalar_sqrt(table->compliance[row] / mass_inv) / h;
	return bond;
}

struct linked_system *particle_links_gather(struct particle_links *self, uint32_t row)
{
	const struct tables *tables = self->motion->dynamics->tables;
	struct linked_system *system = &self->systems[self->system_count++];
	*system = (struct linked_system){ .row = row };
	gather_nodes(self, system);
	for (uint32_t i = 0; i < tables->pin.count; i++)
		if (tables->pin.system[i] == row) {
			uint32_t node = particle_links_node(self, system, tables->pin.serial[i]);
			self->nodes.items[node].mass_inv = 0;
			self->nodes.items[node].v = vec3_zero();
		}
	system->first_bond = self->bonds.count;
	for (uint32_t i = 0; i < tables->link.count; i++)
		if (tables->link.system[i] == row) {
			self->links.items[self->bonds.count] = i;
			self->bonds.items[self->bonds.count++] = bond_of(self, system, i);
		}
	system->bonds = self->bonds.count - system->first_bond;
	return system;
}

/* ---- sub-steps ----------------------------------------------------------------------------------- */

/* Velocities change with places, not by their differences, so that momentum is kept to the rounding
 * of velocities; `rate` is 1/h. */
static inline void push_node(struct link_node *node, vec3 along, double push, double rate)
{
	node->x = vec3_mul_add(node->x, along, node->mass_inv * push);
	node->v = vec3_mul_add(node->v, along, node->mass_inv * push * rate);
}

static void solve_distance(struct link_node *nodes, struct bond *bond, double rate)
{
	struct link_node *a = &nodes[bond->node[0]], *b = &nodes[bond->node[1]];
	double length;
	ASSERT(bond->kind != LINK_VOLUME && bond->node[0] != bond->node[1]);
	vec3 n = vec3_normalize_length(vec3_sub(a->x, b->x), &length);
	double error = length - bond->rest, mass_inv = a->mass_inv + b->mass_inv;
	if (!(length > 0) || !(mass_inv > 0) || (bond->kind == LINK_ROPE && error <= 0))
		return;
	if (bond->gamma > 0)
		error += bond->gamma * vec3_dot(n, vec3_sub(vec3_sub(a->x, a->before),
							    vec3_sub(b->x, b->before)));
	double push = -error / ((1 + bond->gamma) * mass_inv + bond->softness);
	bond->pull -= push * rate;
	push_node(a, n, push, rate);
	push_node(b, n, -push, rate);
}

/* The area of a triangle in the plane. */
static void solve_area(struct link_node *nodes, const struct bond *bond, double rate)
{
	vec3 at[LINK_ENDS] = { 0 }, slope[3];
	double sum = bond->softness;
	ASSERT(bond->kind == LINK_VOLUME && bond->ends == 3);
	for (uint32_t k = 0; k < 3; k++)
		at[k] = nodes[bond->node[k]].x;
	for (uint32_t k = 0; k < 3; k++) {
		vec3 side = vec3_sub(at[(k + 2) % 3], at[(k + 1) % 3]);
		slope[k] = vec3_make(-0.5 * side.y, 0.5 * side.x, 0);
		sum += nodes[bond->node[k]].mass_inv * vec3_length_squared(slope[k]);
	}
	if (!(sum > 0))
		return;
	double push = -(volume_of(at, 3) - bond->rest) / sum;
	for (uint32_t k = 0; k < 3; k++)
		push_node(&nodes[bond->node[k]], slope[k], push, rate);
}

static void solve_volume(struct link_node *nodes, const struct bond *bond, double rate)
{
	vec3 at[LINK_ENDS], slope[LINK_ENDS];
	double sum = bond->softness;
	ASSERT(bond->kind == LINK_VOLUME && sum >= 0);
	for (uint32_t k = 0; k < LINK_ENDS; k++)
		at[k] = nodes[bond->node[k]].x;
	vec3 a = vec3_sub(at[1], at[0]), b = vec3_sub(at[2], at[0]), c = vec3_sub(at[3], at[0]);
	slope[1] = vec3_scale(vec3_cross(b, c), 1.0 / 6);
	slope[2] = vec3_scale(vec3_cross(c, a), 1.0 / 6);
	slope[3] = vec3_scale(vec3_cross(a, b), 1.0 / 6);
	slope[0] = vec3_scale(vec3_add(vec3_add(slope[1], slope[2]), slope[3]), -1);
	for (uint32_t k = 0; k < LINK_ENDS; k++)
		sum += nodes[bond->node[k]].mass_inv * vec3_length_squared(slope[k]);
	if (!(sum > 0))
		return;
	double push = -(volume_of(at, LINK_ENDS) - bond->rest) / sum;
	for (uint32_t k = 0; k < LINK_ENDS; k++)
		push_node(&nodes[bond->node[k]], slope[k], push, rate);
}

void particle_links_predict(const struct particle_links *self, const struct linked_system *system,
			    double h)
{
	const struct particle_law *law = &self->motion->laws[system->row];
	ASSERT(h > 0);
	for (uint32_t i = 0; i < system->nodes; i++) {
		struct link_node *node = &self->nodes.items[system->first_node + i];
		vec3 a = law->acceleration;
		node->before = node->x;
		if (!(node->mass_inv > 0))
			continue;
		if (law->fields)
			a = vec3_add(a, particle_field_acceleration(
						self->motion, system->row,
						vec3_mul_add(node->x, node->v, 0.5 * h), node->v,
						1 / node->mass_inv));
		node->v = vec3_mul_add(vec3_scale(node->v, node->decay), a, node->coast * h);
		node->x = vec3_mul_add(node->x, node->v, h);
	}
}

void particle_links_correct(const struct particle_links *self, const struct linked_system *system,
			    double h)
{
	ASSERT(h > 0 && system->first_bond + system->bonds <= self->bonds.count);
	for (uint32_t i = 0; i < system->bonds; i++) {
		struct bond *bond = &self->bonds.items[system->first_bond + i];
		if (bond->ends == 3)
			solve_area(self->nodes.items, bond, 1 / h);
		else if (bond->kind == LINK_VOLUME)
			solve_volume(self->nodes.items, bond, 1 / h);
		else
			solve_distance(self->nodes.items, bond, 1 / h);
	}
}

static void move_system(struct particle_links *self, const struct linked_system *system)
{
	const struct tables *tables = self->motion->dynamics->tables;
	double h = step_of(self, system->row);
	particle_self_begin(self, system);
	particle_limit_begin(self, system);
	for (uint32_t step = 0; step < tables->system.link_substeps[system->row]; step++) {
		particle_links_predict(self, system, h);
		particle_links_correct(self, system, h);
		particle_limit_correct(self, system, h);
		particle_self_correct(self, system);
	}
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

static void measure_system(const struct particle_links *self, const struct linked_system *system)
{
	struct tables *tables = self->motion->dynamics->tables;
	double most = 0, volume = 0, rest = 0;
	for (uint32_t i = 0; i < system->bonds; i++) {
		const struct bond *bond = &self->bonds.items[system->first_bond + i];
		vec3 at[LINK_ENDS] = { 0 };
		double stretch = 0;
		for (uint32_t k = 0; k < bond->ends; k++)
			at[k] = tables->particle.position[self->nodes.items[bond->node[k]].row];
		if (bond->kind == LINK_VOLUME) {
			double size = volume_of(at, bond->ends);
			volume += bond->rest > 0 ? size : -size;
			rest += scalar_abs(bond->rest);
		} else if (bond->rest > 0) {
			stretch = vec3_distance(at[0], at[1]) / bond->rest - 1;
		}
		most = scalar_max(most, stretch);
		self->stretches.items[self->links.items[system->first_bond + i]] = stretch;
		self->pulls.items[self->links.items[system->first_bond + i]] =
			bond->pull / self->motion->dt;
	}
	tables->system.stretch[system->row] = most;
	tables->system.volume_error[system->row] = rest > 0 ? scalar_abs(volume / rest - 1) : 0;
}

static void measure_systems(uint32_t first, uint32_t last, uint32_t worker, void *context)
{
	UNUSED(worker);
	const struct particle_links *self = context;
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

void particle_links_settle(struct dynamics *self)
{
	struct particle_links *links = self->links;
	struct link_table *table = &self->tables->link;
	uint32_t kept = 0, count = table->count;
	ASSERT(links->bonds.count == count);
	parallel_run(self->parallel, links->system_count, 1, measure_systems, links);
	particle_self_settle(self);
	particle_meet_settle(self);
	particle_limit_settle(self);
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
			copy_row(self->tables, TABLE_LINK, kept++, row);
	}
	tables_truncate(self->tables, TABLE_LINK, kept);
}
