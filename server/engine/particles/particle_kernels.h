/* particle_kernels.h: what costs most of particles, as arrays for vectors (particle_lanes.h): of
 * linked ones free motion and links, whose ends are mostly neighbours in memory; of others the forces
 * of neighbours. particle_passes.h computes it, once for each width of vectors; every width gives
 * the same bits. */
#ifndef CAIRN_ENGINE_PARTICLES_PARTICLE_KERNELS_H
#define CAIRN_ENGINE_PARTICLES_PARTICLE_KERNELS_H

#include "server/engine/particles/particle_cells.h"

/* Numbers that may be read behind the end of each array. */
enum { PARTICLE_LANES_MAX = 8 };

/* Nodes by slot (particle_weave.h). */
struct weave_nodes {
	double *x[3], *v[3], *before[3]; /* before: as the sub-step began */
	double *mass_inv, *decay, *coast;
	double *field[3]; /* m/s², of fields; read only if there are some */
};

/* Distance links by place: rest, α/h², γ, and the error that is not corrected or less (−∞ of a
 * rod, 0 of a rope). */
struct weave_links {
	const uint32_t *a, *b; /* slots */
	const double *rest, *softness, *gamma, *least;
	double *pull; /* N s, added to; NULL: nobody asks for it */
};

/* Links of places first … first + count − 1, none of which shares a node with another. */
struct weave_run {
	uint32_t first, count;
	bool scattered; /* else the slots of each end follow each other */
	bool volumes;	/* no distances; scattered */
	bool uniform;	/* rest, softness, gamma and least are those of the first */
	bool damped;	/* some gamma is not 0 */
};

/* Between particles of two systems. */
struct pair_law {
	bool forces, collisions;
	double cutoff, core;  /* m; cutoff squared, core squared */
	double coulomb;	      /* N m²: K q1 q2 */
	double gravitation;   /* N m² / kg² */
	double depth, sigma2; /* J, m²: Lennard-Jones */
	double stiffness, damping_ratio;
	double restitution, sticking, sliding;
};

/* Particles that exert forces, by place: sorted by cells (particle_cells.h). */
struct pair_points {
	double *x[3], *v[3]; /* m at the middle of the sub-step, m/s */
	double *mass, *radius;
	uint64_t *line;		     /* of the cell; NULL: ranges have no others */
	uint32_t *system;	     /* read only if there are several laws */
	double reach;		     /* m²: none act farther apart, squared */
	double touching;	     /* m²: no balls touch at this distance, squared */
	const struct pair_law *laws; /* of a system with each */
	uint32_t law_stride;	     /* from a system to the next one; 0: there is one law */
};

struct particle_kernels {
	/* v ← v decay + a coast h, x ← x + v h of slots below count; pinned ones stay. */
	void (*fly)(const struct weave_nodes *nodes, uint32_t count, vec3 a, bool fields, double h);
	/* Corrects each link of a run once; rate: 1/h. */
	void (*correct)(const struct weave_nodes *nodes, const struct weave_links *links,
			const struct weave_run *run, double rate);
	/* Writes the relative elongation of each link of a run by place (0 if it has no length);
	 * the largest. */
	double (*stretch)(const struct weave_nodes *nodes, const struct weave_links *links,
			  const struct weave_run *run, double *out);
	/* The forces on the points of places first … last − 1, which are in one cell: for each the
	 * sum over those within reach in the ranges, in order. */
	void (*pull)(const struct pair_points *points, uint32_t first, uint32_t last,
		     const struct cell_span *ranges, uint32_t range_count, vec3 *out);
};

extern const struct particle_kernels particle_kernels_1, particle_kernels_2, particle_kernels_4,
	particle_kernels_8;
/* For this processor. */
const struct particle_kernels *particle_kernels_choose(void);

#endif
