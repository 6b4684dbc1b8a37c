/* mesh_repair.h: turns any list of triangles into a closed solid, or names what is wrong with it
 * (ch1-3 A-03; the requirements of app F-01 on its input).
 *
 * Repaired, because the solid meant is clear: vertices nearer than the stated tolerance become one;
 * triangles that then repeat a vertex are removed; of triangles given twice one is removed, and of
 * two that lie back to back both; faces with the wrong winding are reversed; a shell that faces
 * inwards is reversed unless it lies inside another shell, whose void it then bounds; a vertex
 * where two fans meet becomes two; unused vertices are removed. The report counts each of these.
 * Refused: edges with one triangle (a hole) or with three or more, one-sided surfaces, triangles of
 * three different vertices without area, shells without volume. The report names the first of each.
 * Reported only: faces that cross each other.
 */
#ifndef CAIRN_ENGINE_GEOMETRY_MESH_REPAIR_H
#define CAIRN_ENGINE_GEOMETRY_MESH_REPAIR_H

#include "server/engine/geometry/polyhedron.h"

enum { MESH_REPORT_NAMED = 8 };
/* m. Below this a lattice of that pitch would have more cells across a shape than a double counts
 * exactly. */
#define MESH_WELD_MIN 1e-9

struct mesh_soup {
	const vec3 *vertices; /* borrowed; finite, at most SHAPE_LENGTH_MAX on every axis */
	uint32_t vertex_count;
	const uint32_t (*triangles)[3]; /* borrowed; indices in range */
	uint32_t triangle_count;
};

struct mesh_repair_options {
	double weld; /* m: vertices at most this far apart become the first of them; 0: equal ones; else
			 * at least MESH_WELD_MIN */
	bool crossings; /* search for faces that cross each other */
};

/* An edge named by two vertices as given (of welded ones the first), and its number of triangles. */
struct mesh_edge_name {
	uint32_t from, to, triangles;
};

struct mesh_report {
	uint32_t vertices, triangles; /* as given */
	/* Repairs. */
	uint32_t vertices_welded, vertices_unused, vertices_split;
	uint32_t triangles_collapsed, triangles_repeated, triangles_cancelled, triangles_turned;
	uint32_t shells_turned;
	/* The result. */
	uint32_t shells, voids;
	bool closed; /* every edge has two triangles that agree, and nothing else is refused */
	/* Refused: how many, and the first of them by name. */
	uint32_t border_edges, crowded_edges, twisted_edges; /* 1 triangle; 3 or more; one-sided */
	uint32_t flat_triangles, flat_shells;
	struct mesh_edge_name border[MESH_REPORT_NAMED], crowded[MESH_REPORT_NAMED],
		twisted[MESH_REPORT_NAMED];
	uint32_t flat[MESH_REPORT_NAMED]; /* triangles as given */
	/* Faces that cross: pairs of triangles as given. */
	uint32_t crossings;
	uint32_t crossing[MESH_REPORT_NAMED][2];
	/* Whether the search was complete: false when not requested, or stopped by its bound. */
	bool crossings_all;
};

/* Repairs a list of triangles. OK: *out is returned owned. DEGENERATE: refused; `why` names edges
 * in one sentence, the report all. RANGE (weld), NO_MEMORY. The report is filled as far as the work went. */
MUST_CHECK enum status mesh_repair(const struct mesh_soup *given,
				   const struct mesh_repair_options *options,
				   struct polyhedron **out, struct mesh_report *report,
				   struct reason *why);

/* The i-th repair or finding as a sentence; false when there are no more. */
bool mesh_report_line(const struct mesh_report *report, uint32_t i, char *text, size_t bytes);

/* Pairs (i, j), i < j, of triangles that meet other than in shared corners: counts all, writes the
 * first `capacity` in order. False when the bound on candidates stopped the search. *status is
 * NO_MEMORY or OK. For mesh_repair.c. */
bool mesh_crossings(const vec3 *vertices, uint32_t vertex_count, const uint32_t (*triangles)[3],
		    uint32_t triangle_count, uint32_t (*out)[2], uint32_t capacity, uint32_t *count,
		    enum status *status);

#endif
