/* See film.h. */
#include "server/commands/film.h"

#include "server/engine/math/scalar.h"
#include "server/engine/math/trig.h"

#define TURN 6.283185307179586

void film_release(struct film *self)
{
	ARRAY_RELEASE(&self->bodies);
	ARRAY_RELEASE(&self->pieces);
	ARRAY_RELEASE(&self->points);
	ARRAY_RELEASE(&self->poses);
	ARRAY_RELEASE(&self->pictures);
	ARRAY_RELEASE(&self->ids);
	ARRAY_RELEASE(&self->placed);
}

/* The index of a body, or of the place where it belongs. */
static uint32_t find_place(const struct film *self, body_id id)
{
	uint32_t low = 0, high = self->bodies.count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (self->bodies.items[middle].id < id)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

static enum status add_piece(struct film *self, const struct placement_view *placed)
{
	const struct polygon *polygon = placed->shape->polygon;
	ASSERT(placed->shape->kind == SHAPE_POLYGON);
	enum status status = ARRAY_RESERVE(&self->points, self->points.count + polygon->count);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->pieces, self->pieces.count + 1);
	if (status != STATUS_OK)
		return status;
	self->pieces.items[self->pieces.count++] =
		(struct film_piece){ self->points.count, polygon->count, polygon->radius };
	for (uint32_t k = 0; k < polygon->count; k++) {
		vec3 at = vec3_add(placed->position,
				   quat_rotate(placed->rotation, polygon->vertices[k]));
		self->points.items[self->points.count++] = (struct film_point){ at.x, at.y };
	}
	return STATUS_OK;
}

/* Ids of bodies only grow, so a new one comes after all that were seen. */
static enum status add_body(struct film *self, const struct world *world,
			    const struct body_view *view)
{
	uint32_t count = world_body_placements(world, view->id, NULL, 0);
	ASSERT(self->bodies.count == 0 || self->bodies.items[self->bodies.count - 1].id < view->id);
	enum status status = ARRAY_RESERVE(&self->bodies, self->bodies.count + 1);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->placed, MAX_OF(count, 1u));
	if (status != STATUS_OK)
		return status;
	world_body_placements(world, view->id, self->placed.items, count);
	struct film_body *body = &self->bodies.items[self->bodies.count];
	*body = (struct film_body){ .id = view->id,
				    .fixed = view->status != BODY_DYNAMIC,
				    .colour = view->colour,
				    .piece = self->pieces.count };
	for (uint32_t k = 0; k < count && status == STATUS_OK; k++)
		status = add_piece(self, &self->placed.items[k]);
	if (status != STATUS_OK)
		return status;
	body->piece_count = self->pieces.count - body->piece;
	self->bodies.count++;
	return STATUS_OK;
}

/* Every second picture stays, with its poses. */
static void thin_pictures(struct film *self)
{
	uint32_t kept = 0, poses = 0;
	for (uint32_t i = 0; i < self->pictures.count; i += 2) {
		struct film_picture picture = self->pictures.items[i];
		for (uint32_t k = 0; k < picture.count; k++)
			self->poses.items[poses + k] = self->poses.items[picture.first + k];
		picture.first = poses;
		poses += picture.count;
		self->pictures.items[kept++] = picture;
	}
	self->pictures.count = kept;
	self->poses.count = poses;
	self->stride *= 2;
}

/* The angle, a whole number of turns away from its principal value, that is nearest to the last
 * one. */
static double nearest_angle(double angle, double last)
{
	double turns = (last - angle) / TURN;
	double whole = (double)(int64_t)(turns + (turns < 0 ? -0.5 : 0.5));
	return angle + whole * TURN;
}

static struct film_pose pose_of(const struct film *self, const struct body_view *view,
				uint32_t body)
{
	double angle = 2 * trig_atan2(view->rotation.z, view->rotation.w), last = 0;
	for (uint32_t i = self->pictures.count; i-- > 0;) {
		const struct film_picture *before = &self->pictures.items[i];
		if (body >= before->count)
			break;
		last = self->poses.items[before->first + body].angle;
		if (self->poses.items[before->first + body].shown)
			break;
	}
	return (struct film_pose){ view->position.x, view->position.y, nearest_angle(angle, last),
				   true };
}

static enum status take_picture(struct film *self, const struct world *world)
{
	struct world_info info = world_info(world);
	uint32_t count = self->ids.count, first = self->poses.count;
	for (uint32_t i = 0; i < count; i++) {
		struct body_view view;
		uint32_t at = find_place(self, self->ids.items[i]);
		if (at < self->bodies.count && self->bodies.items[at].id == self->ids.items[i])
			continue;
		enum status status = world_body(world, self->ids.items[i], &view);
		if (status == STATUS_OK)
			status = add_body(self, world, &view);
		if (status != STATUS_OK)
			return status;
	}
	enum status status = ARRAY_RESERVE(&self->poses, first + self->bodies.count);
	if (status == STATUS_OK)
		status = ARRAY_RESERVE(&self->pictures, self->pictures.count + 1);
	if (status != STATUS_OK)
		return status;
	for (uint32_t i = 0; i < self->bodies.count; i++)
		self->poses.items[first + i] = (struct film_pose){ .shown = false };
	for (uint32_t i = 0; i < count && status == STATUS_OK; i++) {
		struct body_view view;
		uint32_t at = find_place(self, self->ids.items[i]);
		status = world_body(world, self->ids.items[i], &view);
		if (status == STATUS_OK)
			self->poses.items[first + at] = pose_of(self, &view, at);
	}
	self->poses.count = first + self->bodies.count;
	self->pictures.items[self->pictures.count++] =
		(struct film_picture){ info.tick, (double)info.tick * info.rate_den / info.rate_num,
				       first, self->bodies.count };
	return status;
}

enum status film_add(struct film *self, const struct world *world, struct reason *why)
{
	uint32_t count = world_bodies(world, NULL, 0);
	if (!world_info(world).planar)
		return reason_set(why, STATUS_PLANAR, -1, "planar",
				  "only planar worlds can be drawn: give the world `planar: true`");
	self->stride = MAX_OF(self->stride, 1u);
	if (self->offered++ % self->stride != 0)
		return STATUS_OK;
	enum status status = ARRAY_RESERVE(&self->ids, MAX_OF(count, 1u));
	if (status == STATUS_OK) {
		self->ids.count = world_bodies(world, self->ids.items, count);
		status = take_picture(self, world);
	}
	if (status == STATUS_OK && self->bodies.count > FILM_BODIES_MAX)
		return reason_set(why, STATUS_LIMIT, -1, "bodies",
				  "%u bodies: at most %d can be drawn", self->bodies.count,
				  FILM_BODIES_MAX);
	if (status != STATUS_OK)
		return reason_set(why, status, -1, "bodies", "%s", status_text(status));
	if (self->poses.count > FILM_POSES_MAX && self->pictures.count > 1)
		thin_pictures(self);
	return STATUS_OK;
}
