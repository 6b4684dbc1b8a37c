/* host_answer.h: shared by the files that answer queries (host_query.c, host_shape_query.c, …):
 * vectors to and from the wire, and a packer over a buffer that grows with the answer. */
#ifndef CAIRN_HOST_ANSWER_H
#define CAIRN_HOST_ANSWER_H

#include "protocol/query_wire.h"
#include "server/base/bytes.h"
#include "server/engine/engine.h"

static inline void put_vec3(double to[3], vec3 from)
{
	to[0] = from.x;
	to[1] = from.y;
	to[2] = from.z;
}

static inline void put_quat(double to[4], quat from)
{
	to[0] = from.w;
	to[1] = from.x;
	to[2] = from.y;
	to[3] = from.z;
}

static inline vec3 get_vec3(const double from[3])
{
	return (vec3){ from[0], from[1], from[2] };
}

static inline quat get_quat(const double from[4])
{
	return (quat){ from[0], from[1], from[2], from[3] };
}

static inline struct query_filter filter_of(const struct wire_query *query)
{
	return (struct query_filter){ query->category, query->mask, query->ignore };
}

/* A packer over `room` new bytes at the end of `out`; without memory its status stays NO_MEMORY. */
static inline struct wire_packer packer_into(struct bytes *out, size_t room)
{
	if (bytes_reserve(out, room) != STATUS_OK) {
		struct wire_packer none = wire_packer_over(out->data, 0);
		none.status = STATUS_NO_MEMORY;
		return none;
	}
	return wire_packer_over(out->data + out->count, (uint32_t)room);
}

static inline enum status packed(struct bytes *out, const struct wire_packer *packer)
{
	enum status status = wire_packer_status(packer);
	if (status == STATUS_OK)
		out->count += packer->bytes;
	return status;
}

/* host_lists.c */
struct host;
MUST_CHECK enum status host_answer_methods(struct host *host, struct bytes *out);
MUST_CHECK enum status host_answer_parameters(struct host *host, struct bytes *out);

/* host_robot.c */
MUST_CHECK enum status host_answer_robot(struct host *host, const struct wire_query *query,
					 struct bytes *out, uint64_t *work, struct reason *why);
MUST_CHECK enum status host_answer_dynamics(struct host *host, const struct wire_query *query,
					    struct bytes *out, uint64_t *work, struct reason *why);
MUST_CHECK enum status host_answer_inertia(struct host *host, const struct wire_query *query,
					   struct bytes *out, struct reason *why);
MUST_CHECK enum status host_answer_jacobian(struct host *host, const struct wire_query *query,
					    struct bytes *out, struct reason *why);

/* host_joints.c */
MUST_CHECK enum status host_answer_joint(struct host *host, const struct wire_query *query,
					 struct bytes *out, struct reason *why);
MUST_CHECK enum status host_answer_joints(struct host *host, const struct wire_query *query,
					  struct bytes *out);
MUST_CHECK enum status host_answer_fields(struct host *host, const struct wire_query *query,
					  struct bytes *out);
/* host_particles.c */
MUST_CHECK enum status host_answer_systems(struct host *host, struct bytes *out);
MUST_CHECK enum status host_answer_fluids(struct host *host, struct bytes *out);
MUST_CHECK enum status host_answer_links(struct host *host, const struct wire_query *query,
					 struct bytes *out, struct reason *why);
MUST_CHECK enum status host_answer_particles(struct host *host, const struct wire_query *query,
					     struct bytes *out, struct reason *why);
MUST_CHECK enum status host_answer_linked(struct host *host, const struct wire_query *query,
					  struct bytes *out);
/* All joints as rows of profile `plain`, with all columns. */
MUST_CHECK enum status host_observe_joints(struct host *host, struct bytes *out);

#endif
