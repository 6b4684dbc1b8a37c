/* regions_work.h: the data shared by the stages of finding regions; private to regions*.c.
 *
 * Bodies: 0 is A, 1 is B. Half-edge 3 t + k runs from corner k of triangle t to the next corner; an
 * edge is named by the lesser of its two half-edges. A node is the point where an edge of one body
 * pierces a triangle of the other body. A segment is the line that two triangles share, from one
 * node to another.
 *
 * The elements of a union-find are the contours and the shells that lie wholly inside. At the end
 * each set of elements is a region.
 */
#ifndef CAIRN_ENGINE_COLLISION_REGIONS_WORK_H
#define CAIRN_ENGINE_COLLISION_REGIONS_WORK_H

#include "server/base/array.h"
#include "server/engine/collision/regions.h"

#define NONE UINT32_MAX

enum { BODY_A = 0, BODY_B = 1 };

/* Marks of a triangle. */
enum {
	TRIANGLE_CROSSED = 1,  /* shares a segment with a triangle of the other body */
	TRIANGLE_INSIDE = 2,   /* reached by the flood */
	TRIANGLE_VISITED = 4,  /* reached by the search for shells */
	TRIANGLE_REJECTED = 8, /* visited; its shell is not wholly inside */
	TRIANGLE_TOUCHED = 16, /* listed in `touched` */
};

/* The mark of an edge, at its name: 0: unknown; odd: 1 + 2 × its group of nodes; even: 2 + 2 × the
 * element to which the edge belongs, which lies wholly inside the other body. */
struct body_marks {
	uint8_t *triangle;
	uint32_t *edge;		      /* three for each triangle */
	uint8_t *vertex;	      /* 1: counted */
	uint32_t triangles, vertices; /* allocated */
};

struct shared_segment {
	uint32_t triangle[2];
	uint32_t start, end; /* nodes */
	uint32_t next;	     /* the segment that starts where this one ends, or NONE */
	uint32_t contour;
};

struct node {
	uint64_t key; /* body << 63 | edge << 32 | triangle of the other body */
	vec3 point;
	double at;	  /* 0 … 1 along its edge */
	uint32_t segment; /* the segment that starts here, or NONE */
	uint32_t contour;
	bool enters; /* the edge, in the direction of its name, enters the other body here */
};

/* Heights of the ends of a node's edge over the plane of its triangle × twice the triangle's area,
 * each as a sum of two doubles. */
struct node_height {
	double from[2], to[2]; /* m³ */
	vec3 shift;	       /* m²: a shift of B by s adds s · shift to both */
};

struct node_group {
	uint32_t first, count; /* in group_nodes, in the order along the edge */
};

struct inside_vertex {
	uint32_t vertex, element;
};
struct body_triangle {
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
	vec3 moment;   /* m⁴: volume × centre, from `origin` */
	vec3 area;     /* m²: ∫ n_A over A's surface inside B */
};

/* The parts of the border in one plane. Flat bodies have few; a curved one exceeds the number. */
enum { REGION_FACETS_MAX = 16 };
struct region_facet {
	vec3 normal; /* unit, out of its own body */
	double area; /* m² */
	uint32_t body;
};
struct region_facets {
	struct region_facet items[REGION_FACETS_MAX];
	uint32_t count;
	bool many; /* there are more */
};

/* The border's extent along directions 0 (the integral's) and 1 + i (of facet i): the highest of A's part,
 * the lowest of B's, m. */
enum { REGION_WAYS = 1 + REGION_FACETS_MAX };
struct region_extent {
	double high[REGION_WAYS], low[REGION_WAYS];
};

/* One end of a region along its normal: the farthest points of one body's part of the border. */
struct region_end {
	double height;	 /* m, along the normal (of B: against it); −infinity: no point yet */
	struct aabb box; /* around the points at this height */
};

struct regions_work {
	const struct mesh *mesh[2];
	pose at[2]; /* poses of both bodies in A's frame */
	struct body_marks marks[2];
	vec3 origin; /* of the sums: a point near the overlap, so that little cancels */
	ARRAY_OF(struct shared_segment) segments;
	ARRAY_OF(struct node) nodes;
	ARRAY_OF(struct node_height) heights; /* by node */
	ARRAY_OF(struct node_group) groups;
	ARRAY_OF(uint32_t) group_nodes;	  /* nodes, by group */
	ARRAY_OF(uint32_t) contour_first; /* the first segment of each contour */
	ARRAY_OF(struct element) elements;
	ARRAY_OF(struct inside_vertex) inside[2];
	ARRAY_OF(struct body_triangle) touched; /* all triangles with marks */
	ARRAY_OF(struct body_triangle) stack;
	ARRAY_OF(struct region_sum) sums;
	ARRAY_OF(struct region_facets) facets;
	ARRAY_OF(struct region_extent) extents;
	ARRAY_OF(struct region_end) ends; /* two a region: of A's part, of B's */
	ARRAY_OF(uint64_t) keys[2];	  /* for sorting */
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

/* The opposite half-edge of the same edge; NONE at a border. */
uint32_t work_twin(const struct mesh *mesh, uint32_t half_edge);
static inline uint32_t work_edge_name(const struct mesh *mesh, uint32_t half_edge)
{
	return MIN_OF(half_edge, work_twin(mesh, half_edge));
}

/* The integral of the normal gives a direction only if its length exceeds this part of the square of the
 * region's size; below, it consists of rounding. */
#define REGION_AREA_MIN 1e-9
/* Whether it does. */
bool regions_have_direction(const struct region *region);

/* Union-find: the lesser root wins, so the root of a set is its first element. */
uint32_t work_root(struct regions_work *work, uint32_t element);
void work_join(struct regions_work *work, uint32_t a, uint32_t b);
/* The region of an element, after regions_measure has made them. */
static inline uint32_t work_region(struct regions_work *work, uint32_t element)
{
	return work->elements.items[work_root(work, element)].region;
}
MUST_CHECK enum status work_new_element(struct regions_work *work, enum region_kind kind,
					uint32_t *out);
/* Appends a triangle to `touched` and sets TRIANGLE_TOUCHED, unless it is set. */
MUST_CHECK enum status work_touch(struct regions_work *work, uint32_t body, uint32_t triangle);

/* The stages, in the order of regions.c. */
MUST_CHECK enum status regions_cross(struct regions_work *work, uint32_t pairs_max);
MUST_CHECK enum status regions_trace(struct regions_work *work);
MUST_CHECK enum status regions_flood(struct regions_work *work);
MUST_CHECK enum status regions_holes(struct regions_work *work);
MUST_CHECK enum status regions_shells(struct regions_work *work);
MUST_CHECK enum status regions_measure(struct regions_work *work);
MUST_CHECK enum status regions_ways(struct regions_work *work);
/* Sorts regions and writes contours and points; omits regions of less depth than depth_min. */
MUST_CHECK enum status regions_write(struct regions_work *work, double depth_min);

/* Marks an edge that lies wholly inside for `element` and pushes its triangles; drain floods from
 * them. */
MUST_CHECK enum status regions_flood_edge(struct regions_work *work, uint32_t body,
					  uint32_t half_edge, uint32_t element);
MUST_CHECK enum status regions_flood_drain(struct regions_work *work);

#endif
