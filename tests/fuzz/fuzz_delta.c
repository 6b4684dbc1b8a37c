/* A mirror that receives arbitrary frames of bodies, joints and particles. The first byte chooses the profile
 * and (from bit 3 on, the highest bit for two) the columns of joints, the second the fields; then
 * frames follow. The mirror's ids always ascend and its size is bounded. After a frame was applied
 * whole, the mirror's state makes a snapshot that another mirror accepts, with the same hash. In
 * the quantised profiles all its integers are in range and the decoded values are finite. */
#include <string.h>

#include "protocol/delta.h"
#include "protocol/frame.h"
#include "protocol/mirror.h"
#include "protocol/pack.h"
#include "protocol/unpack.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count);

enum { BODIES_MAX = 2000 };
static struct block_row rows[BODIES_MAX];
static struct joint_row joint_rows[BODIES_MAX];
static uint8_t again[WIRE_FRAME_DOWN];

static void check_order(const struct mirror *mirror)
{
	ASSERT(mirror->count <= BODIES_MAX);
	for (uint32_t i = 1; i < mirror->count; i++)
		ASSERT(mirror->bodies[i].id > mirror->bodies[i - 1].id);
	ASSERT(mirror->joints.count <= BODIES_MAX);
	for (uint32_t i = 1; i < mirror->joints.count; i++)
		ASSERT(mirror->joints.items[i].id > mirror->joints.items[i - 1].id);
}

static void check_steps(const struct mirror *mirror)
{
	for (uint32_t i = 0; i < mirror->count && mirror->quantised != NULL; i++) {
		const struct wire_quantised *values = &mirror->quantised[i];
		ASSERT(values->largest < 4);
		for (int k = 0; k < 3; k++) {
			ASSERT(values->position[k] >= -WIRE_QUANTISED_POSITION_MAX &&
			       values->position[k] <= WIRE_QUANTISED_POSITION_MAX);
			ASSERT(values->velocity[k] >= -WIRE_QUANTISED_SPEED_MAX &&
			       values->velocity[k] <= WIRE_QUANTISED_SPEED_MAX);
			ASSERT(values->spin[k] >= -WIRE_QUANTISED_SPEED_MAX &&
			       values->spin[k] <= WIRE_QUANTISED_SPEED_MAX);
			ASSERT(values->rotation[k] >= -wire_scale_of(mirror->profile)->rotation &&
			       values->rotation[k] <= wire_scale_of(mirror->profile)->rotation);
			ASSERT(mirror->bodies[i].rotation[k] - mirror->bodies[i].rotation[k] == 0);
		}
	}
}

static void check_contacts(const struct mirror *mirror)
{
	for (uint32_t i = 0; i < mirror->count; i++) {
		const struct wire_body *body = &mirror->bodies[i];
		struct wire_touches touches;
		struct wire_touch touch;
		wire_touches_open(&touches, mirror->profile,
				  (struct wire_slice){ body->contacts, body->contact_bytes });
		while (wire_touches_next(&touches, &touch))
			ASSERT(touch.impulse - touch.impulse == 0 &&
			       touch.normal[0] - touch.normal[0] == 0);
		ASSERT(!touches.broken && touches.left == 0);
	}
}

/* The joints of the mirror are finite, and pack to rows that another mirror accepts, with the same
 * hash. */
static void check_joints(const struct mirror *mirror)
{
	const struct mirror_joints *joints = &mirror->joints;
	struct mirror_joints copy = { .profile = joints->profile,
				      .columns = joints->columns,
				      .max = BODIES_MAX };
	struct msg_rows frame = { .of = 1, .flags = WIRE_FRAME_WHOLE };
	struct wire_packer out = wire_packer_over(again, sizeof again);
	for (uint32_t i = 0; i < joints->count; i++) {
		const struct wire_joint *joint = &joints->items[i];
		for (int k = 0; k < 6; k++)
			ASSERT(joint->coordinates[k] - joint->coordinates[k] == 0);
		joint_rows[i] = (struct joint_row){ joint, joints->columns };
	}
	if (joints->columns == 0)
		return;
	joint_rows_pack(&out, joints->profile, joints->columns, joint_rows, joints->count);
	if (out.status != STATUS_OK)
		return; /* a tag beyond 2^53 has no plain form, or the rows are larger than a frame */
	frame.columns = wire_packer_slice(&out);
	ASSERT(mirror_joints_apply(&copy, &frame) == STATUS_OK);
	ASSERT(mirror_joints_hash(&copy, 1) == mirror_joints_hash(joints, 1));
	mirror_joints_release(&copy);
}

static void check_copy(const struct mirror *mirror)
{
	struct mirror copy;
	struct msg_snapshot frame = { .tick = mirror->tick, .of = 1 };
	struct wire_packer out = wire_packer_over(again, sizeof again);
	bool last;
	for (uint32_t i = 0; i < mirror->count; i++)
		rows[i] = (struct block_row){
			.body = &mirror->bodies[i],
			.mask = mirror->fields,
			.to = mirror->quantised != NULL ? &mirror->quantised[i] : NULL,
			.contacts = { mirror->bodies[i].contacts, mirror->bodies[i].contact_bytes },
		};
	block_pack(&out, mirror->profile, mirror->fields, rows, mirror->count);
	if (out.status != STATUS_OK)
		return; /* a tag beyond 2^53 has no plain form, or the rows are larger than a frame */
	frame.columns = wire_packer_slice(&out);
	mirror_init(&copy, mirror->profile, mirror->fields, BODIES_MAX);
	ASSERT(mirror_snapshot(&copy, &frame, &last) == STATUS_OK && last);
	ASSERT(mirror_view_hash(&copy, 1) == mirror_view_hash(mirror, 1));
	ASSERT(mirror_tick_hash(&copy, 1) == mirror_tick_hash(mirror, 1));
	mirror_release(&copy);
}

/* The particles of the mirror ascend, and pack to blocks that another mirror accepts, with the same
 * hash. */
static void check_particles(const struct mirror *mirror)
{
	static struct mirror_particles copy;
	const struct mirror_particles *own = &mirror->particles;
	const struct particle_list *shown = &own->shown;
	struct particle_parts parts = { 0 };
	const struct particle_frame frame = { .profile = own->profile,
					      .columns = own->columns,
					      .flags = WIRE_FRAME_WHOLE,
					      .systems = own->systems,
					      .system_count = own->system_count,
					      .now = shown->items.items,
					      .now_count = shown->items.count };
	ASSERT(shown->items.count <= BODIES_MAX);
	for (uint32_t i = 1; i < shown->items.count; i++)
		ASSERT(wire_particle_compare(&shown->items.items[i - 1], &shown->items.items[i]) <
		       0);
	copy = (struct mirror_particles){ .profile = own->profile,
					  .columns = own->columns,
					  .max = BODIES_MAX };
	ASSERT(particle_parts_make(&frame, WIRE_FRAME_PARTICLES, &parts) == STATUS_OK);
	for (uint32_t i = 0; i < parts.items.count; i++) {
		static uint8_t content[WIRE_HEAD_MAX + WIRE_FRAME_PARTICLES];
		struct message message;
		uint32_t bytes, head;
		ASSERT(particle_parts_pack_tail(&frame, &parts, i, content + WIRE_HEAD_MAX,
						WIRE_FRAME_PARTICLES, &bytes) == STATUS_OK);
		uint8_t first[WIRE_HEAD_MAX];
		head = message_pack_head(MESSAGE_BLOCKS, 1, bytes, false, first);
		memcpy(content + WIRE_HEAD_MAX - head, first, head);
		ASSERT(message_read(content + WIRE_HEAD_MAX - head, head + bytes, &VALIDATE_DOWN,
				    &message, NULL) == STATUS_OK);
		ASSERT(mirror_particles_apply(&copy, &message.blocks) == STATUS_OK);
	}
	ASSERT(mirror_particles_hash(&copy, 1) == mirror_particles_hash(own, 1));
	particle_parts_release(&parts);
	mirror_particles_release(&copy);
}

static void apply(struct mirror *mirror, struct wire_slice content, bool hashed)
{
	struct message message;
	enum status status = STATUS_TYPE;
	bool last = false;
	if (message_read(content.at, content.bytes, &VALIDATE_DOWN, &message, NULL) != STATUS_OK)
		return;
	/* A fuzzer cannot guess a hash, so the right one is filled in; with bit 2 of the first byte
	 * it stays wrong. */
	if (message.type == MESSAGE_SNAPSHOT) {
		message.snapshot.hash.set = message.snapshot.hash.set && hashed;
		status = mirror_snapshot(mirror, &message.snapshot, &last);
	} else if (message.type == MESSAGE_DELTA) {
		message.delta.hash.set = message.delta.hash.set && hashed;
		status = mirror_delta(mirror, &message.delta, &last);
	} else if (message.type == MESSAGE_ROWS) {
		message.rows.hash.set = message.rows.hash.set && hashed;
		status = mirror_rows(mirror, &message.rows, &last);
	} else if (message.type == MESSAGE_BLOCKS) {
		message.blocks.hash.set = message.blocks.hash.set && hashed;
		status = mirror_blocks(mirror, &message.blocks, &last);
	} else {
		return;
	}
	check_order(mirror);
	check_steps(mirror);
	check_contacts(mirror);
	ASSERT(mirror->complete == (status == STATUS_OK && last));
	if (mirror->complete)
		check_copy(mirror);
	if (mirror->complete)
		check_joints(mirror);
	if (mirror->complete)
		check_particles(mirror);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count)
{
	struct mirror mirror;
	struct wire_slice content;
	size_t bytes;
	if (count < 2 || data[1] == 0)
		return 0;
	/* Bit 7 is no column; here it stands for bit 8. */
	wire_mask fields = data[1] & WIRE_COLUMNS_ALL;
	fields |= data[1] & 0x80 ? WIRE_COLUMN_CONTACTS : 0;
	bool hashed = (data[0] & 4) != 0;
	wire_mask joints = data[0] >> 3;
	joints |= (wire_mask)((joints & 16) << 1);
	mirror_init(&mirror, (enum wire_profile)(data[0] & 3), fields, BODIES_MAX);
	mirror_watch_joints(&mirror, joints, BODIES_MAX);
	mirror_watch_particles(&mirror, WIRE_PARTICLE_COLUMNS_ALL, BODIES_MAX);
	data += 2;
	count -= 2;
	while (frame_split(data, count, WIRE_FRAME_DOWN, &content, &bytes) == STATUS_OK) {
		apply(&mirror, content, hashed);
		data += bytes;
		count -= bytes;
	}
	mirror_release(&mirror);
	return 0;
}
