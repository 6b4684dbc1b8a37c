/* polyhedron.c: the structure of a closed triangle solid, its frame, and the check of its
 * invariants.
 *
 * Edges are numbered by a walk over the faces in their order, sides in order of corners: the face
 * at which an edge is first met is its left one and gives its direction. The walk needs
 * only the twins, which mesh_repair has already found.
 */
#include "server/engine/geometry/polyhedron.h"

#include "server/base/heap.h"
#include "server/engine/geometry/mass.h"
#include "server/engine/linalg/eigen3.h"

struct polyhedron *polyhedron_alloc(uint32_t vertices, uint32_t faces)
{
	ASSERT(faces % 2 == 0);
	uint64_t edges = (uint64_t)faces * 3 / 2;
	size_t bytes = sizeof(struct polyhedron) + (size_t)vertices * (sizeof(vec3) + 4) +
		       (size_t)faces * (sizeof(vec3) + 24) +
		       (size_t)edges * sizeof(struct polyhedron_edge);
	struct polyhedron *self = heap_alloc(bytes);
	if (self == NULL)
		return NULL;
	*self = (struct polyhedron){ .vertex_count = vertices,
				     .face_count = faces,
				     .edge_count = (uint32_t)edges,
				     .memory_bytes = bytes };
	/* Parts in falling order of alignment. */
	self->vertices = (vec3 *)(self + 1);
	self->normals = self->vertices + vertices;
	self->faces = (uint32_t(*)[3])(self->normals + faces);
	self->sides = self->faces + faces;
	self->edges = (struct polyhedron_edge *)(self->sides + faces);
	self->vertex_corner = (uint32_t *)(self->edges + edges);
	return self;
}

void polyhedron_destroy(struct polyhedron *self)
{
	heap_free(self);
}

static vec3 face_normal(const struct polyhedron *self, uint32_t face)
{
	VALIDATE(face < self->face_count);
	vec3 a = self->vertices[self->faces[face][0]];
	return vec3_normalize(vec3_cross(vec3_sub(self->vertices[self->faces[face][1]], a),
					 vec3_sub(self->vertices[self->faces[face][2]], a)));
}

void polyhedron_finish(struct polyhedron *self, const uint32_t *twin)
{
	uint32_t edges = 0;
	for (uint32_t corner = 0; corner < 3 * self->face_count; corner++) {
		uint32_t f = corner / 3, k = corner % 3, other = twin[corner];
		ASSERT(other < 3 * self->face_count && other != corner);
		self->vertex_corner[self->faces[f][k]] = corner;
		if (k == 0)
			self->normals[f] = face_normal(self, f);
		if (other < corner) /* Met before. */
			continue;
		self->edges[edges] = (struct polyhedron_edge){
			.from = self->faces[f][k],
			.to = self->faces[f][(k + 1) % 3],
			.left = f,
			.right = other / 3,
		};
		self->sides[f][k] = edges << 1;
		self->sides[other / 3][other % 3] = edges << 1 | 1;
		edges++;
	}
	ASSERT(edges == self->edge_count);
}

/* The corner at which the side across side k starts, on the neighbouring face. */
static uint32_t corner_across(const struct polyhedron *self, uint32_t face, uint32_t k)
{
	VALIDATE(face < self->face_count && k < 3);
	uint32_t other = polyhedron_neighbour(self, face, k);
	uint32_t mirrored = self->sides[face][k] ^ 1;
	for (uint32_t i = 0; i < 2; i++)
		if (self->sides[other][i] == mirrored)
			return 3 * other + i;
	return 3 * other + 2;
}

uint32_t polyhedron_next_corner(const struct polyhedron *self, uint32_t corner)
{
	VALIDATE(corner < 3 * self->face_count);
	/* Across the side that ends at the vertex; on the neighbour that side starts at the vertex. */
	return corner_across(self, corner / 3, (corner % 3 + 2) % 3);
}

/* ---- checking --------------------------------------------------------------------------------- */

static const char *check_edges(const struct polyhedron *self)
{
	uint32_t next = 0;
	for (uint32_t corner = 0; corner < 3 * self->face_count; corner++) {
		uint32_t f = corner / 3, k = corner % 3, side = self->sides[f][k];
		if (side >> 1 >= self->edge_count || self->faces[f][k] >= self->vertex_count)
			return "PH-1: a number is out of range";
		const struct polyhedron_edge *edge = &self->edges[side >> 1];
		bool right = side & 1;
		if ((right ? edge->right : edge->left) != f || edge->left == edge->right)
			return "PH-1: an edge has another face";
		if (self->faces[f][k] != (right ? edge->to : edge->from) ||
		    self->faces[f][(k + 1) % 3] != (right ? edge->from : edge->to))
			return "PH-1: an edge connects other vertices";
		if (!right && side >> 1 != next++)
			return "PH-4: edges are out of order";
		if (right && edge->left > f)
			return "PH-4: an edge's left face is not the first";
	}
	return next == self->edge_count ? NULL : "PH-4: edges are missing";
}

static const char *check_fans(const struct polyhedron *self)
{
	uint64_t corners = 0;
	for (uint32_t v = 0; v < self->vertex_count; v++) {
		uint32_t corner = self->vertex_corner[v];
		do {
			if (self->faces[corner / 3][corner % 3] != v ||
			    ++corners > 3ull * self->face_count)
				return "PH-3: a fan leaves its vertex";
			corner = polyhedron_next_corner(self, corner);
		} while (corner != self->vertex_corner[v]);
	}
	return corners == 3ull * self->face_count ? NULL : "PH-3: a vertex has two fans";
}

bool polyhedron_is_valid(const struct polyhedron *self, const char **why)
{
	const char *fault = check_edges(self);
	if (fault == NULL)
		fault = check_fans(self);
	for (uint32_t f = 0; fault == NULL && f < self->face_count; f++)
		if (!(scalar_abs(vec3_length(self->normals[f]) - 1) < 1e-12))
			fault = "PH-5: a face has no normal";
	if (fault == NULL && !(mass_of_polyhedron(self).volume > 0))
		fault = "PH-2: the volume is not positive";
	if (why != NULL)
		*why = fault;
	return fault == NULL;
}

/* ---- mass and frame --------------------------------------------------------------------------- */

struct mass_properties mass_of_polyhedron(const struct polyhedron *self)
{
	struct volume_integrals sum = { 0 };
	struct aabb box = aabb_empty();
	for (uint32_t v = 0; v < self->vertex_count; v++)
		box = aabb_add_point(box, self->vertices[v]);
	vec3 origin = aabb_centre(box);
	for (uint32_t f = 0; f < self->face_count; f++) {
		vec3 corner[3];
		for (uint32_t k = 0; k < 3; k++)
			corner[k] = vec3_sub(self->vertices[self->faces[f][k]], origin);
		mass_add_face(&sum, corner, 3);
	}
	return mass_of_integrals(&sum, origin);
}

struct solid_frame solid_frame_of(const struct mass_properties *mass, const vec3 *vertices,
				  uint32_t count)
{
	ASSERT(mass->volume > 0);
	struct eigen3 axes = eigen3_symmetric(mass->inertia);
	struct solid_frame frame = { .at = pose_make(mass->centre, quat_from_mat3(axes.vectors)),
				     .moments = axes.values };
	double square = 0;
	for (uint32_t v = 0; v < count; v++)
		square = scalar_max(square, vec3_distance_squared(vertices[v], mass->centre));
	frame.radius = scalar_sqrt(square);
	return frame;
}
