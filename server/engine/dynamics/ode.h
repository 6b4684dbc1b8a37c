/* ode.h: integrators of Y' = f(t, Y) for a flat state, after the book's appendix B.
 *
 * The workspace is sized once for a largest state over the caller's memory (aligned to 64); nothing
 * is allocated while stepping. States are arrays of doubles, changed in place. Each step evaluates
 * f a fixed number of times (EULER 1, RK2 2, RK4 4, RK45 7; IMPLICIT_EULER 1 + 2 × size).
 */
#ifndef CAIRN_ENGINE_DYNAMICS_ODE_H
#define CAIRN_ENGINE_DYNAMICS_ODE_H

#include "server/base/base.h"

enum ode_method { ODE_EULER, ODE_IMPLICIT_EULER, ODE_RK2, ODE_RK4, ODE_RK45, ODE_METHODS };

enum { ODE_STAGES_MAX = 7 };

/* An explicit method: k_i = f(t + c_i h, Y + h Σ a_ij k_j), Y += h Σ b_i k_i. `error`: with these weights
 * the k_i sum to the estimate of the local error of a pair; all 0 where there is none. */
struct ode_tableau {
	uint32_t stages;
	double c[ODE_STAGES_MAX], a[ODE_STAGES_MAX][ODE_STAGES_MAX - 1], b[ODE_STAGES_MAX];
	double error[ODE_STAGES_MAX];
};
/* NULL for IMPLICIT_EULER. */
const struct ode_tableau *ode_tableau(enum ode_method method);

struct ode {
	uint32_t size;
	/* rate := f(time, state). A pure function of its arguments and the context. */
	void (*rate)(const struct ode *self, double time, const double *state, double *rate);
	/* Projects a state onto its constraints (unit quaternions) after each combination; or NULL. */
	void (*repair)(const struct ode *self, double *state);
	/* Scale of each component, > 0, by which its error is divided; or NULL: 1. */
	const double *scale;
	const void *context; /* borrowed */
};

struct ode_work {
	uint32_t size_max;
	double *k[ODE_STAGES_MAX], *stage, *saved, *coarse; /* size_max each */
	double *matrix, *high; /* for IMPLICIT_EULER: size_max², size_max; else NULL */
	uint32_t *pivots;
};

size_t ode_work_bytes(uint32_t size_max, bool implicit);
void ode_work_init(struct ode_work *self, void *memory, uint32_t size_max, bool implicit);

/* True if the state and the method fit the workspace: size ≤ size_max, a method of the enum, and room for
 * IMPLICIT_EULER if it is that one. Each routine below fails otherwise and leaves the state unchanged. */
bool ode_fits(const struct ode_work *self, const struct ode *ode, enum ode_method method);

/* One step from `time` by `h`. False, and the state as it was, when IMPLICIT_EULER's matrix is singular
 * or the new state, the time or h is not finite, or !ode_fits. */
MUST_CHECK bool ode_step(struct ode_work *self, const struct ode *ode, enum ode_method method,
			 double time, double h, double *state);

/* ---- step doubling (B-05) ------------------------------------------------------------------ */

struct ode_limits {
	double tolerance;    /* of the scaled error of a step, > 0 */
	double h_min, h_max; /* s, 0 < h_min ≤ h_max */
	double growth; /* largest h / last h, > 1; the book has none, and needs one where Δ = 0 */
	uint32_t steps_max; /* of one ode_run, accepted or not; 0: 10 000 000 */
};

/* True if all are in the ranges above; h_max is finite, the tolerance may be infinite. */
bool ode_limits_valid(const struct ode_limits *limits);

struct ode_trial {
	bool accepted; /* false: the state is what it was, bit for bit */
	double error; /* max |Δ_i| / scale_i of one step against two halves; SCALAR_MAX: not finite */
	double h_ideal; /* h (tolerance / error)^(1/p), p the order of the local error; unlimited */
	double h_next;	/* what to try next, within the limits */
};

/* Two steps of h/2, whose error is estimated by one of h; with RK45 one step of h, whose error is that of
 * its embedded method. At h ≤ h_min every finite result is
 * accepted. The book defines no exponent for IMPLICIT_EULER; EULER's is used. Not accepted, with
 * h_next 0: !ode_fits or !ode_limits_valid. */
struct ode_trial ode_try(struct ode_work *self, const struct ode *ode, enum ode_method method,
			 double time, double h, const struct ode_limits *limits, double *state);

struct ode_run {
	uint32_t accepted, rejected, forced; /* steps; forced: accepted at h_min, over tolerance */
	double error;			     /* largest of an accepted step */
	double h;			     /* s, for the start of the next run */
	double time;			     /* s, of the state */
	bool failed; /* a step at h_min was not finite, or did not move the time on; or at once, see below */
	bool stopped; /* at steps_max, before `to` */
};

/* Integrates from `from` to `to`, beginning with step `h` > 0; does nothing if `to` is not later. A
 * `to` of infinity ends by steps_max or where h no longer moves the time on. Fails at once:
 * !ode_fits, !ode_limits_valid, an h that is not positive, a time that is not a number. */
struct ode_run ode_run(struct ode_work *self, const struct ode *ode, enum ode_method method,
		       double from, double to, double h, const struct ode_limits *limits,
		       double *state);

/* ---- equal sub-steps, doubled and halved (B-06, A-11) -------------------------------------- */

struct ode_substeps {
	uint32_t count;	     /* N ≥ 1, what the next frame begins with */
	uint32_t count_max;  /* the book has none; at it everything finite is accepted */
	uint32_t calm;	     /* frames accepted in a row */
	uint32_t calm_limit; /* frames until N is halved; 4 is common */
};

static inline struct ode_substeps ode_substeps_default(void)
{
	return (struct ode_substeps){ 1, 1024, 0, 4 };
}

struct ode_frame {
	uint32_t count;	   /* N of the frame as accepted */
	uint32_t rejected; /* times it was begun again */
	double error;	   /* largest of a sub-step */
	bool forced;	   /* over tolerance at count_max */
	bool failed; /* not finite even so: the state is that of the frame's start; or !ode_fits, a
			    * tolerance that is not positive, a count outside 1 … count_max */
};

/* A whole frame of dt in N sub-steps, each judged by step doubling. One over tolerance restores the
 * state of the frame's start bit for bit, doubles N and does the frame again. */
struct ode_frame ode_frame(struct ode_work *self, const struct ode *ode, enum ode_method method,
			   double time, double dt, double tolerance, struct ode_substeps *substeps,
			   double *state);

#endif
