/* mesh_crossings.c: pairs of triangles of one surface that meet other than in shared corners.
 *
 * Candidates come from the hierarchy of a static mesh, one triangle's box at a time. Pairs that
 * share
 *   nothing    cross when they meet: intersect_triangle_triangle;
 *   a corner   cross when the side opposite to it, of one or the other, meets the other triangle;
 *   an edge    cross when they lie in one plane on the same side of it.
 * All three tests are exact for the doubles given. Corners are shared by number, so weld first.
 *
 * What goes wrong: n triangles can form n² pairs. The work is bounded by an average number of pairs
 * for each triangle; beyond it the search stops and reports that.
 */
#include "server/base/heap.h"
#include "server/engine/geometry/intersect_segment_triangle.h"
#include "server/engine/geometry/intersect_triangle_triangle.h"
#include "server/engine/geometry/mesh.h"
#include "server/engine/geometry/mesh_repair.h"
#include "server/engine/geometry/orient.h"

enum { PAIRS_PER_TRIANGLE = 256, PAIRS_SPARE = 1 << 16 };

struct shared_corners {
	uint32_t a[3], b[3]; /* corners, the shared ones first and in the same order */
	uint32_t shared;
};

static void sort_shared(const uint32_t a[3], const uint32_t b[3], struct shared_corners *out)
{
	bool used_a[3] = { false }, used_b[3] = { false };
	out->shared = 0;
	for (uint32_t i = 0; i < 3; i++)
		for (uint32_t k = 0; k < 3; k++)
			if (a[i] == b[k]) {
				out->a[out->shared] = out->b[out->shared] = a[i];
				out->shared++;
				used_a[i] = used_b[k] = true;
			}
	ASSERT(out->shared <= 3);
	for (uint32_t i = 0, na = out->shared, nb = out->shared; i < 3; i++) {
		if (!used_a[i])
			out->a[na++] = a[i];
		if (!used_b[i])
			out->b[nb++] = b[i];
	}
}

static bool side_meets(const vec3 *v, const uint32_t from[3], const uint32_t other[3])
{
	return intersect_segment_triangle(v[from[1]], v[from[2]], v[other[0]], v[other[1]],
					  v[other[2]], NULL) != SEGMENT_TRIANGLE_APART;
}

/* Two triangles with a common edge overlap when they lie in one plane with their far corners on one
 * side of the edge, seen along the first axis along which the first triangle has area. */
static bool is_folded(const vec3 *v, const struct shared_corners *m)
{
	ASSERT(m->shared == 2);
	vec3 p = v[m->a[0]], q = v[m->a[1]], a = v[m->a[2]], b = v[m->b[2]];
	if (orient_plane(p, q, a, b) != 0)
		return false;
	for (uint32_t axis = 0; axis < 3; axis++) {
		int side = orient_line(axis, p, q, a);
		if (side != 0)
			return side == orient_line(axis, p, q, b);
	}
	return true;
}

static bool triangles_cross(const vec3 *v, const uint32_t a[3], const uint32_t b[3])
{
	struct shared_corners m;
	sort_shared(a, b, &m);
	if (m.shared == 1)
		return side_meets(v, m.a, m.b) || side_meets(v, m.b, m.a);
	if (m.shared == 2)
		return is_folded(v, &m);
	if (m.shared == 3)
		return true;
	const vec3 first[3] = { v[a[0]], v[a[1]], v[a[2]] };
	const vec3 second[3] = { v[b[0]], v[b[1]], v[b[2]] };
	return intersect_triangle_triangle(first, second, NULL);
}

static bool search_pairs(struct mesh *mesh, uint32_t (*out)[2], uint32_t capacity, uint32_t *count)
{
	uint64_t left = (uint64_t)mesh->triangle_count * PAIRS_PER_TRIANGLE + PAIRS_SPARE;
	for (uint32_t i = 0; i < mesh->triangle_count; i++) {
		struct mesh_walk walk;
		uint32_t j;
		mesh_walk_init(&walk, mesh, mesh_triangle_aabb(mesh, i));
		while (mesh_walk_next(&walk, &j)) {
			if (left-- == 0)
				return false;
			if (j <= i || !triangles_cross(mesh->vertices, mesh->triangles[i],
						       mesh->triangles[j]))
				continue;
			if (*count < capacity) {
				out[*count][0] = i;
				out[*count][1] = j;
			}
			(*count)++;
		}
	}
	return true;
}

bool mesh_crossings(const vec3 *vertices, uint32_t vertex_count, const uint32_t (*triangles)[3],
		    uint32_t triangle_count, uint32_t (*out)[2], uint32_t capacity, uint32_t *count,
		    enum status *status)
{
	ASSERT(capacity == 0 || out != NULL);
	ASSERT(triangle_count > 0);
	struct mesh mesh = { .vertex_count = vertex_count,
			     .triangle_count = triangle_count,
			     .vertices = (vec3 *)vertices, /* not written to */
			     .triangles = (uint32_t(*)[3])triangles };
	*count = 0;
	mesh.order = heap_alloc(triangle_count * sizeof *mesh.order);
	mesh.nodes = heap_alloc(mesh_tree_nodes_max(triangle_count) * sizeof *mesh.nodes);
	void *scratch = heap_alloc(mesh_tree_scratch_bytes(triangle_count));
	bool all = false;
	*status = STATUS_NO_MEMORY;
	if (mesh.order != NULL && mesh.nodes != NULL && scratch != NULL) {
		mesh_tree_build(&mesh, scratch);
		all = search_pairs(&mesh, out, capacity, count);
		*status = STATUS_OK;
	}
	heap_free(scratch);
	heap_free(mesh.nodes);
	heap_free(mesh.order);
	return all;
}
