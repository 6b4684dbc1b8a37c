/* minkowski.c: the sum of two convex polyhedra by their Gauss maps.
 *
 * On the sphere of directions a face is a point (its normal), an edge the arc between its two
 * faces, a vertex the region between arcs. The map of the sum is the overlay of both maps. So each
 * face of the sum, with normal n, is the sum of the features of A and B farthest along n:
 *   face + vertex, face + edge, face + face    for n a normal of A or B
 *   edge + edge                                where two arcs cross: n is their product
 * The sum of two convex polygons in a plane (an edge has two sides, a vertex none) is their edges
 * merged by angle; edges of one direction become one.
 *
 * A vertex of the sum is identified by its two summands. Adjacent faces use the same pairs, so they
 * are joined without comparing positions; hull_finish finds the twins.
 *
 * What goes wrong: whether an edge is parallel to a face is decided by a tolerance, once for each
 * pair of an edge and a normal, and neighbours may decide differently where a polyhedron is nearly
 * flat. Then the loops do not close, and the hull of all sums of vertices is taken, which the
 * report states.
 */
#include "server/engine/geometry/minkowski.h"

#include "server/base/array.h"
#include "server/base/sort.h"

/* A feature of a hull: its vertices in order about the normal. */
struct hull_feature {
	uint32_t count; /* 1: a vertex, 2: an edge, more: a face */
	uint32_t *vertex;
};

struct minkowski_build {
	const struct hull *a, *b;
	ARRAY_OF(uint64_t) corners; /* of all loops: a's vertex << 32 | b's */
	ARRAY_OF(uint32_t) first;   /* of each loop */
	ARRAY_OF(uint64_t) keys, scratch;
	struct hull_feature part[2]; /* of a and b; room for the largest */
	uint8_t *done;		     /* of b's faces: already summed with a face of a */
	struct minkowski_report report;
};

static vec3 edge_vector(const struct hull *hull, uint32_t h)
{
	return vec3_sub(hull->vertices[hull->edges[hull->edges[h].twin].origin],
			hull->vertices[hull->edges[h].origin]);
}

static bool is_parallel(const struct hull *hull, uint32_t h, vec3 normal)
{
	vec3 edge = edge_vector(hull, h);
	double height = scalar_abs(vec3_dot(edge, normal));
	return height <= MINKOWSKI_PARALLEL * vec3_length(edge);
}

/* ---- support features -------------------------------------------------------------------------- */

static uint32_t farthest_vertex(const struct hull *hull, vec3 normal)
{
	uint32_t best = 0;
	double most = -SCALAR_MAX;
	for (uint32_t v = 0; v < hull->vertex_count; v++) {
		double at = vec3_dot(hull->vertices[v], normal);
		if (at > most) {
			most = at;
			best = v;
		}
	}
	return best;
}

static bool face_is_flat(const struct hull *hull, uint32_t face, vec3 normal)
{
	uint32_t h = hull->faces[face].edge;
	for (uint32_t k = 0; k < hull->faces[face].edge_count; k++, h = hull->edges[h].next)
		if (!is_parallel(hull, h, normal))
			return false;
	return vec3_dot(hull->faces[face].normal, normal) > 0;
}

static void take_face(const struct hull *hull, uint32_t face, struct hull_feature *out)
{
	VALIDATE(face < hull->face_count);
	uint32_t h = hull->faces[face].edge;
	out->count = 0;
	for (uint32_t k = 0; k < hull->faces[face].edge_count; k++, h = hull->edges[h].next)
		out->vertex[out->count++] = hull->edges[h].origin;
}

/* The feature of `hull` farthest along the normal: the farthest vertex joined with its parallel
 * edges, that is a face, an edge, or the vertex itself. Returns the face or UINT32_MAX. */
static uint32_t take_farthest(const struct hull *hull, vec3 normal, struct hull_feature *out)
{
	uint32_t v = farthest_vertex(hull, normal), edge = UINT32_MAX, h = hull->vertex_edge[v],
		 first = h;
	do {
		if (is_parallel(hull, h, normal)) {
			if (face_is_flat(hull, hull->edges[h].face, normal)) {
				take_face(hull, hull->edges[h].face, out);
				return hull->edges[h].face;
			}
			edge = h;
		}
		h = hull->edges[hull->edges[h].twin].next;
	} while (h != first);
	out->count = 1;
	out->vertex[0] = v;
	if (edge != UINT32_MAX)
		out->vertex[out->count++] = hull->edges[hull->edges[edge].twin].origin;
	return UINT32_MAX;
}

/* ---- adding polygons -------------------------------------------------------------------------- */

static vec3 side_of(const struct hull *hull, const struct hull_feature *polygon, uint32_t i)
{
	VALIDATE(polygon->count > 0);
	uint32_t count = polygon->count;
	return vec3_sub(hull->vertices[polygon->vertex[(i + 1) % count]],
			hull->vertices[polygon->vertex[i % count]]);
}

/* The vertex of b's feature farthest along a direction in the plane; *clear: by a margin. */
static uint32_t start_of(const struct minkowski_build *sum, vec3 direction, bool *clear)
{
	ASSERT(sum->part[1].count > 0);
	const struct hull_feature *part = &sum->part[1];
	uint32_t best = 0;
	double most = -SCALAR_MAX, second = -SCALAR_MAX, length = 0;
	for (uint32_t i = 0; i < part->count; i++) {
		double at = vec3_dot(sum->b->vertices[part->vertex[i]], direction);
		if (at > most) {
			second = most;
			most = at;
			best = i;
		} else {
			second = scalar_max(second, at);
		}
		length = scalar_max(length, vec3_length(side_of(sum->b, part, i)));
	}
	*clear = part->count == 1 || most - second > 1e-3 * length;
	return best;
}

/* Corners of both features to start from: extreme along one direction, by a margin. The direction
 * lies between the outward normals of two adjacent sides of a's feature. */
static void find_start(const struct minkowski_build *sum, vec3 normal, uint32_t *i, uint32_t *j)
{
	ASSERT(sum->part[0].count >= 2);
	static const double SHARES[5] = { 0.5, 0.3, 0.7, 0.15, 0.85 };
	const struct hull_feature *part = &sum->part[0];
	for (uint32_t k = 0; k < 5 * part->count; k++) {
		bool clear;
		double share = SHARES[k / part->count];
		*i = k % part->count;
		vec3 before = side_of(sum->a, part, *i + part->count - 1);
		vec3 out = vec3_normalize(vec3_cross(before, normal));
		vec3 next = vec3_normalize(vec3_cross(side_of(sum->a, part, *i), normal));
		/* At the end of an edge the two sides are opposite: the direction between them is
		 * straight on. */
		if (part->count == 2)
			out = vec3_mul_add(vec3_scale(out, 1 - 2 * share), vec3_normalize(before),
					   1);
		else
			out = vec3_add(vec3_scale(out, 1 - share), vec3_scale(next, share));
		*j = start_of(sum, out, &clear);
		if (clear)
			return;
	}
}

static enum status begin_loop(struct minkowski_build *sum)
{
	enum status status = ARRAY_RESERVE(&sum->first, (uint64_t)sum->first.count + 1);
	if (status == STATUS_OK)
		sum->first.items[sum->first.count++] = sum->corners.count;
	return status;
}

static enum status add_corner(struct minkowski_build *sum, uint32_t of_a, uint32_t of_b)
{
	VALIDATE(of_a < sum->a->vertex_count && of_b < sum->b->vertex_count);
	enum status status = ARRAY_RESERVE(&sum->corners, (uint64_t)sum->corners.count + 1);
	if (status == STATUS_OK)
		sum->corners.items[sum->corners.count++] = (uint64_t)of_a << 32 | of_b;
	return status;
}

/* Merges the sides of both features by angle. a's feature has at least two corners. */
static enum status add_parts(struct minkowski_build *sum, vec3 normal)
{
	const struct hull_feature *p = &sum->part[0], *q = &sum->part[1];
	uint32_t i = 0, j = 0, left_p = p->count, left_q = q->count > 1 ? q->count : 0;
	find_start(sum, normal, &i, &j);
	enum status status = begin_loop(sum);
	while (left_p + left_q > 0 && status == STATUS_OK) {
		status = add_corner(sum, p->vertex[i % p->count], q->vertex[j % q->count]);
		bool of_p = left_p > 0, of_q = left_q > 0;
		if (of_p && of_q) {
			vec3 one = vec3_normalize(side_of(sum->a, p, i));
			vec3 other = vec3_normalize(side_of(sum->b, q, j));
			double turn = vec3_dot(vec3_cross(one, other), normal);
			bool parallel =
				scalar_abs(turn) <= MINKOWSKI_PARALLEL && vec3_dot(one, other) > 0;
			of_p = parallel || turn > 0;
			of_q = parallel || turn <= 0;
		}
		i += of_p;
		left_p -= of_p;
		j += of_q;
		left_q -= of_q;
	}
	return status;
}

/* ---- faces ------------------------------------------------------------------------------------ */

static enum status faces_of_a(struct minkowski_build *sum)
{
	enum status status = STATUS_OK;
	for (uint32_t f = 0; f < sum->a->face_count && status == STATUS_OK; f++) {
		vec3 normal = sum->a->faces[f].normal;
		take_face(sum->a, f, &sum->part[0]);
		uint32_t other = take_farthest(sum->b, normal, &sum->part[1]);
		if (other != UINT32_MAX)
			sum->done[other] = 1;
		status = add_parts(sum, normal);
		sum->report.from_faces++;
	}
	return status;
}

/* With the roles exchanged, so that the feature with corners comes first. */
static enum status faces_of_b(struct minkowski_build *sum)
{
	enum status status = STATUS_OK;
	for (uint32_t f = 0; f < sum->b->face_count && status == STATUS_OK; f++) {
		if (sum->done[f])
			continue;
		vec3 normal = sum->b->faces[f].normal;
		struct minkowski_build turned = *sum;
		turned.a = sum->b;
		turned.b = sum->a;
		uint32_t from = turned.corners.count;
		take_face(turned.a, f, &turned.part[0]);
		take_farthest(turned.b, normal, &turned.part[1]);
		status = add_parts(&turned, normal);
		for (uint32_t i = from; i < turned.corners.count; i++)
			turned.corners.items[i] =
				turned.corners.items[i] >> 32 | turned.corners.items[i] << 32;
		turned.a = sum->a;
		turned.b = sum->b;
		*sum = turned;
		sum->report.from_faces++;
	}
	return status;
}

/* Whether the arcs of two edges cross away from their ends (which are face normals). Half-edge h
 * has its face on the left, so the normals of its face and its twin's, in this order, turn about
 * it. */
static bool arcs_cross(const struct hull *a, uint32_t ha, vec3 of_a, const struct hull *b,
		       uint32_t hb, vec3 of_b)
{
	VALIDATE(ha < a->edge_count && hb < b->edge_count);
	vec3 b1 = b->faces[b->edges[hb].face].normal;
	vec3 b2 = b->faces[b->edges[b->edges[hb].twin].face].normal;
	double s1 = vec3_dot(b1, of_a), s2 = vec3_dot(b2, of_a);
	if (!(scalar_abs(s1) > MINKOWSKI_PARALLEL && scalar_abs(s2) > MINKOWSKI_PARALLEL) ||
	    s1 * s2 > 0)
		return false;
	vec3 a1 = a->faces[a->edges[ha].face].normal;
	vec3 a2 = a->faces[a->edges[a->edges[ha].twin].face].normal;
	double t1 = vec3_dot(a1, of_b), t2 = vec3_dot(a2, of_b);
	if (!(scalar_abs(t1) > MINKOWSKI_PARALLEL && scalar_abs(t2) > MINKOWSKI_PARALLEL) ||
	    t1 * t2 > 0)
		return false;
	/* The great circles cross at two antipodal points: both arcs must contain the same one. */
	return s1 * t2 > 0;
}

static enum status add_edges(struct minkowski_build *sum, uint32_t ha, uint32_t hb)
{
	VALIDATE(ha < sum->a->edge_count && hb < sum->b->edge_count);
	const struct half_edge *ea = sum->a->edges, *eb = sum->b->edges;
	uint32_t a0 = ea[ha].origin, a1 = ea[ea[ha].twin].origin;
	uint32_t b0 = eb[hb].origin, b1 = eb[eb[hb].twin].origin;
	vec3 normal = vec3_cross(edge_vector(sum->a, ha), edge_vector(sum->b, hb));
	vec3 n1 = sum->a->faces[ea[ha].face].normal;
	vec3 n2 = sum->a->faces[ea[ea[ha].twin].face].normal;
	/* The normal of the new face lies between the normals of both faces of a; if it points the
	 * other way, the product has the opposite order. */
	bool outwards = vec3_dot(normal, vec3_add(n1, n2)) > 0;
	enum status status = begin_loop(sum);
	if (status == STATUS_OK)
		status = add_corner(sum, a0, b0);
	if (status == STATUS_OK)
		status = outwards ? add_corner(sum, a1, b0) : add_corner(sum, a0, b1);
	if (status == STATUS_OK)
		status = add_corner(sum, a1, b1);
	if (status == STATUS_OK)
		status = outwards ? add_corner(sum, a0, b1) : add_corner(sum, a1, b0);
	sum->report.from_edges++;
	return status;
}

/* The directions of b's edges, computed once for all edges of a. Returned owned; NULL: out of
 * memory. */
static vec3 *edge_directions(const struct hull *hull)
{
	vec3 *out = heap_alloc(hull->edge_count * sizeof *out);
	for (uint32_t h = 0; h < hull->edge_count && out != NULL; h++)
		out[h] = vec3_normalize(edge_vector(hull, h));
	return out;
}

static enum status faces_of_edges(struct minkowski_build *sum)
{
	vec3 *of_b = edge_directions(sum->b);
	enum status status = of_b != NULL ? STATUS_OK : STATUS_NO_MEMORY;
	for (uint32_t ha = 0; ha < sum->a->edge_count && status == STATUS_OK; ha++) {
		if (sum->a->edges[ha].twin < ha)
			continue;
		vec3 of_a = vec3_normalize(edge_vector(sum->a, ha));
		for (uint32_t hb = 0; hb < sum->b->edge_count && status == STATUS_OK; hb++)
			if (sum->b->edges[hb].twin > hb &&
			    arcs_cross(sum->a, ha, of_a, sum->b, hb, of_b[hb]))
				status = add_edges(sum, ha, hb);
	}
	heap_free(of_b);
	return status;
}

/* ---- assembly --------------------------------------------------------------------------------- */

static uint32_t find_key(const struct minkowski_build *sum, uint64_t key)
{
	ASSERT(sum->keys.count > 0);
	uint32_t low = 0, high = sum->keys.count;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (sum->keys.items[middle] <= key)
			low = middle;
		else
			high = middle;
	}
	VALIDATE(sum->keys.items[low] == key);
	return low;
}

/* Numbers the vertices in ascending order of their pairs. */
static enum status number_vertices(struct minkowski_build *sum)
{
	uint32_t count = sum->corners.count, kept = 0;
	enum status status = ARRAY_RESERVE(&sum->keys, count);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&sum->scratch, count);
	if (status != STATUS_OK)
		return status;
	memcpy(sum->keys.items, sum->corners.items, count * sizeof *sum->keys.items);
	sort_keys(sum->keys.items, NULL, sum->scratch.items, NULL, count);
	for (uint32_t i = 0; i < count; i++)
		if (i == 0 || sum->keys.items[i] != sum->keys.items[kept - 1])
			sum->keys.items[kept++] = sum->keys.items[i];
	ASSERT(kept <= count);
	sum->keys.count = kept;
	return STATUS_OK;
}

/* The position of a vertex of the sum, from its key. */
static vec3 vertex_from_key(const struct minkowski_build *sum, uint64_t key)
{
	return vec3_add(sum->a->vertices[key >> 32], sum->b->vertices[(uint32_t)key]);
}

static void fill_hull(const struct minkowski_build *sum, struct hull *hull)
{
	ASSERT(hull->face_count == sum->first.count);
	ASSERT(hull->vertex_count == sum->keys.count);
	for (uint32_t v = 0; v < hull->vertex_count; v++)
		hull->vertices[v] = vertex_from_key(sum, sum->keys.items[v]);
	for (uint32_t f = 0; f < hull->face_count; f++) {
		uint32_t first = sum->first.items[f];
		uint32_t end =
			f + 1 < hull->face_count ? sum->first.items[f + 1] : hull->edge_count;
		hull->faces[f].edge = (uint16_t)first;
		hull->faces[f].edge_count = (uint16_t)(end - first);
		for (uint32_t h = first; h < end; h++) {
			hull->edges[h].origin = (uint16_t)find_key(sum, sum->corners.items[h]);
			hull->edges[h].face = (uint16_t)f;
			hull->edges[h].next = (uint16_t)(h + 1 < end ? h + 1 : first);
		}
	}
}

/* Assembles the hull. DEGENERATE: the loops do not bound a surface. */
static enum status assemble_hull(struct minkowski_build *sum, struct hull **out)
{
	enum status status = number_vertices(sum);
	if (status != STATUS_OK)
		return status;
	if (sum->keys.count > SHAPE_HULL_VERTICES_MAX ||
	    sum->corners.count > 6 * SHAPE_HULL_VERTICES_MAX - 12)
		return STATUS_TOO_LARGE;
	struct hull *hull = hull_alloc(sum->keys.count, sum->first.count, sum->corners.count);
	if (hull == NULL)
		return STATUS_NO_MEMORY;
	fill_hull(sum, hull);
	uint32_t edges = hull->edge_count / 2;
	if (!hull_finish(hull) || hull->vertex_count + hull->face_count != edges + 2) {
		heap_free(hull);
		return STATUS_DEGENERATE;
	}
	*out = hull;
	return STATUS_OK;
}

static enum status hull_of_all(const struct hull *a, const struct hull *b, struct hull **out)
{
	uint64_t count = (uint64_t)a->vertex_count * b->vertex_count;
	if (count > SHAPE_CLOUD_MAX)
		return STATUS_TOO_LARGE;
	vec3 *points = heap_alloc(count * sizeof *points);
	if (points == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t i = 0; i < a->vertex_count; i++)
		for (uint32_t j = 0; j < b->vertex_count; j++)
			points[i * b->vertex_count + j] = vec3_add(a->vertices[i], b->vertices[j]);
	enum status status = hull_of_points(points, (uint32_t)count, out, NULL, NULL);
	heap_free(points);
	return status;
}

static enum status overlay_maps(struct minkowski_build *sum, struct hull **out)
{
	size_t most = MAX_OF(sum->a->vertex_count, sum->b->vertex_count) * sizeof(uint32_t);
	sum->part[0].vertex = heap_alloc(most);
	sum->part[1].vertex = heap_alloc(most);
	sum->done = heap_alloc_zero(sum->b->face_count);
	if (sum->part[0].vertex == NULL || sum->part[1].vertex == NULL || sum->done == NULL)
		return STATUS_NO_MEMORY;
	enum status status = faces_of_a(sum);
	if (status == STATUS_OK)
		status = faces_of_b(sum);
	if (status == STATUS_OK)
		status = faces_of_edges(sum);
	return status == STATUS_OK ? assemble_hull(sum, out) : status;
}

enum status minkowski_sum(const struct hull *a, const struct hull *b, struct hull **out,
			  struct minkowski_report *report)
{
	ASSERT(a->vertex_count >= 4 && b->vertex_count >= 4);
	struct minkowski_build sum = { .a = a, .b = b };
	enum status status = overlay_maps(&sum, out);
	if (status == STATUS_DEGENERATE) {
		sum.report.by_hull = true;
		status = hull_of_all(a, b, out);
	}
	heap_free(sum.part[0].vertex);
	heap_free(sum.part[1].vertex);
	heap_free(sum.done);
	ARRAY_RELEASE(&sum.corners);
	ARRAY_RELEASE(&sum.first);
	ARRAY_RELEASE(&sum.keys);
	ARRAY_RELEASE(&sum.scratch);
	if (report != NULL)
		*report = sum.report;
	return status;
}

/* Mirroring reverses every loop: half-edge h then starts where it ended. */
enum status minkowski_placed(const struct hull *hull, const pose *at, bool mirrored,
			     struct hull **out)
{
	struct hull *copy = hull_alloc(hull->vertex_count, hull->face_count, hull->edge_count);
	if (copy == NULL)
		return STATUS_NO_MEMORY;
	for (uint32_t v = 0; v < hull->vertex_count; v++) {
		vec3 p = pose_point(*at, hull->vertices[v]);
		copy->vertices[v] = mirrored ? vec3_negate(p) : p;
	}
	for (uint32_t f = 0; f < hull->face_count; f++)
		copy->faces[f] = hull->faces[f];
	for (uint32_t h = 0; h < hull->edge_count; h++) {
		const struct half_edge *edge = &hull->edges[h];
		copy->edges[h].face = edge->face;
		if (mirrored) {
			copy->edges[h].origin = hull->edges[edge->twin].origin;
			copy->edges[edge->next].next = (uint16_t)h;
		} else {
			copy->edges[h].origin = edge->origin;
			copy->edges[h].next = edge->next;
		}
	}
	if (!hull_finish(copy)) { /* Impossible for a finished hull. */
		heap_free(copy);
		return STATUS_DEGENERATE;
	}
	*out = copy;
	return STATUS_OK;
}
