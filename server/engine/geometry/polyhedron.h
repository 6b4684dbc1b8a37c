/* polyhedron.h: a closed solid of triangles as the engine keeps it (ch1-3 ): faces, outward
 * normals, directed edges and who is whose neighbour, each found in constant time.
 *
 * Made by mesh_repair (mesh_repair.h) alone, so these hold:
 *   PH-1  every edge has two different faces; `left` runs from → to, `right` runs to → from;
 *   PH-2  corners run counter-clockwise seen from outside; a void's walls face into the void;
 *   PH-3  the faces around a vertex are one fan;
 *   PH-4  edges stand in the order in which a walk over the faces first meets them, and `left` is the
 *         face met first;
 *   PH-5  no face is without area, no two have the same corners.
 * It may touch or cross itself: that is in the report.
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

/* For makers: contents undefined, one block; returned owned. NULL: out of memory. */
struct polyhedron *polyhedron_alloc(uint32_t vertices, uint32_t faces) MUST_CHECK;
/* From vertices and faces to the rest. `twin` (3 a face) names the corner 3 f + k that begins the
 * same edge on the other face. */
void polyhedron_finish(struct polyhedron *self, const uint32_t *twin);
/* NULL is allowed. */
void polyhedron_destroy(struct polyhedron *self);

/* The face across the edge from corner k to k+1. */
static inline uint32_t polyhedron_neighbour(const struct polyhedron *self, uint32_t face,
					    uint32_t k)
{
	uint32_t side = self->sides[face][k];
	const struct polyhedron_edge *edge = &self->edges[side >> 1];
	return side & 1 ? edge->left : edge->right;
}

/* The next corner (3 f + k), counter-clockwise seen from outside, of the vertex that corner is of. */
uint32_t polyhedron_next_corner(const struct polyhedron *self, uint32_t corner);

/* PH-1…PH-5 but crossing; `why` (may be NULL) gets one sentence. */
MUST_CHECK bool polyhedron_is_valid(const struct polyhedron *self, const char **why);

struct mass_properties mass_of_polyhedron(const struct polyhedron *self);

/* The frame of and .7: origin at the mass centre, axes principal, largest moment first. */
struct solid_frame {
	pose at;       /* frame → the solid's own axes */
	vec3 moments;  /* of inertia at unit density, kg m² */
	double radius; /* m: of the sphere about the centre that holds the solid however it turns */
};
/* From mass properties and the vertices. */
struct solid_frame solid_frame_of(const struct mass_properties *mass, const vec3 *vertices,
				  uint32_t count);

/* Moves the solid: a point p goes to at⁻¹ p (A-04.2 with the frame's pose). */
void polyhedron_into_frame(struct polyhedron *self, const pose *at);

#endif
