/* polyhedron.h: a closed solid of triangles (ch1-3 ): faces, outward normals, directed
 * edges and adjacency, each found in constant time.
 *
 * Only mesh_repair (mesh_repair.h) makes them, so these invariants hold:
 *   PH-1  every edge has two different faces; `left` runs from → to, `right` runs to → from;
 *   PH-2  corners run counter-clockwise seen from outside; a void's walls face into the void;
 *   PH-3  the faces around a vertex are one fan;
 *   PH-4  edges are numbered in the order in which a walk over the faces first meets them, and `left` is
 *         the face met first;
 *   PH-5  every face has area, and no two faces have the same corners.
 * It may touch or cross itself; the repair's report states that.
 */
#ifndef CAIRN_ENGINE_GEOMETRY_POLYHEDRON_H
#define CAIRN_ENGINE_GEOMETRY_POLYHEDRON_H

#include "server/engine/geometry/shape.h"

struct polyhedron_edge {
	uint32_t from, to;    /* vertices */
	uint32_t left, right; /* faces */
};

struct polyhedron {
	uint32_t vertex_count, face_count, edge_count; /* edge_count = 3/2 face_count */
	vec3 *vertices;
	vec3 *normals;	      /* of faces: unit, outward */
	uint32_t (*faces)[3]; /* vertices, counter-clockwise from outside */
	uint32_t (*sides)
		[3]; /* of face f, from corner k to k+1: edge << 1 | whether f is its right */
	struct polyhedron_edge *edges;
	uint32_t *vertex_corner; /* 3 f + k of one corner of each vertex */
	size_t memory_bytes;
};

/* Allocates a polyhedron in one block with undefined contents. Returned owned; NULL: out of memory. */
MUST_CHECK struct polyhedron *polyhedron_alloc(uint32_t vertices, uint32_t faces);
/* Completes a polyhedron whose vertices and faces are set. `twin` (3 a face) gives the corner 3 f +
 * k that starts the same edge on the other face. */
void polyhedron_finish(struct polyhedron *self, const uint32_t *twin);
/* Frees it; NULL is ignored. */
void polyhedron_destroy(struct polyhedron *self);

/* The face across the edge from corner k to k+1. */
static inline uint32_t polyhedron_neighbour(const struct polyhedron *self, uint32_t face,
					    uint32_t k)
{
	VALIDATE(face < self->face_count && k < 3);
	uint32_t side = self->sides[face][k];
	const struct polyhedron_edge *edge = &self->edges[side >> 1];
	return side & 1 ? edge->left : edge->right;
}

/* The next corner (3 f + k) around the same vertex, counter-clockwise seen from outside. */
uint32_t polyhedron_next_corner(const struct polyhedron *self, uint32_t corner);

/* Checks PH-1…PH-5 except crossings; `why` (may be NULL) is set to one sentence, or to NULL when
 * valid. */
MUST_CHECK bool polyhedron_is_valid(const struct polyhedron *self, const char **why);

/* Mass properties at unit density; all zeros when the volume is not positive. */
struct mass_properties mass_of_polyhedron(const struct polyhedron *self);

/* The frame of and .7: origin at the mass centre, axes principal, largest moment first. */
struct solid_frame {
	pose at;      /* frame → the solid's own axes */
	vec3 moments; /* of inertia at unit density, kg m² */
	double radius; /* m: of the sphere about the centre that contains the solid in every orientation */
};
/* The frame from mass properties and the vertices. */
struct solid_frame solid_frame_of(const struct mass_properties *mass, const vec3 *vertices,
				  uint32_t count);

#endif
