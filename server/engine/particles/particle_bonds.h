/* particle_bonds.h: the particles and links of linked systems in a tick, as arrays. Private to
 * particle_links.c and particle_cloth.c. */
#ifndef CAIRN_ENGINE_PARTICLES_PARTICLE_BONDS_H
#define CAIRN_ENGINE_PARTICLES_PARTICLE_BONDS_H

#include "server/base/array.h"
#include "server/engine/particles/particle_links.h"
#include "server/engine/particles/particle_pairs.h"

/* A particle of a linked system in a tick. */
struct link_node {
	vec3 x, v;	 /* corrections read these two and the next one only: they are neighbours */
	double mass_inv; /* 0: pinned */
	vec3 before;
	double decay, coast;
	double radius;
	uint64_t serial;
	uint32_t row;
	/* Of particle_cloth.c. */
	bool coupled, sprung;		/* sprung: its holder holds it by a spring */
	uint32_t touched;		/* cloth_body + 1 that it met last; 0 none */
	uint32_t holder;		/* cloth_body + 1 that holds it; 0 none */
	uint32_t first_near, last_near; /* in `near` */
};

/* A link with its nodes, for the sub-steps of a tick. */
struct bond {
	uint32_t node[LINK_ENDS];
	uint8_t kind, ends;	      /* ends: nodes */
	double rest, softness, gamma; /* softness: α/h² */
	double pull;		      /* N s: of a distance, in this tick */
};

/* What some links of a system are. */
struct link_traits {
	bool volumes;
	bool tears, watched; /* they tear by elongation, by force */
};

/* A linked system: its nodes and bonds are neighbours. */
struct linked_system {
	uint32_t row, first_node, nodes, first_bond, bonds;
	double h;     /* s: a sub-step */
	bool coupled; /* it has moved already */
	bool woven;   /* particle_weave.h has its links */
	bool changed; /* its bonds are not those that were in their place in the last lists */
	struct link_traits traits;
};

struct cloth;
struct particle_self;
struct particle_meet;
struct particle_limit;
struct particle_weave;

struct particle_links {
	ARRAY_OF(struct link_node) nodes;
	ARRAY_OF(struct bond) bonds; /* by system, then by row */
	ARRAY_OF(uint32_t) links;    /* rows, likewise */
	ARRAY_OF(double) stretches;  /* of a link after the paths, by row; where it may tear */
	ARRAY_OF(double) pulls;	     /* N: mean over the tick, likewise */
	ARRAY_OF(struct particle_end) ends; /* by particle row */
	uint64_t lists;			    /* how often lists were begun */
	uint64_t edition;		    /* of the links: goes up as they change */
	struct linked_system systems[SYSTEMS_MAX];
	uint32_t system_count;
	uint32_t substeps; /* of all systems together; 0: each has its own */
	const struct particle_motion *motion;
	struct particle_weave *weaves; /* SYSTEMS_MAX, owned; NULL until particles are linked */
	struct cloth *cloth;	       /* owned; NULL until a system is coupled */
	struct particle_self
		*selves; /* SYSTEMS_MAX, owned; NULL until particles meet those of their system */
	struct particle_meet *meets;   /* by row of MEETING, owned; NULL until two systems meet */
	struct particle_limit *limits; /* SYSTEMS_MAX, owned; NULL until links have a limit */
};

/* Appends a system with its nodes and bonds; borrowed. */
struct linked_system *particle_links_gather(struct particle_links *self, uint32_t row);
uint32_t particle_links_node(const struct particle_links *self, const struct linked_system *system,
			     uint64_t serial);
/* Of a tetrahedron, or the area of a triangle in the plane (3 ends); with the sign of the order. */
double particle_volume(const vec3 at[LINK_ENDS], uint32_t ends);

/* ---- particle_cloth.c ---------------------------------------------------------------------------- */

MUST_CHECK enum status particle_cloth_reserve(struct dynamics *self);
void particle_cloth_release(struct particle_links *self);
uint64_t particle_cloth_memory(const struct particle_links *self);
/* Begins the lists of a tick with the coupled systems as the sub-steps left them. */
void particle_cloth_recall(struct particle_links *self);

#endif
