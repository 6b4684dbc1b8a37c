/* mesh_repair.c: a list of triangles becomes a closed solid, step by step.
 *
 *   weld       each vertex is mapped to the first one within the tolerance. With tolerance 0 by three
 *              stable sorts; else by a lattice twice as wide as the tolerance, in which a ball of that
 *              radius meets at most two cells an axis. Only vertices mapped to themselves are candidates,
 *              and they are farther apart than the tolerance, so nothing drifts and a cell holds few.
 *   drop       triangles that repeat a vertex; then, sorted by their three vertices, all but one of equal
 *              ones, and both of opposite ones.
 *   join       sorted by their two vertices, the sides of an edge are consecutive. Two: neighbours. One: a
 *              border; more: crowded; both are refused.
 *   orient     a search over neighbours from the lowest triangle of each shell reverses those that
 *              disagree. A contradiction means a one-sided surface: refused.
 *   outward    a shell of negative volume is reversed, unless an odd number of other shells winds round
 *              one of its vertices: then it is the wall of a void.
 *   number     the corners of one fan around a vertex become one vertex of the solid.
 *
 * The order of vertices and triangles is kept throughout, so that the result is a function of the
 * input and numbers in the report are those of the input.
 *
 * What goes wrong: holes and crowded edges cannot be repaired without inventing a surface. Removing
 * a triangle of three different collinear vertices would leave a slit, so it is refused. The
 * winding number, a sum of solid angles, is rounded to a whole number: for a vertex on another
 * shell's surface it may come out either way; the shells then touch and the crossings report it.
 */
#include "server/engine/geometry/mesh_repair.h"

#include "server/base/heap.h"
#include "server/base/sort.h"
#include "server/base/table.h"
#include "server/engine/math/trig.h"

#include <stdio.h>
#include <string.h>

/* The same limits as for a static mesh: below them a triangle's normal is rounding noise. */
#define HEIGHT_PER_EDGE 1e-9
#define HEIGHT_PER_COORDINATE 1e-12
/* Relative to the volume of a shell's box: below it a shell counts as flat. */
#define VOLUME_MIN 1e-12

#define NO_INDEX UINT32_MAX

struct repair_work {
	const struct mesh_soup *given;
	struct mesh_report *report;
	uint32_t *weld;	       /* of each given vertex: the first at its place */
	uint32_t (*corner)[3]; /* of each triangle left: welded vertices */
	uint32_t *origin;      /* of each triangle left: its number as given */
	uint32_t count;	       /* triangles left */
	uint32_t *
		twin; /* of corner 3t + k: the corner that starts the same edge on the other side */
	uint32_t *shell;  /* of each triangle */
	uint8_t *turned;  /* of each triangle */
	uint32_t *vertex; /* of corner 3t + k: its vertex of the solid */
	uint64_t *keys, *keys_other;
	uint32_t *values, *values_other;
};

static bool work_alloc(struct repair_work *work)
{
	size_t vertices = work->given->vertex_count, triangles = work->given->triangle_count;
	size_t items = MAX_OF(3 * triangles, vertices);
	uint8_t *block =
		heap_alloc(items * 24 + vertices * 4 + triangles * (12 + 4 + 12 + 4 + 12 + 1));
	if (block == NULL)
		return false;
	work->keys = (uint64_t *)block;
	work->keys_other = work->keys + items;
	work->values = (uint32_t *)(work->keys_other + items);
	work->values_other = work->values + items;
	work->weld = work->values_other + items;
	work->corner = (uint32_t(*)[3])(work->weld + vertices);
	work->origin = (uint32_t *)(work->corner + triangles);
	work->twin = work->origin + triangles;
	work->shell = work->twin + 3 * triangles;
	work->vertex = work->shell + triangles;
	work->turned = (uint8_t *)(work->vertex + 3 * triangles);
	return true;
}

static vec3 corner_point(const struct repair_work *work, uint32_t triangle, uint32_t k)
{
	VALIDATE(triangle < work->count && k < 3);
	return work->given->vertices[work->corner[triangle][k]];
}

/* ---- weld ------------------------------------------------------------------------------------- */

/* Welds equal vertices by three stable sorts. Adding 0 turns −0 into +0. */
static void weld_equal(struct repair_work *work)
{
	const vec3 *vertices = work->given->vertices;
	uint32_t count = work->given->vertex_count;
	for (uint32_t i = 0; i < count; i++)
		work->values[i] = i;
	for (uint32_t axis = 3; axis-- > 0;) {
		for (uint32_t i = 0; i < count; i++)
			work->keys[i] =
				sort_key_of_double(vec3_get(vertices[work->values[i]], axis) + 0.0);
		sort_keys(work->keys, work->values, work->keys_other, work->values_other, count);
	}
	for (uint32_t i = 0, first = 0; i < count; i++) {
		uint32_t vertex = work->values[i];
		if (i == 0 || !vec3_equal(vertices[vertex], vertices[first]))
			first = vertex;
		work->weld[vertex] = first;
	}
}

static uint64_t cell_key(const int64_t cell[3])
{
	uint64_t key = 0x9e3779b97f4a7c15u;
	for (int axis = 0; axis < 3; axis++) {
		key = (key ^ (uint64_t)cell[axis]) * 0xbf58476d1ce4e5b9u;
		key ^= key >> 29;
	}
	return key;
}

struct weld_lattice {
	const vec3 *vertices;
	struct table heads; /* cell → head of its chain */
	uint32_t *next;	    /* of each kept vertex: the next in its cell */
	double weld;
};

/* The first kept vertex within the tolerance of p, or NO_INDEX. */
static uint32_t lattice_find(const struct weld_lattice *lattice, vec3 p)
{
	ASSERT(lattice->weld >= MESH_WELD_MIN);
	int64_t low[3], high[3], cell[3];
	uint32_t found = NO_INDEX;
	for (uint32_t axis = 0; axis < 3; axis++) {
		low[axis] = (int64_t)scalar_floor((vec3_get(p, axis) - lattice->weld) /
						  (2 * lattice->weld));
		high[axis] = (int64_t)scalar_floor((vec3_get(p, axis) + lattice->weld) /
						   (2 * lattice->weld));
	}
	for (cell[0] = low[0]; cell[0] <= high[0]; cell[0]++)
		for (cell[1] = low[1]; cell[1] <= high[1]; cell[1]++)
			for (cell[2] = low[2]; cell[2] <= high[2]; cell[2]++) {
				uint32_t at = NO_INDEX;
				if (!table_find(&lattice->heads, cell_key(cell), &at))
					continue;
				for (; at != NO_INDEX; at = lattice->next[at])
					if (at < found && vec3_distance(lattice->vertices[at], p) <=
								  lattice->weld)
						found = at;
			}
	return found;
}

static enum status lattice_add(struct weld_lattice *lattice, uint32_t vertex)
{
	VALIDATE(lattice_find(lattice, lattice->vertices[vertex]) == NO_INDEX);
	int64_t cell[3];
	for (uint32_t axis = 0; axis < 3; axis++)
		cell[axis] = (int64_t)scalar_floor(vec3_get(lattice->vertices[vertex], axis) /
						   (2 * lattice->weld));
	uint32_t head = NO_INDEX;
	if (!table_find(&lattice->heads, cell_key(cell), &head))
		head = NO_INDEX;
	lattice->next[vertex] = head;
	return table_put(&lattice->heads, cell_key(cell), vertex);
}

static enum status weld_near(struct repair_work *work, double weld)
{
	ASSERT(weld > 0);
	struct weld_lattice lattice = { .vertices = work->given->vertices,
					.next = work->values,
					.weld = weld };
	enum status status = STATUS_OK;
	table_init(&lattice.heads);
	for (uint32_t i = 0; i < work->given->vertex_count && status == STATUS_OK; i++) {
		uint32_t found = lattice_find(&lattice, lattice.vertices[i]);
		work->weld[i] = found == NO_INDEX ? i : found;
		if (found == NO_INDEX)
			status = lattice_add(&lattice, i);
	}
	table_release(&lattice.heads);
	return status;
}

/* ---- drop ------------------------------------------------------------------------------------- */

static bool is_flat(vec3 a, vec3 b, vec3 c)
{
	double longest = scalar_sqrt(
		scalar_max(scalar_max(vec3_distance_squared(a, b), vec3_distance_squared(b, c)),
			   vec3_distance_squared(c, a)));
	double size = vec3_max_component(vec3_max(vec3_max(vec3_abs(a), vec3_abs(b)), vec3_abs(c)));
	double area = vec3_length(vec3_cross(vec3_sub(b, a), vec3_sub(c, a)));
	double least = scalar_max(HEIGHT_PER_EDGE * longest, HEIGHT_PER_COORDINATE * size);
	return !(longest > 0) || !(area / longest > least);
}

static void take_triangles(struct repair_work *work)
{
	const struct mesh_soup *given = work->given;
	ASSERT(work->count == 0);
	for (uint32_t t = 0; t < given->triangle_count; t++) {
		uint32_t *corner = work->corner[work->count];
		for (uint32_t k = 0; k < 3; k++)
			corner[k] = work->weld[given->triangles[t][k]];
		if (corner[0] == corner[1] || corner[1] == corner[2] || corner[2] == corner[0])
			work->report->triangles_collapsed++;
		else
			work->origin[work->count++] = t;
	}
}

/* The triangle's vertices in ascending order as one key; *even: whether the triangle runs in that
 * order. */
static uint64_t triangle_key(const uint32_t corner[3], bool *even)
{
	ASSERT(corner[0] != corner[1] && corner[1] != corner[2] && corner[2] != corner[0]);
	uint64_t a = corner[0], b = corner[1], c = corner[2];
	uint64_t low = MIN_OF(a, MIN_OF(b, c)), high = MAX_OF(a, MAX_OF(b, c));
	uint64_t middle = a + b + c - low - high;
	*even = (low == a && middle == b) || (low == b && middle == c) || (low == c && middle == a);
	return low << 42 | middle << 21 | high;
}

_Static_assert(SHAPE_MESH_VERTICES_MAX <= 1 << 21, "three vertex numbers fit 63 bits");

/* Of triangles with the same three vertices at most one is kept: the first of the more frequent
 * direction. */
static void drop_repeats(struct repair_work *work)
{
	bool even;
	uint8_t *drop = work->turned; /* not in use yet */
	memset(drop, 0, work->count);
	for (uint32_t t = 0; t < work->count; t++) {
		work->keys[t] = triangle_key(work->corner[t], &even);
		work->values[t] = t;
	}
	sort_keys(work->keys, work->values, work->keys_other, work->values_other, work->count);
	for (uint32_t i = 0, end; i < work->count; i = end) {
		uint32_t evens = 0, kept = NO_INDEX;
		for (end = i; end < work->count && work->keys[end] == work->keys[i]; end++) {
			triangle_key(work->corner[work->values[end]], &even);
			evens += even;
		}
		uint32_t odds = end - i - evens;
		for (uint32_t k = i; k < end && end - i > 1; k++) {
			uint32_t t = work->values[k];
			triangle_key(work->corner[t], &even);
			if (kept == NO_INDEX && evens != odds && even == (evens > odds))
				kept = t;
			drop[t] = kept != t;
		}
		uint32_t pairs = MIN_OF(evens, odds);
		work->report->triangles_cancelled += 2 * pairs;
		work->report->triangles_repeated += end - i - 2 * pairs - (evens != odds);
	}
	uint32_t left = 0;
	for (uint32_t t = 0; t < work->count; t++) {
		if (drop[t])
			continue;
		memmove(work->corner[left], work->corner[t], sizeof work->corner[t]);
		work->origin[left++] = work->origin[t];
	}
	ASSERT(left <= work->count);
	work->count = left;
}

static void find_flat(struct repair_work *work)
{
	struct mesh_report *report = work->report;
	for (uint32_t t = 0; t < work->count; t++)
		if (is_flat(corner_point(work, t, 0), corner_point(work, t, 1),
			    corner_point(work, t, 2))) {
			if (report->flat_triangles < MESH_REPORT_NAMED)
				report->flat[report->flat_triangles] = work->origin[t];
			report->flat_triangles++;
		}
}

/* ---- join ------------------------------------------------------------------------------------- */

static void name_edge(struct mesh_edge_name *names, uint32_t *count, uint64_t key,
		      uint32_t triangles)
{
	VALIDATE(triangles > 0);
	if (*count < MESH_REPORT_NAMED)
		names[*count] =
			(struct mesh_edge_name){ (uint32_t)(key >> 32), (uint32_t)key, triangles };
	(*count)++;
}

static void join_edges(struct repair_work *work)
{
	struct mesh_report *report = work->report;
	uint32_t sides = 3 * work->count;
	for (uint32_t s = 0; s < sides; s++) {
		uint64_t a = work->corner[s / 3][s % 3], b = work->corner[s / 3][(s % 3 + 1) % 3];
		work->keys[s] = MIN_OF(a, b) << 32 | MAX_OF(a, b);
		work->values[s] = s;
		work->twin[s] = NO_INDEX;
	}
	sort_keys(work->keys, work->values, work->keys_other, work->values_other, sides);
	for (uint32_t i = 0, end; i < sides; i = end) {
		for (end = i + 1; end < sides && work->keys[end] == work->keys[i]; end++)
			;
		if (end - i == 1)
			name_edge(report->border, &report->border_edges, work->keys[i], 1);
		if (end - i > 2)
			name_edge(report->crowded, &report->crowded_edges, work->keys[i], end - i);
		if (end - i != 2)
			continue;
		work->twin[work->values[i]] = work->values[i + 1];
		work->twin[work->values[i + 1]] = work->values[i];
	}
}

/* ---- orient ----------------------------------------------------------------------------------- */

/* Whether both sides of an edge run the same way, as given: then one triangle must be reversed. */
static bool same_way(const struct repair_work *work, uint32_t side)
{
	VALIDATE(work->twin[side] != NO_INDEX);
	uint32_t twin = work->twin[side];
	return work->corner[side / 3][side % 3] == work->corner[twin / 3][twin % 3];
}

static void orient(struct repair_work *work)
{
	struct mesh_report *report = work->report;
	uint32_t *queue = work->values;
	memset(work->shell, 0xff, work->count * sizeof *work->shell);
	for (uint32_t first = 0; first < work->count; first++) {
		if (work->shell[first] != NO_INDEX)
			continue;
		uint32_t head = 0, tail = 0;
		work->shell[first] = report->shells;
		work->turned[first] = 0;
		queue[tail++] = first;
		while (head < tail) {
			uint32_t t = queue[head++];
			for (uint32_t side = 3 * t; side < 3 * t + 3; side++) {
				if (work->twin[side] == NO_INDEX)
					continue;
				uint32_t other = work->twin[side] / 3;
				uint8_t turned = work->turned[t] ^ same_way(work, side);
				if (work->shell[other] == NO_INDEX) {
					work->shell[other] = report->shells;
					work->turned[other] = turned;
					queue[tail++] = other;
				} else if (work->turned[other] != turned && other > t) {
					uint64_t a = work->corner[t][side % 3];
					uint64_t b = work->corner[t][(side + 1 - 3 * t) % 3];
					name_edge(report->twisted, &report->twisted_edges,
						  a << 32 | b, 2);
				}
			}
		}
		report->shells++;
	}
}

/* ---- outward ---------------------------------------------------------------------------------- */

struct repair_shell {
	struct aabb box;
	double volume;	   /* m³, six times; as oriented so far */
	uint32_t triangle; /* the first */
	bool turn, inner;
};

static void triangle_points(const struct repair_work *work, uint32_t t, vec3 p[3])
{
	for (uint32_t k = 0; k < 3; k++)
		p[k] = corner_point(work, t, k);
	if (work->turned[t]) {
		vec3 kept = p[1];
		p[1] = p[2];
		p[2] = kept;
	}
}

static void measure_shells(const struct repair_work *work, struct repair_shell *shells)
{
	for (uint32_t s = 0; s < work->report->shells; s++)
		shells[s] = (struct repair_shell){ .box = aabb_empty(), .triangle = NO_INDEX };
	for (uint32_t t = 0; t < work->count; t++) {
		struct repair_shell *shell = &shells[work->shell[t]];
		vec3 p[3];
		triangle_points(work, t, p);
		if (shell->triangle == NO_INDEX)
			shell->triangle = t;
		vec3 base = corner_point(work, shell->triangle, 0);
		shell->volume += vec3_dot(vec3_sub(p[0], base),
					  vec3_cross(vec3_sub(p[1], base), vec3_sub(p[2], base)));
		for (uint32_t k = 0; k < 3; k++)
			shell->box = aabb_add_point(shell->box, p[k]);
	}
}

/* Half the solid angle of a triangle seen from p, in radians. */
static double half_solid_angle(vec3 p, const vec3 q[3])
{
	vec3 a = vec3_sub(q[0], p), b = vec3_sub(q[1], p), c = vec3_sub(q[2], p);
	double la = vec3_length(a), lb = vec3_length(b), lc = vec3_length(c);
	double volume = vec3_dot(a, vec3_cross(b, c));
	double rest =
		la * lb * lc + vec3_dot(a, b) * lc + vec3_dot(b, c) * la + vec3_dot(c, a) * lb;
	return volume == 0 && rest == 0 ? 0 : trig_atan2(volume, rest);
}

/* The number of other shells that wind round a point of shell `own`. */
static uint32_t shells_around(const struct repair_work *work, const struct repair_shell *shells,
			      uint32_t own, double *turns)
{
	ASSERT(own < work->report->shells);
	vec3 p = corner_point(work, shells[own].triangle, 0);
	uint32_t around = 0;
	for (uint32_t s = 0; s < work->report->shells; s++)
		turns[s] = 0;
	for (uint32_t t = 0; t < work->count; t++) {
		uint32_t s = work->shell[t];
		vec3 q[3];
		if (s == own || !aabb_contains_point(shells[s].box, p))
			continue;
		triangle_points(work, t, q);
		turns[s] += half_solid_angle(p, q);
	}
	/* One winding is 2π of half angles. */
	for (uint32_t s = 0; s < work->report->shells; s++)
		around += scalar_abs(turns[s]) > HALF_PI * 2;
	return around;
}

/* The winding test of an inward shell visits every triangle of the mesh. So only the first 64
 * inward shells get it; further ones are reversed without it. */
enum { INWARD_TESTED_MAX = 64 };

static enum status face_outward(struct repair_work *work)
{
	struct mesh_report *report = work->report;
	struct repair_shell *shells =
		heap_alloc(report->shells * (sizeof *shells + sizeof(double)));
	if (shells == NULL)
		return STATUS_NO_MEMORY;
	double *turns = (double *)(shells + report->shells);
	uint32_t tested = 0;
	ASSERT(report->shells > 0);
	measure_shells(work, shells);
	for (uint32_t s = 0; s < report->shells; s++) {
		vec3 size = vec3_sub(shells[s].box.max, shells[s].box.min);
		double least = VOLUME_MIN * size.x * size.y * size.z;
		if (!(scalar_abs(shells[s].volume) > 6 * least))
			report->flat_shells++;
		if (shells[s].volume >= 0)
			continue;
		shells[s].inner = tested++ < INWARD_TESTED_MAX &&
				  shells_around(work, shells, s, turns) % 2 == 1;
		shells[s].turn = !shells[s].inner;
		report->shells_turned += shells[s].turn;
		report->voids += shells[s].inner;
	}
	for (uint32_t t = 0; t < work->count; t++) {
		work->turned[t] ^= shells[work->shell[t]].turn;
		report->triangles_turned += work->turned[t];
	}
	heap_free(shells);
	return STATUS_OK;
}

/* ---- number ----------------------------------------------------------------------------------- */

#ifdef CAIRN_VALIDATE
static bool twins_are_mutual(const struct repair_work *work)
{
	for (uint32_t side = 0; side < 3 * work->count; side++)
		if (work->twin[side] >= 3 * work->count || work->twin[work->twin[side]] != side)
			return false;
	return true;
}
#endif

/* Reverses the marked triangles and their sides: side k runs from corner k to k + 1. */
static void turn_triangles(struct repair_work *work)
{
	VALIDATE(twins_are_mutual(work));
	for (uint32_t t = 0; t < work->count; t++) {
		if (!work->turned[t])
			continue;
		/* Corners 0 1 2 become 0 2 1, so sides 01 12 20 become 02 21 10. */
		uint32_t kept = work->corner[t][1], *twin = &work->twin[3 * t];
		work->corner[t][1] = work->corner[t][2];
		work->corner[t][2] = kept;
		uint32_t first = twin[0];
		twin[0] = twin[2];
		twin[2] = first;
	}
	/* References to a reversed triangle follow: sides 0 and 2 changed places. */
	for (uint32_t side = 0; side < 3 * work->count; side++) {
		uint32_t other = work->twin[side];
		if (work->turned[other / 3] && other % 3 != 1)
			work->twin[side] = other / 3 * 3 + (2 - other % 3);
	}
}

/* The next corner round the same vertex, as polyhedron_next_corner. */
static uint32_t next_corner(const struct repair_work *work, uint32_t corner)
{
	VALIDATE(corner < 3 * work->count);
	return work->twin[corner / 3 * 3 + (corner % 3 + 2) % 3];
}

/* Each fan becomes a vertex, in the order of the vertex it belongs to, then of its first corner.
 * Returns the count; keys[i] is then the welded vertex of vertex i. */
static uint32_t number_fans(struct repair_work *work)
{
	uint32_t corners = 3 * work->count, fans = 0, welded = 0, used = 0;
	memset(work->vertex, 0xff, corners * sizeof *work->vertex);
	for (uint32_t c = 0; c < corners; c++) {
		if (work->vertex[c] != NO_INDEX)
			continue;
		work->keys[fans] = work->corner[c / 3][c % 3];
		work->values[fans] = fans;
		for (uint32_t at = c; work->vertex[at] == NO_INDEX; at = next_corner(work, at))
			work->vertex[at] = fans;
		fans++;
	}
	sort_keys(work->keys, work->values, work->keys_other, work->values_other, fans);
	uint32_t *number = work->values_other;
	for (uint32_t i = 0; i < fans; i++) {
		number[work->values[i]] = i;
		used += i == 0 || work->keys[i] != work->keys[i - 1];
	}
	for (uint32_t c = 0; c < corners; c++)
		work->vertex[c] = number[work->vertex[c]];
	for (uint32_t v = 0; v < work->given->vertex_count; v++)
		welded += work->weld[v] != v;
	work->report->vertices_welded = welded;
	work->report->vertices_unused = work->given->vertex_count - welded - used;
	work->report->vertices_split = fans - used;
	ASSERT(used <= fans && fans <= corners);
	ASSERT(welded + used <= work->given->vertex_count);
	return fans;
}

static enum status number_solid(struct repair_work *work, struct polyhedron **out)
{
	ASSERT(work->count > 0 && work->report->closed);
	turn_triangles(work);
	uint32_t vertices = number_fans(work);
	struct polyhedron *solid = polyhedron_alloc(vertices, work->count);
	if (solid == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t v = 0; v < vertices; v++)
		solid->vertices[v] = work->given->vertices[work->keys[v]];
	for (uint32_t c = 0; c < 3 * work->count; c++)
		solid->faces[c / 3][c % 3] = work->vertex[c];
	polyhedron_finish(solid, work->twin);
	*out = solid;
	return STATUS_OK;
}

/* ---- texts ------------------------------------------------------------------------------------ */

static void edges_text(const struct mesh_edge_name *names, uint32_t count, char *text, size_t bytes)
{
	size_t used = 0;
	text[0] = '\0';
	for (uint32_t i = 0; i < MIN_OF(count, 4u) && used < bytes; i++)
		used += (size_t)snprintf(text + used, bytes - used, "%s%u-%u", i ? ", " : "",
					 names[i].from, names[i].to);
	if (count > 4 && used < bytes)
		snprintf(text + used, bytes - used, ", …");
}

static enum status refuse_mesh(const struct mesh_report *report, struct reason *why)
{
	char edges[80];
	if (report->flat_triangles > 0)
		return reason_set(why, STATUS_DEGENERATE, report->flat[0], "triangles",
				  "%u triangles have no area: %u first", report->flat_triangles,
				  report->flat[0]);
	if (report->border_edges > 0) {
		edges_text(report->border, report->border_edges, edges, sizeof edges);
		return reason_set(why, STATUS_DEGENERATE, -1, "edges",
				  "not closed: %u edges have one triangle: %s",
				  report->border_edges, edges);
	}
	if (report->crowded_edges > 0) {
		edges_text(report->crowded, report->crowded_edges, edges, sizeof edges);
		return reason_set(why, STATUS_DEGENERATE, -1, "edges",
				  "%u edges have three triangles or more: %s",
				  report->crowded_edges, edges);
	}
	if (report->twisted_edges > 0) {
		edges_text(report->twisted, report->twisted_edges, edges, sizeof edges);
		return reason_set(why, STATUS_DEGENERATE, -1, "edges",
				  "one-sided: at %u edges the triangles cannot agree: %s",
				  report->twisted_edges, edges);
	}
	if (report->flat_shells > 0)
		return reason_set(why, STATUS_DEGENERATE, -1, "triangles",
				  "%u of %u shells have no volume", report->flat_shells,
				  report->shells);
	return reason_set(why, STATUS_DEGENERATE, -1, "triangles", "no triangle is left");
}

bool mesh_report_line(const struct mesh_report *report, uint32_t i, char *text, size_t bytes)
{
	const struct {
		uint32_t count;
		const char *text;
	} lines[] = {
		{ report->vertices_welded, "vertices welded to an earlier one" },
		{ report->vertices_unused, "unused vertices removed" },
		{ report->vertices_split, "vertices split where two fans met" },
		{ report->triangles_collapsed, "triangles removed that repeated a vertex" },
		{ report->triangles_repeated, "repeated triangles removed" },
		{ report->triangles_cancelled, "back-to-back triangles removed" },
		{ report->triangles_turned, "triangles reversed" },
		{ report->shells_turned, "shells reversed that faced inwards" },
		{ report->crossings, "pairs of triangles cross" },
		{ report->border_edges, "edges have one triangle" },
		{ report->crowded_edges, "edges have three triangles or more" },
		{ report->twisted_edges, "edges of a one-sided surface" },
		{ report->flat_triangles, "triangles have no area" },
		{ report->flat_shells, "shells have no volume" },
	};
	for (uint32_t k = 0; k < COUNT_OF(lines); k++)
		if (lines[k].count > 0 && i-- == 0) {
			snprintf(text, bytes, "%u %s", lines[k].count, lines[k].text);
			return true;
		}
	return false;
}

/* ---- the repair ------------------------------------------------------------------------------- */

static bool is_refused(const struct mesh_report *report)
{
	return report->border_edges + report->crowded_edges + report->twisted_edges > 0 ||
	       report->flat_triangles + report->flat_shells > 0 || report->shells == 0;
}

static enum status find_crossings(struct repair_work *work, struct mesh_report *report)
{
	enum status status;
	uint32_t pairs[MESH_REPORT_NAMED][2];
	report->crossings_all =
		mesh_crossings(work->given->vertices, work->given->vertex_count,
			       (const uint32_t(*)[3])work->corner, work->count, pairs,
			       MESH_REPORT_NAMED, &report->crossings, &status);
	for (uint32_t i = 0; i < MIN_OF(report->crossings, (uint32_t)MESH_REPORT_NAMED); i++)
		for (uint32_t k = 0; k < 2; k++)
			report->crossing[i][k] = work->origin[pairs[i][k]];
	return status;
}

static enum status repair_steps(struct repair_work *work, const struct mesh_repair_options *options,
				struct polyhedron **out, struct reason *why)
{
	struct mesh_report *report = work->report;
	enum status status = STATUS_OK;
	if (options->weld > 0)
		status = weld_near(work, options->weld);
	else
		weld_equal(work);
	if (status != STATUS_OK)
		return status;
	take_triangles(work);
	drop_repeats(work);
	find_flat(work);
	join_edges(work);
	orient(work);
	if (is_refused(report))
		return refuse_mesh(report, why);
	status = face_outward(work);
	if (status != STATUS_OK)
		return status;
	if (is_refused(report))
		return refuse_mesh(report, why);
	report->closed = true;
	if (options->crossings)
		status = find_crossings(work, report);
	return status == STATUS_OK ? number_solid(work, out) : status;
}

enum status mesh_repair(const struct mesh_soup *given, const struct mesh_repair_options *options,
			struct polyhedron **out, struct mesh_report *report, struct reason *why)
{
	*report = (struct mesh_report){ .vertices = given->vertex_count,
					.triangles = given->triangle_count };
	if (options->weld != 0 && !(options->weld >= MESH_WELD_MIN))
		return reason_set(why, STATUS_RANGE, -1, "weld",
				  "weld %.10g is neither 0 nor at least %g", options->weld,
				  MESH_WELD_MIN);
	struct repair_work work = { .given = given, .report = report };
	enum status status = STATUS_NO_MEMORY;
	if (work_alloc(&work))
		status = repair_steps(&work, options, out, why);
	heap_free(work.keys);
	if (status == STATUS_NO_MEMORY)
		return reason_set(why, status, -1, "mesh", "out of memory");
	return status;
}
