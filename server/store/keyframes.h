/* keyframes.h: states of a running world's past in memory, so that any tick of it is near a state from
 * which it can be computed again, and bounds of what bodies did between two of them.
 *
 *	host ──put──► [raw] ──pack (ANSWERS)──► [zstd] ◄──find── ANSWERS
 *
 * The policy is two numbers: bytes, and the finest spacing in ticks. When the bytes are used up every
 * second keyframe is dropped and the spacing doubles; the spacing in force is reported. While nothing moves
 * the spacing is KEYFRAMES_QUIET times as wide, because quiet ticks cost next to nothing to compute.
 *
 * A keyframe is the state right after the step to its tick, before any command of that boundary. Its *span*
 * are the ticks after the keyframe before it (or after `from`, where its host began to follow the world) up
 * to its own. For every body that a report of the span lists, the span has bounds of five quantities over
 * all its states. A body that the span does not list kept the values it had at the span's beginning.
 *
 * The functions are for any thread. A lock is held for a few instructions, and for a pass over the list.
 */
#ifndef CAIRN_STORE_KEYFRAMES_H
#define CAIRN_STORE_KEYFRAMES_H

#include "server/base/array.h"
#include "server/base/bytes.h"
#include "server/engine/engine.h"
#include "server/store/recording.h"

enum { KEYFRAMES_RAW_MAX = 4, KEYFRAMES_QUIET = 16 };

/* x, y, z (m), speed (m/s), spin (rad/s), as QUERY WHEN numbers them. */
enum { KEYFRAME_QUANTITIES = 5 };
void keyframe_quantities(const struct body_view *body, double out[KEYFRAME_QUANTITIES]);

/* Rounded outward. */
struct keyframe_bounds {
	body_id body;
	float low[KEYFRAME_QUANTITIES], high[KEYFRAME_QUANTITIES];
};
struct keyframe_bounds_list {
	struct keyframe_bounds *items; /* ascending bodies */
	uint32_t count, capacity;
};

struct keyframe_policy {
	uint64_t bytes;	  /* of images and bounds together; 0: no keyframes */
	uint32_t spacing; /* ticks, the finest */
};
struct keyframe_figures {
	uint64_t bytes;
	uint32_t count, spacing; /* in force */
	uint64_t refused;	 /* not stored, because KEYFRAMES_RAW_MAX were not packed yet */
};

struct keyframes;
/* One reference is returned. NO_MEMORY. */
MUST_CHECK enum status keyframes_create(const struct keyframe_policy *policy,
					struct keyframes **out);
struct keyframes *keyframes_retain(struct keyframes *self);
void keyframes_release(struct keyframes *self); /* NULL is ignored */

/* Ticks between keyframes now; 0: none are made. */
uint32_t keyframes_spacing(struct keyframes *self);
/* Whether an image may be put now. */
bool keyframes_has_room(struct keyframes *self);
/* Takes the contents of both lists in any case. The image may be open (world_save_open).
 * `from`: the tick after which the bounds count, of the same epoch. `bounded`: they are complete. `image`
 * NULL: the span's bounds only, at the end of an epoch. */
void keyframes_put(struct keyframes *self, struct recorded_place place, uint64_t from,
		   struct bytes *image, struct keyframe_bounds_list *bounds, bool bounded);
/* Compresses one image; false: none waits. */
bool keyframes_pack(struct keyframes *self);
/* The nearest keyframe at or before `place`, in the same epoch: its place, and its image appended. MISSING,
 * CORRUPT, NO_MEMORY. */
MUST_CHECK enum status keyframes_find(struct keyframes *self, struct recorded_place place,
				      struct recorded_place *found, struct bytes *image);
/* Its place only; false: none. */
bool keyframes_nearest(struct keyframes *self, struct recorded_place place,
		       struct recorded_place *found);
/* Drops those before `place`, whose later records are gone. */
void keyframes_forget(struct keyframes *self, struct recorded_place place);
struct keyframe_figures keyframes_figures(struct keyframes *self);

/* What a quantity is compared with. */
struct keyframe_condition {
	body_id body; /* 0: any */
	uint32_t quantity;
	bool above;
	double value;
};
bool keyframe_holds(const struct keyframe_condition *condition, double quantity);
/* The end of the span that has the tick after `place`; `fallback` if there is none. */
uint64_t keyframes_span_end(struct keyframes *self, struct recorded_place place, uint64_t fallback);
/* The end of the run of ticks, beginning after `place`, in all of whose states the condition stays as it is
 * at `place` if it is false there; `place` itself if it may become true in the first span. */
uint64_t keyframes_excluded(struct keyframes *self, struct recorded_place place,
			    const struct keyframe_condition *condition);
/* The same backward: the beginning of the run of ticks that ends at `place`. */
uint64_t keyframes_excluded_before(struct keyframes *self, struct recorded_place place,
				   const struct keyframe_condition *condition);

#endif
