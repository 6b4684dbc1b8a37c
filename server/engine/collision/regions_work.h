/* regions_work.h: the data shared by the stages of finding regions; private to regions*.c.
 *
 * Two bodies: 0 is A, 1 is B. Half-edge 3 t + k runs from corner k of triangle t to the next; of the two
 * of an edge the lesser is its name. A node is where an edge of one body pierces a triangle of the
 * other; a piece is the segment that two triangles share, from one node to another.
 *
 * Elements are sets of a union-find: one for each contour and each shell that lies wholly inside. In the
 * end each set is a region.
 */
#ifndef CAIRN_ENGINE_COLLISION_REGIONS_WORK_H
#define CAIRN_ENGINE_COLLISION_REGIONS_WORK_H

#include "server/base/array.h"
#include "server/engine/collision/regions.h"

#define NONE UINT32_MAX

enum { BODY_A = 0, BODY_B = 1 };

/* Marks of a triangle. */
enum {
	TRIANGLE_CROSSED = 1, /* shares a piece with one of the other body */
	TRIANGLE_INSIDE = 2,  /* has been reached by the flood */
	TRIANGLE_SEEN = 4,    /* has been reached by the search for shells */
	TRIANGLE_LEFT = 8,    /* seen, and of a shell that is not wholly inside */
	TRIANGLE_NOTED = 16,  /* stands in `touched` */
};

/* What is known of an edge, at its name: 0 nothing; odd: 1 + 2 × its group of nodes; even: 2 + 2 × the
 * element that holds the whole edge inside the other body. */
struct body_marks {
	uint8_t *triangle;
	uint32_t *edge;		      /* three a triangle */
	uint8_t *vertex;	      /* 1: counted */
	uint32_t triangles, vertices; /* allocated */
};

struct shared_segment {
	uint32_t triangle[2];
	uint32_t start, end; /* nodes */
	uint32_t next;	     /* the piece that starts where this ends, or NONE */
	uint32_t contour;
};

struct node {
	uint64_t key; /* body << 63 | edge << 32 | triangle of the other body */
	vec3 point;
	double at;	/* 0 … 1 along its edge */
	uint32_t piece; /* that starts here, or NONE */
	uint32_t contour;
	bool enters; /* the edge goes into the other body here */
};

/* Of a node's edge over its triangle's plane; two doubles each. */
struct node_height {
	double from[2], to[2]; /* height of its ends × twice the area */
	vec3 shift;	       /* what moving B adds to both */
};

struct node_group {
	uint32_t first, count; /* of nodes, along their edge */
};

struct inside_vertex {
	uint32_t vertex, element;
};
struct noted {
	uint32_t body, triangle;
};

struct element {
	uint32_t parent;
	uint32_t region; /* of a root: its region, or NONE */
	uint8_t kind;	 /* enum region_kind */
};

/* Sums over the border of a region. */
struct region_sum {
	double volume; /* m³ */
	vec3 moment;   /* volume × centre, from `origin` */
	vec3 area;     /* ∫ n_A over A's surface inside B */
};

struct regions_work {
	const struct mesh *mesh[2];
	pose at[2]; /* in A's frame */
	struct body_marks marks[2];
	vec3 origin; /* sums are taken about it: a point near the overlap */
	ARRAY_OF(struct shared_segment) pieces;
	ARRAY_OF(struct node) nodes;
	ARRAY_OF(struct node_height) heights; /* by node */
	ARRAY_OF(struct node_group) groups;
	ARRAY_OF(uint32_t) group_nodes;	  /* nodes, group by group */
	ARRAY_OF(uint32_t) contour_first; /* a piece of each contour */
	ARRAY_OF(struct element) elements;
	ARRAY_OF(struct inside_vertex) inside[2];
	ARRAY_OF(struct noted) touched; /* all triangles with marks */
	ARRAY_OF(struct noted) stack;
	ARRAY_OF(struct region_sum) sums;
	ARRAY_OF(uint64_t) keys[2]; /* for sorting */
	ARRAY_OF(uint32_t) values[2];
	ARRAY_OF(struct region) regions, sorted;
	ARRAY_OF(struct contour) contours;
	ARRAY_OF(struct contour_point) points;
	uint64_t nodes_tested;
	uint32_t broken;
};

static inline vec3 work_corner(const struct regions_work *work, uint32_t body, uint32_t triangle,
			       uint32_t k)
{
	VALIDATE(body <= BODY_B);
	VALIDATE(triangle < work->mesh[body]->triangle_count);
	vec3 p = mesh_corner(work->mesh[body], triangle, k % 3);
	return body == BODY_A ? p : pose_point(work->at[BODY_B], p);
}

/* The half-edge across; NONE where the mesh is not joined. */
uint32_t work_twin(const struct mesh *mesh, uint32_t half_edge);
static inline uint32_t work_edge_name(const struct mesh *mesh, uint32_t half_edge)
{
	return MIN_OF(half_edge, work_twin(mesh, half_edge));
}

/* Union-find: the lesser root wins, so the root of a set is its first element. */
uint32_t work_root(struct regions_work *work, uint32_t element);
void work_join(struct regions_work *work, uint32_t a, uint32_t b);
MUST_CHECK enum status work_new_element(struct regions_work *work, enum region_kind kind,
					uint32_t *out);
/* Room for a triangle in `touched` and sets TRIANGLE_NOTED. */
MUST_CHECK enum status work_note(struct regions_work *work, uint32_t body, uint32_t triangle);

/* The steps. */
MUST_CHECK enum status regions_cross(struct regions_work *work, uint32_t pairs_max);
MUST_CHECK enum status regions_trace(struct regions_work *work);
MUST_CHECK enum status regions_flood(struct regions_work *work);
MUST_CHECK enum status regions_holes(struct regions_work *work);
MUST_CHECK enum status regions_shells(struct regions_work *work);
MUST_CHECK enum status regions_measure(struct regions_work *work);
/* Sorts regions and writes contours and points; drops what is less deep than depth_min. */
MUST_CHECK enum status regions_write(struct regions_work *work, double depth_min);

/* The flood from an edge that is inside as a whole: marks it for `element` and goes on from it. */
MUST_CHECK enum status regions_flood_edge(struct regions_work *work, uint32_t body,
					  uint32_t half_edge, uint32_t element);
MUST_CHECK enum status regions_flood_drain(struct regions_work *work);

#endif
