/* mirror_particles.h: the particles of a mirror (mirror.h), ascending by (system, serial).
 *
 * The particles are exactly those of the server that the subscription sees. The parts of a frame
 * are built into a second list that takes the place of the first when the last part has come, so a
 * frame that breaks off leaves the particles of the frame before.
 */
#ifndef CAIRN_PROTOCOL_MIRROR_PARTICLES_H
#define CAIRN_PROTOCOL_MIRROR_PARTICLES_H

#include "protocol/particle_blocks.h"

struct particle_list {
	ARRAY_OF(struct wire_particle) items;
	/* Profiles `view` and `sim`: the integers of each; else empty. */
	ARRAY_OF(struct wire_particle_steps) steps;
};

struct mirror_particles {
	enum wire_profile profile;
	wire_mask columns; /* as subscribed; 0 none */
	uint32_t max;	   /* a server that sends more is refused */
	struct particle_list shown;
	uint32_t system_count;
	struct wire_system_count systems[WIRE_SYSTEMS_MAX]; /* all of the world, ids ascending */

	/* The frame that is arriving. */
	struct particle_list next;
	uint32_t read; /* next of `shown` */
	uint32_t block_system;
	uint64_t block_last; /* of the last block */
	struct wire_forecast forecast;
	/* Of a block. */
	uint32_t removed_count, created_count, kept_count;
	uint64_t removed[WIRE_BLOCK_ROWS], created[WIRE_BLOCK_ROWS];
	uint32_t born[WIRE_BLOCK_ROWS];	  /* indices in `next` of the created */
	uint32_t kept[WIRE_BLOCK_ROWS];	  /* of the kept, */
	uint32_t before[WIRE_BLOCK_ROWS]; /* and in `shown` */
};

void mirror_particles_release(struct mirror_particles *self);
/* The mirror is empty: before a SNAPSHOT. */
void mirror_particles_clear(struct mirror_particles *self);
/* Applies one message; after the last part the frame is shown. MALFORMED, LIMIT, NO_MEMORY: the
 * next message must be a part 0. */
MUST_CHECK enum status mirror_particles_apply(struct mirror_particles *self,
					      const struct msg_blocks *frame);
/* Hash of all of them, as the last part of BLOCKS carries it. */
uint64_t mirror_particles_hash(const struct mirror_particles *self, uint64_t tick);
/* NULL when there is none. Borrowed until the next frame. */
const struct wire_particle *mirror_particles_find(const struct mirror_particles *self,
						  uint32_t system, uint64_t serial);

#endif
