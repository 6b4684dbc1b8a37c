/* equilibrium.h: forces that hold bodies at rest, or, if there are none, how they begin to fall.
 *
 * Bodies at rest touch in points. The force at a point is Σ λ_k g_k with λ ≥ 0: the g_k = n + μ
 * d_k are the edges of a pyramid inscribed in the cone of friction; without friction there is the
 * normal n alone. Joints are rows with bounds. J has the g_k and the rows of joints as rows (on b;
 * on a negated), M is the mass matrix, f the loads.
 *
 *   min ½ aᵀM a,   a = M⁻¹ (f + Jᵀ λ),   λ within its bounds                    (papers)
 *
 * The least a is unique, λ need not be. If a = 0, λ is a force system. Otherwise there is none,
 * and a proves it: J a ≥ 0 (= 0 in equalities) and f·a = aᵀM a > 0, while a force system would
 * have f·a = −λ·J a ≤ 0. At the same time a are the accelerations with which the bodies begin to
 * fall, exactly without friction. With friction they are those of contacts that open as they slide
 * (associative); Coulomb's law is found from them by a shift of the normal rows, μ |slip|, until
 * it is consistent.
 *
 * A force system is necessary for rest, but with friction not sufficient: a wedge may be held by
 * pressure that nothing builds up. equilibrium_settle looks for forces that do build up: every
 * point is a spring, equally stiff in proportion to the mass that it meets, the bodies settle from
 * rest by u under their loads, and
 *
 *   λ_k = max(0, −g_k·u − μ |slip|) / c
 *
 * so that a point presses only if it is closed by u, and rubs only against its slip: the signs
 * that a compatible virtual displacement must have. Forces that balance and u with these signs are
 * the witness, whatever c is, and however they were found. Without friction there is always one if
 * there is a force system.
 *
 * Source: papers; Kao et al. 2022 (coupled rigid-block analysis) for the signs.
 */
#ifndef CAIRN_ENGINE_STATICS_EQUILIBRIUM_H
#define CAIRN_ENGINE_STATICS_EQUILIBRIUM_H

#include "server/base/status.h"
#include "server/engine/dynamics/carrier.h"
#include "server/engine/dynamics/row.h"
#include "server/engine/solvers/lcp_sparse.h"

enum {
	STATICS_BODIES_MAX = 32768,
	STATICS_POINTS_MAX = 1 << 19,
	STATICS_ROWS_MAX = 1 << 17, /* pyramid edges and rows of joints */
	STATICS_SIDES_MIN = 4,
	STATICS_SIDES_MAX = 16,
};

/* A body that can move. */
struct statics_body {
	double mass_inv[6][6]; /* about the mass centre, world axes; 0 along locked axes */
	double gyration;       /* m: radius of gyration; an angular acceleration counts times it */
};

/* A point where two bodies touch; a body that does not move is ROW_NO_BODY, not both are. */
struct statics_point {
	uint32_t a, b;	   /* bodies */
	vec3 arm_a, arm_b; /* m, from the mass centres, world axes */
	vec3 normal;	   /* unit, a → b */
	double friction;   /* μ ≥ 0, 1 */
};

/* A body that others carry (dynamics/carrier.h): its motion follows from theirs, and what touches it
 * presses them. Its own mass_inv and loads are 0; it is no end of a row. */
struct statics_carried {
	uint32_t body, points[CARRIER_POINTS]; /* bodies; the points are not carried */
	struct carrier_frame frame;
	quat rotation;
};

enum { STATICS_ROW_PARTS = 4 };

/* A row of a joint, or of a gear between two joints: its force is λ times the parts. */
struct statics_row {
	struct row_part parts[STATICS_ROW_PARTS]; /* of different bodies that move */
	uint32_t count;				  /* 1 or 2; of a gear at most 4 */
	double lower, upper;			  /* N, N m; infinite: no bound */
};

struct statics_problem {
	const struct statics_body *bodies; /* all borrowed */
	const struct statics_point *points;
	const struct statics_row *rows;
	const struct statics_carried *carried; /* each body at most once */
	uint32_t body_count, point_count, row_count, carried_count;
	bool planar;	/* tangents are within the plane z = 0 */
	uint32_t sides; /* of a pyramid in space, even; 2 in the plane */
};

/* What a solve found; all are pure numbers. */
struct statics_outcome {
	/* The largest acceleration that is left, of a body, over the largest that the loads would
	 * cause without contacts (angular ones times the radius of gyration). */
	double residual;
	/* The worst violation of J a ≥ 0 (of equality in rows without bound), over the same
	 * acceleration. */
	double kkt;
	double gap;	 /* duality: |Σ λ J a| over fᵀM⁻¹f */
	uint32_t rounds; /* factors of the solver, and repetitions because of slip */
	bool coulomb;	 /* the friction is Coulomb's: consistent with the slip */
	bool found;	 /* of settle: there is a witness */
	double witness; /* of settle: the worst violation of its signs, over the largest settlement */
};

struct equilibrium {
	const struct statics_problem *problem; /* borrowed */
	uint32_t rows;
	uint32_t *first; /* by point: its first edge; points + 1 */
	uint32_t *start, *body;
	uint32_t *
		carried; /* by body: 1 + its index among the problem's carried; 0: it moves by itself */
	double (*jacobian)[LCP_BODY];
	double (*mass_inv)[LCP_BODY][LCP_BODY];
	double *b, *lower, *upper, *compliance, *softness;
	double *shift;		      /* by point, m/s² or m: of friction */
	double *lambda;		      /* by row: the force found, N and N m */
	double *kept, *kept_shift;    /* another λ, with its shift */
	struct spatial *acceleration; /* by body, m/s² and rad/s²: what is left */
	struct spatial *free;	      /* by body: M⁻¹ f */
	struct spatial *settlement;   /* by body: u, in m and rad of springs of that stiffness */
	struct spatial *last_settlement, *last_change; /* of the round before */
	uint8_t *known; /* enum force_known: by point, then by row of the problem (uniqueness.h) */
	double scale;	/* m/s²: the largest of `free` */
	bool frictional, good; /* good: the last solution of the solver is exact */
	uint32_t fallbacks;    /* problems solved in steps, because rows are too dependent */
	struct lcp_sparse solver;
	void *solver_memory; /* NULL until equilibrium_ready */
};

/* LIMIT: more rows than STATICS_ROWS_MAX. NO_MEMORY. Release it in any case. */
MUST_CHECK enum status equilibrium_init(struct equilibrium *self,
					const struct statics_problem *problem);
/* Orders the problem and takes the memory of its solver, if it has none yet. The functions below that
 * solve need it. NO_MEMORY. */
MUST_CHECK enum status equilibrium_ready(struct equilibrium *self);
void equilibrium_release(struct equilibrium *self);
/* Sets `free` and `scale`; those that solve do so, too. */
void equilibrium_load(struct equilibrium *self, const struct spatial *loads);

/* The least a under these loads (by body; N, N m about the mass centre), and its λ. `coulomb`: if
 * a is not 0, friction consistent with the slip is looked for as well; outcome.coulomb tells if it
 * was found, else the result is the associative one. */
struct statics_outcome equilibrium_fall(struct equilibrium *self, const struct spatial *loads,
					bool coulomb);
/* After equilibrium_fall without `coulomb`, of which `fall` is the outcome: goes on as with it. */
struct statics_outcome equilibrium_slip(struct equilibrium *self, struct statics_outcome fall);
/* Looks for forces that build up as the bodies settle; outcome.found: there are, in lambda, with the
 * settlement. */
struct statics_outcome equilibrium_settle(struct equilibrium *self, const struct spatial *loads);

/* The same in two pieces, so that bodies which clearly fall are not settled to the end. The first ends or
 * pauses; the second goes on to the end, with the λ and shift that the first left. */
struct statics_settling {
	struct statics_outcome out; /* its found, witness and rounds */
	uint32_t round;
	double left, before; /* m/s²: the largest acceleration left, now and at the last check */
	bool fresh, ended;
};
struct statics_settling equilibrium_settle_begin(struct equilibrium *self,
						 const struct spatial *loads);
void equilibrium_settle_on(struct equilibrium *self, struct statics_settling *at);
/* What it found, as equilibrium_settle returns it. */
struct statics_outcome equilibrium_settled(struct equilibrium *self,
					   const struct statics_settling *at);
/* equilibrium_fall without `coulomb`, of a large problem from the present λ, which it keeps, with its
 * shift. */
struct statics_outcome equilibrium_fall_on(struct equilibrium *self, const struct spatial *loads);
/* Exchanges λ and shift with those kept. */
void equilibrium_exchange(struct equilibrium *self);

/* λ := the point nearest to `target` (by row) of those within the bounds that exert on every body what
 * λ exerts now, by the norm Σ softness λ², whose weights are one over the mass that a row meets alone:
 * it is the same in any unit. Overwrites free, acceleration, settlement and shift. False: it was not
 * found, and λ is of no use. */
bool equilibrium_project(struct equilibrium *self, const double *target);

/* Force at a point on b, N, world axes: normal and friction. */
struct statics_force {
	double normal;
	vec3 friction;
};
struct statics_force equilibrium_force(const struct equilibrium *self, uint32_t point);
/* The same of other λ, such as a change of them. */
struct statics_force equilibrium_force_of(const struct equilibrium *self, uint32_t point,
					  const double *lambda);
/* λ of a row of a joint. */
double equilibrium_row_force(const struct equilibrium *self, uint32_t row);
/* J a of a row of the solver, m/s² or rad/s². */
double equilibrium_row_parting(const struct equilibrium *self, uint32_t row);
/* Acceleration of b's surface against a's at a point, m/s², world axes. */
vec3 equilibrium_parting(const struct equilibrium *self, uint32_t point);

/* Adds a force at the mass centre of a body and a torque to the loads (by body): of a carried one to
 * those of its points. */
void equilibrium_push(const struct equilibrium *self, uint32_t body, struct spatial push,
		      struct spatial *loads);

/* Edge k of the pyramid of a point: n + μ d_k. */
vec3 statics_edge(const struct statics_problem *problem, const struct statics_point *point,
		  uint32_t k);
uint32_t statics_edge_count(const struct statics_problem *problem,
			    const struct statics_point *point);

#endif
