/* mesh_repair.h: from any list of triangles to a closed solid, or to the names of what is wrong with it
 * (ch1-3 A-03; what app F-01 asks of its input).
 *
 * Repaired, because it cannot change what solid is meant: vertices nearer than the stated tolerance become
 * one; triangles that then repeat a vertex go; of triangles given twice one goes, and of two that lie
 * back to back both; faces that run the wrong way are turned; a shell that faces inwards is turned
 * outwards unless it lies inside another shell, whose void it then bounds; a vertex where two fans meet
 * becomes two; vertices of no triangle go. All of it is counted in the report.
 * Refused: edges with one triangle (a hole), with three or more, a surface with one side, a triangle of
 * three places without area, a shell without volume. The report names the first of each.
 * Reported only: faces that cross each other.
 */
#ifndef CAIRN_ENGINE_GEOMETRY_MESH_REPAIR_H
#define CAIRN_ENGINE_GEOMETRY_MESH_REPAIR_H

#include "server/engine/geometry/polyhedron.h"

enum { MESH_REPORT_NAMED = 8 };
/* m. Below it a lattice of that pitch would have more cells than a double counts. */
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
	bool crossings; /* look for faces that cross each other */
};

/* An edge by two vertices as given (of welded ones the first), and how many triangles it has. */
struct mesh_edge_name {
	uint32_t from, to, triangles;
};

struct mesh_report {
	uint32_t vertices, triangles; /* as given */
	/* Repairs. */
	uint32_t vertices_welded, vertices_unused, vertices_split;
	uint32_t triangles_collapsed, triangles_repeated, triangles_cancelled, triangles_turned;
	uint32_t shells_turned;
	/* What is there after them. */
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
	bool crossings_all; /* looked to the end: false when not asked, or when there was too much to do */
};

/* OK: *out is returned owned. DEGENERATE: refused, `why` says it in one sentence that names edges; the
 * report says it in full. NO_MEMORY. The report is filled as far as the work went. */
MUST_CHECK enum status mesh_repair(const struct mesh_soup *given,
				   const struct mesh_repair_options *options,
				   struct polyhedron **out, struct mesh_report *report,
				   struct reason *why);

/* One sentence a repair or crossing found, for people: the i-th; false when there are no more. */
bool mesh_report_line(const struct mesh_report *report, uint32_t i, char *text, size_t bytes);

/* Pairs of triangles that meet elsewhere than in the corners they share, (i, j) with i < j: counts all
 * it finds, writes the first `capacity` in order; false when it gave up because there were too many
 * candidates, NO_MEMORY through *status. For mesh_repair.c. */
bool mesh_crossings(const vec3 *vertices, uint32_t vertex_count, const uint32_t (*triangles)[3],
		    uint32_t triangle_count, uint32_t (*out)[2], uint32_t capacity, uint32_t *count,
		    enum status *status);

#endif
