/* fanout_state.h: the state that fanout.c, fanout_encode.c, fanout_joints.c and fanout_particles.c
 * share. */
#ifndef CAIRN_SYNC_FANOUT_STATE_H
#define CAIRN_SYNC_FANOUT_STATE_H

#include "protocol/delta.h"
#include "protocol/particle_blocks.h"
#include "server/sync/fanout.h"
#include "server/sync/interest.h"
#include "server/sync/quantised.h"

enum {
	FANOUT_SLICE = 64,	  /* a slice serves at most so many subscriptions, */
	FANOUT_SLICE_WORK = 4096, /* and ends after so many watched changes */
	/* A subscription without changes gets an empty frame, for the tick, this often. */
	FANOUT_QUIET_TICKS = 15,
};
/* The parts (without their heads) that every subscription of the group gets. */
struct fanout_group {
	struct interest *interest; /* NULL: the whole world */
	uint64_t base;		   /* serial, 0: a SNAPSHOT */
	uint64_t base_tick;
	uint32_t base_edit;
	struct interest_mark mark; /* of the members' last frame */
	struct interest_mark next; /* of this one */
	enum wire_profile profile;
	wire_mask fields, joints, particles;
	uint32_t sample;
	bool hashed;
	bool empty; /* nothing has changed, and nothing is encoded yet */
	uint32_t frame_max;
	uint32_t following; /* index + 1 of the next group of the same interest, 0 none */
	ARRAY_OF(struct frame *) tails; /* references */
	uint32_t body_tails;		/* the first ones, of SNAPSHOT or DELTA; */
	uint32_t row_tails;		/* up to here of ROWS; the others are of BLOCKS */
};

/* The changes of joints that a group's frame contains. */
struct joint_delta {
	ARRAY_OF(const struct view_joint *) seen; /* by the group, ascending ids; borrowed */
	ARRAY_OF(struct joint_row) rows;	  /* ascending ids; borrowed from the view */
	ARRAY_OF(uint32_t) removed;		  /* ascending */
	bool due;				  /* there are changes: ROWS follow the bodies */
	bool whole;				  /* the rows are all joints that the group sees */
};

/* The particles that a group's frame contains. */
struct particle_delta {
	bool due; /* BLOCKS follow */
	struct particle_frame frame;
	struct particle_parts parts; /* of it */
	struct wire_system_count systems[SYSTEMS_MAX];
	struct wire_forecast forecasts[SYSTEMS_MAX];
	/* What an area or a sample sees of the base and of today's state. */
	ARRAY_OF(struct wire_particle) seen[2];
};

/* A running world without a step for this time counts as at rest (FANOUT_REST_NS). */
#define FANOUT_RUNNING_REST_NS (UINT64_C(200) * NS_PER_MS)

struct fanout {
	struct frame_pool *pool;
	struct view view;
	bool standing; /* the mirror is valid */
	/* Of the profiles `view` and `sim`, while they have subscriptions. */
	struct quantised quantised[QUANTISED_PROFILES];
	uint32_t quantised_users[QUANTISED_PROFILES];
	uint32_t contact_users[WIRE_PROFILES]; /* subscriptions to contacts, by profile */
	struct interest_map interests;
	ARRAY_OF(struct subscription *) subscriptions;
	ARRAY_OF(struct fanout_group) groups;
	uint32_t group_count;  /* in use; the others keep their memory */
	uint32_t world_groups; /* the first group of the whole world, index + 1 */
	uint64_t round;	       /* counts reports: groups of another round are void */
	struct view_delta delta;
	struct joint_delta joint_delta;
	struct particle_delta particle_delta;
	/* Owned; allocated with the first frame, because a world without subscriptions needs
	 * neither. */
	struct delta_part *parts;
	uint8_t *scratch; /* one part, before it is copied into a frame of its size */
	/* The events of the present report, packed one after the other. */
	struct bytes event_bytes;
	ARRAY_OF(uint32_t) event_ends;
	/* The round still has to serve `left` subscriptions, from index `turn` on, wrapping. */
	uint32_t turn, left;
	bool parts_wait; /* a subscription served in this round has parts left to send */
	bool last_words;
	bool runs;  /* the world, as of the last report */
	bool again; /* this round is for subscriptions that were skipped: it counts no skips */
	bool at_rest; /* no step follows: every subscription gets the newest state, whatever its divisor */
	bool rest_due; /* the last step may stay the last one for long */
	bool short_of; /* a subscription was skipped in this round because its allowance was empty */
	uint64_t rows_hashed;
	uint64_t joints_looked;	   /* joints visited, packed, hashed */
	uint32_t joint_users;	   /* subscriptions to joints */
	uint64_t particles_looked; /* particles compared, packed, hashed */
	uint32_t particle_users;   /* subscriptions to particles */
	bool had_contacts;	   /* the last report contained contacts */
	uint64_t stepped_at;	   /* instant of the last step's report */
	struct fanout_counters counters;
};

/* fanout_encode.c */
void fanout_drop_groups(struct fanout *self);
/* The group that a subscription is in now, encoded unless it is empty. NULL without memory. */
struct fanout_group *fanout_group(struct fanout *self, const struct subscription *sub);
/* Encodes an empty group. NO_MEMORY. */
MUST_CHECK enum status fanout_encode_empty(struct fanout *self, struct fanout_group *group);
/* A group for one subscription with a budget; valid until the next call for a group. */
struct fanout_group *fanout_ration_group(struct fanout *self, struct subscription *sub,
					 bool *partial);
/* Counts `users` (1 or -1) more subscriptions to a profile, and to its contacts if `fields` has
 * them. */
void fanout_use_profile(struct fanout *self, enum wire_profile profile, wire_mask fields,
			int users);
/* Copies the part in `scratch` behind the group's tails. NO_MEMORY. */
MUST_CHECK enum status fanout_store_part(struct fanout *self, struct fanout_group *group,
					 uint32_t bytes);

/* fanout_joints.c */
/* Collects the group's changes of joints into joint_delta, after its bodies were collected.
 * NO_MEMORY. */
MUST_CHECK enum status fanout_collect_joints(struct fanout *self, const struct fanout_group *group);
/* Empties joint_delta. */
void fanout_no_joints(struct fanout *self);
/* Encodes joint_delta behind the group's other parts. NO_MEMORY. */
MUST_CHECK enum status fanout_encode_joints(struct fanout *self, struct fanout_group *group,
					    uint8_t flags);

/* fanout_particles.c */
/* Encodes the group's particles into particle_delta. NO_MEMORY. */
MUST_CHECK enum status fanout_collect_particles(struct fanout *self,
						const struct fanout_group *group);
/* Empties particle_delta. */
void fanout_no_particles(struct fanout *self);
void fanout_release_particles(struct fanout *self);
/* Stores the parts of particle_delta behind the group's other parts. NO_MEMORY. */
MUST_CHECK enum status fanout_encode_particles(struct fanout *self, struct fanout_group *group,
					       uint8_t flags);

/* fanout_encode.c */
/* Updates the quantised columns to the view. */
void fanout_follow_view(struct fanout *self);

#endif
