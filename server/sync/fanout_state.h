/* fanout_state.h: what fanout.c and fanout_encode.c share. */
#ifndef CAIRN_SYNC_FANOUT_STATE_H
#define CAIRN_SYNC_FANOUT_STATE_H

#include "protocol/delta.h"
#include "server/sync/fanout.h"
#include "server/sync/interest.h"
#include "server/sync/quantised.h"

enum {
	FANOUT_SLICE = 64,	  /* subscriptions served before the loop is let go on, */
	FANOUT_SLICE_WORK = 4096, /* and watched changes that frames are made of */
	/* An area in which nothing changes is told the tick this often. */
	FANOUT_QUIET_TICKS = 15,
};
/* Frames (without their heads) that everybody in the group gets. */
struct fanout_group {
	struct interest *interest; /* NULL: the whole world */
	uint64_t base;		   /* serial, 0: a SNAPSHOT */
	uint64_t base_tick;
	uint32_t base_edit;
	struct interest_mark mark; /* of the members' last frame */
	struct interest_mark next; /* of this one */
	enum wire_profile profile;
	wire_mask fields, joints;
	bool hashed;
	bool empty; /* nothing has changed; not encoded yet */
	uint32_t frame_max;
	uint32_t following;		/* the next group of the same interest, index + 1 */
	ARRAY_OF(struct frame *) tails; /* references */
	uint32_t body_tails; /* the first ones, of SNAPSHOT or DELTA; the others are of ROWS */
};

/* What a group is to be told of joints. */
struct joint_delta {
	ARRAY_OF(const struct view_joint *) seen; /* by the group, ascending ids; borrowed */
	ARRAY_OF(struct joint_row) rows;	  /* ascending ids; borrowed from the view */
	ARRAY_OF(uint32_t) removed;		  /* ascending */
	bool due;				  /* there is something to tell: ROWS follow */
	bool whole;				  /* the rows are all there are */
};

#define FANOUT_RUNNING_REST_NS (UINT64_C(200) * NS_PER_MS)

struct fanout {
	struct frame_pool *pool;
	struct view view;
	bool standing; /* the mirror is good */
	/* Of the profiles `view` and `sim`, while anybody subscribes to them. */
	struct quantised quantised[QUANTISED_PROFILES];
	uint32_t quantised_users[QUANTISED_PROFILES];
	uint32_t contact_users[WIRE_PROFILES]; /* subscriptions to contacts, by profile */
	struct interest_map interests;
	ARRAY_OF(struct subscription *) subscriptions;
	ARRAY_OF(struct fanout_group) groups;
	uint32_t group_count;  /* in use; the others keep their memory */
	uint32_t world_groups; /* the first group of the whole world, index + 1 */
	uint64_t round;	       /* grows with each report: groups of another round are void */
	struct view_delta delta;
	struct joint_delta joint_delta;
	/* From the first frame on: a world that nobody watches needs neither. */
	struct delta_part *parts;
	uint8_t *scratch; /* one part, before it is copied into a frame of its size */
	/* The events of the report at hand, packed one after the other. */
	struct bytes event_bytes;
	ARRAY_OF(uint32_t) event_ends;
	/* A round serves `left` subscriptions from `turn` on, wrapping, a slice at a time. */
	uint32_t turn, left;
	bool parts_wait; /* of somebody who was served in this round */
	bool last_words;
	bool runs;    /* the world, as of the last report */
	bool again;   /* this round is for who was passed over, or is behind: it counts no skips */
	bool at_rest; /* and no step follows: everybody is brought up to date, whatever their pace */
	bool rest_due; /* a step was made that may be the last one for long */
	bool short_of; /* somebody was passed over in this round for want of allowance */
	uint64_t rows_hashed;
	uint64_t joints_looked; /* held against interests, packed, hashed */
	uint32_t joint_users;	/* subscriptions to joints */
	bool told_contacts;	/* the last report told them */
	uint64_t stepped_at;	/* instant of the last step's report */
	struct fanout_counters counters;
};

/* fanout_encode.c */
void fanout_drop_groups(struct fanout *self);
/* The group a subscription is in now, collected, and encoded unless it is empty. NULL without
 * memory. */
struct fanout_group *fanout_group(struct fanout *self, const struct subscription *sub);
/* For a group that is empty. */
MUST_CHECK enum status fanout_encode_empty(struct fanout *self, struct fanout_group *group);
/* A frame for a subscription with a budget alone; it must be used before the next group is asked
 * for. */
struct fanout_group *fanout_ration_group(struct fanout *self, struct subscription *sub,
					 bool *partial);
/* One user of a profile, and perhaps of its contacts, more or less. */
void fanout_use_profile(struct fanout *self, enum wire_profile profile, wire_mask fields,
			int users);
/* Puts the part that stands in `scratch` behind the group's tails. */
MUST_CHECK enum status fanout_store_part(struct fanout *self, struct fanout_group *group,
					 uint32_t bytes);

/* fanout_joints.c */
/* What the group is to be told, in joint_delta; after its bodies have been collected. */
MUST_CHECK enum status fanout_collect_joints(struct fanout *self, const struct fanout_group *group);
/* Nothing. */
void fanout_no_joints(struct fanout *self);
/* Encodes what has been collected behind the group's other parts. */
MUST_CHECK enum status fanout_encode_joints(struct fanout *self, struct fanout_group *group,
					    uint8_t flags);

/* fanout_encode.c */
/* The quantised columns follow the view. */
void fanout_follow_view(struct fanout *self);

#endif
