/* Acts of the clients in a life: honest ones, stalled ones, lost ones, hostile ones. */
#include <stdio.h>
#include <string.h>

#include "protocol/command_wire.h"
#include "protocol/group_wire.h"
#include "protocol/pack.h"
#include "protocol/unpack.h"
#include "protocol/query_wire.h"
#include "tests/lib/gen_commands.h"
#include "tests/lib/gen_message.h"
#include "tests/lib/sim_life.h"
#include "tests/lib/worlds.h"

enum { AT_AHEAD = 30, SUBSCRIPTIONS = 4, COMMANDS = 8 };

static uint32_t draw(struct life *life, uint32_t below)
{
	return life_draw(life, below);
}

static enum wire_role role_of(const struct sim_client *client)
{
	return client->handshake.role;
}

void life_ask(struct life *life, struct sim_client *client, const struct message *message,
	      enum message_type answer)
{
	sim_send(client, message);
	if (life->ask_count == LIFE_ASKS_MAX)
		return;
	life->asks[life->ask_count++] = (struct life_ask){
		.client = client,
		.about = message->type,
		.answer = answer,
		.ref = message_ref(message),
		.resumes = client->resumes,
		.forbidden = role_of(client) < message_info(message->type)->role,
	};
}

/* ---- worlds ------------------------------------------------------------------------------------- */

static void join(struct life *life, struct life_seat *seat, uint32_t w)
{
	struct message join;
	message_init(&join, MESSAGE_WORLD_JOIN);
	join.world_join.ref = sim_ref(seat->client);
	join.world_join.world = life->worlds[w];
	life_ask(life, seat->client, &join, MESSAGE_WORLD_INFO);
	seat->joined[w] = true;
}

static void forget_subscriptions(struct sim_client *client, uint32_t world)
{
	for (uint32_t i = client->subscription_count; i-- > 0;) {
		if (client->subscriptions[i].world != world)
			continue;
		mirror_release(&client->subscriptions[i].mirror);
		client->subscriptions[i] = client->subscriptions[--client->subscription_count];
	}
}

static void leave(struct life *life, struct life_seat *seat, uint32_t w)
{
	struct message leave;
	message_init(&leave, MESSAGE_WORLD_LEAVE);
	leave.world_leave.ref = sim_ref(seat->client);
	leave.world_leave.world = life->worlds[w];
	life_ask(life, seat->client, &leave, MESSAGE_REPLY);
	seat->joined[w] = false;
	life->left[seat->client->index] = true;
	/* Its subscriptions in that world end with the membership. */
	forget_subscriptions(seat->client, life->worlds[w]);
}

/* ---- commands ----------------------------------------------------------------------------------- */

/* An existing body that belongs to another session; 0: there is none. */
static body_id other_body(struct life *life, const struct sim_client *client, uint32_t world)
{
	static body_id ids[1 << 14];
	const struct world *of = server_sim_world(life->sim, world);
	uint32_t count =
		of != NULL ? MIN_OF(world_bodies(of, ids, COUNT_OF(ids)), COUNT_OF(ids)) : 0;
	struct body_view view;
	if (count == 0)
		return 0;
	body_id id = ids[draw(life, count)];
	if (world_body(of, id, &view) != STATUS_OK || view.owner == client->session)
		return 0;
	return id;
}

/* An existing joint of the client's own, or 0. */
static joint_id own_joint(struct life *life, const struct sim_client *client,
			  const struct world *of)
{
	static joint_id ids[4096];
	uint32_t count = MIN_OF(world_joints(of, 0, ids, COUNT_OF(ids)), COUNT_OF(ids)), kept = 0;
	struct joint_view view;
	for (uint32_t i = 0; i < count; i++)
		if (world_joint(of, ids[i], &view) == STATUS_OK && view.owner == client->session)
			ids[kept++] = ids[i];
	return kept > 0 ? ids[draw(life, kept)] : 0;
}

/* Joins the first body of the batch to the world or to any body; often owned by the client. */
static uint32_t draw_joining(struct life *life, const struct life_fate *fate,
			     struct gen_commands *gen, struct command *commands, uint32_t count)
{
	struct command *create = &commands[count];
	uint8_t type;
	gen_command(gen, COMMAND_JOINT_CREATE, create);
	type = create->joint_create.type;
	create->joint_create.body_b = -1;
	create->joint_create.owner = draw(life, 3) > 0 ? fate->client->session : 0;
	if (fate->role == WIRE_ROLE_PLAYER && draw(life, 4) > 0)
		create->joint_create.body_a = 0;
	if (type != JOINT_FIXED && draw(life, 2) == 0)
		gen_joint_axis(gen, type, -(int64_t)(count + 1), &commands[count + 1]);
	else
		return count + 1;
	return count + 2;
}

/* A command about an existing joint; a player mostly names one of its own. */
static uint32_t draw_joint_change(struct life *life, const struct life_fate *fate,
				  struct gen_commands *gen, struct command *commands,
				  uint32_t count)
{
	static const enum command_op ops[] = { COMMAND_JOINT_REMOVE, COMMAND_JOINT_SET,
					       COMMAND_JOINT_AXIS,   COMMAND_JOINT_TARGETS,
					       COMMAND_JOINT_TABLE,  COMMAND_JOINT_MOVE };
	struct command *change = &commands[count];
	joint_id own = own_joint(life, fate->client, gen->world);
	if (own == 0 &&
	    (fate->role == WIRE_ROLE_PLAYER || world_joints(gen->world, 0, NULL, 0) == 0))
		return count;
	gen_command(gen, ops[draw(life, COUNT_OF(ops))], change);
	if (change->op == COMMAND_JOINT_MOVE && own != 0)
		change->joint_move.joint = own;
	if (change->op == COMMAND_JOINT_REMOVE && own != 0)
		change->joint_remove.joint = own;
	if (change->op == COMMAND_JOINT_SET && own != 0)
		change->joint_set.joint = own;
	return count + 1;
}

/* A spawn with a unique tag, an impulse, sometimes a command about joints, and in some batches one
 * that must make the whole batch be refused. */
static uint32_t draw_commands(struct life *life, struct life_fate *fate,
			      struct command commands[COMMANDS])
{
	static struct gen_commands gens[2]; /* each stores the lists of the command it made last */
	uint32_t count = 0;
	double x = life_draw_real(life, 3), y = 2 + life_draw_real(life, 1),
	       z = life_draw_real(life, 3);
	commands[count++] = sim_spawn(x, y, z, fate->tag, draw(life, 4) > 0);
	command_defaults(&commands[count], COMMAND_IMPULSE);
	commands[count].impulse.body = -1;
	commands[count++].impulse.impulse =
		(vec3){ life_draw_real(life, 100), 0, life_draw_real(life, 100) };
	for (uint32_t i = 0; i < COUNT_OF(gens); i++) {
		if (draw(life, 3) > 0)
			continue;
		gen_commands_init(&gens[i], server_sim_world(life->sim, fate->world),
				  draw(life, 1 << 30));
		count = i == 0 ? draw_joining(life, fate, &gens[i], commands, count)
			       : draw_joint_change(life, fate, &gens[i], commands, count);
	}
	if (draw(life, 5) == 0) {
		command_defaults(&commands[count], COMMAND_REMOVE);
		commands[count++].remove.body = 4000000000;
	}
	body_id other = fate->role == WIRE_ROLE_PLAYER && draw(life, 3) == 0
				? other_body(life, fate->client, fate->world)
				: 0;
	if (other != 0) {
		command_defaults(&commands[count], COMMAND_IMPULSE);
		commands[count].impulse.body = other;
		commands[count++].impulse.impulse = (vec3){ 1, 2, 3 };
		fate->trespass = true;
	}
	return count;
}

static void command(struct life *life, struct life_seat *seat, uint32_t w)
{
	struct sim_client *client = seat->client;
	struct command commands[COMMANDS];
	const struct world *world = server_sim_world(life->sim, life->worlds[w]);
	if (life->fate_count == LIFE_FATES_MAX || world == NULL)
		return;
	struct life_fate *fate = &life->fates[life->fate_count++];
	*fate = (struct life_fate){
		.client = client,
		.world = life->worlds[w],
		.resumes = client->resumes,
		.role = role_of(client),
		.tag = ++life->next_tag,
	};
	uint32_t count = draw_commands(life, fate, commands);
	uint64_t tick = world_info(world).tick, at = 0;
	enum wire_late late = draw(life, 4) > 0 ? WIRE_LATE_APPLY : WIRE_LATE_REFUSE;
	if (draw(life, 6) == 0)
		at = seat->at[w] = MAX_OF(seat->at[w], tick + draw(life, AT_AHEAD));
	/* A batch without a tick of its own waits for those before it. */
	fate->dated = seat->at[w] != 0;
	fate->at = at;
	fate->batch = sim_commands(client, fate->world, commands, count, at, late);
	if (draw(life, 4) == 0) {
		/* Repeats the number with other commands: answered or ignored, never applied. */
		sim_commands_as(client, fate->world, fate->batch, commands, 1, at, late);
		fate->repeats++;
	}
}

/* ---- watching ----------------------------------------------------------------------------------- */

/* One or two areas near the bodies, fixed or attached to a body, and perhaps bodies by id. */
struct drawn_areas {
	struct wire_area areas[2];
	uint32_t area_count, follow[2], follow_count;
};

static struct drawn_areas draw_areas(struct life *life)
{
	struct drawn_areas drawn = { .area_count = 1 + draw(life, 2) };
	for (uint32_t i = 0; i < drawn.area_count; i++) {
		struct wire_area *area = &drawn.areas[i];
		area->kind = (uint8_t)(1 + draw(life, 3));
		double size = 0.5 + draw(life, 40) * 0.1;
		for (int c = 0; c < 3; c++)
			area->numbers[c] = life_draw_real(life, 3);
		for (int c = 3; c < 6 && area->kind == WIRE_AREA_BOX; c++)
			area->numbers[c] = area->numbers[c - 3] + size;
		if (area->kind == WIRE_AREA_BALL)
			area->numbers[3] = size;
		for (int c = 3; c < 7 && area->kind == WIRE_AREA_FRUSTUM; c++)
			area->numbers[c] = life_draw_real(life, 1) + (c == 3 ? 1.5 : 0);
		for (int c = 7; c < 11 && area->kind == WIRE_AREA_FRUSTUM; c++)
			area->numbers[c] = c == 9 ? 0.1 : c == 10 ? 3 * size : 0.7;
		if (draw(life, 4) == 0)
			area->body = 1 + draw(life, 30);
	}
	drawn.follow_count = draw(life, 3);
	for (uint32_t i = 0; i < drawn.follow_count; i++)
		drawn.follow[i] = 1 + draw(life, 40);
	return drawn;
}

static wire_mask draw_fields(struct life *life)
{
	wire_mask contacts = draw(life, 3) == 0 ? WIRE_COLUMN_CONTACTS : 0;
	return contacts |
	       (draw(life, 3) == 0 ? (wire_mask)(1 + draw(life, 127)) : WIRE_COLUMNS_ALL);
}

static void change_focus(struct life *life, struct life_seat *seat, uint32_t w)
{
	struct drawn_areas drawn = draw_areas(life);
	enum wire_profile profile = (enum wire_profile)draw(life, 4);
	wire_mask fields = draw_fields(life);
	uint64_t budget = draw(life, 4) == 0 ? 1000 + draw(life, 20000) : 0;
	if (seat->client->subscription_count == SUBSCRIPTIONS)
		return;
	sim_subscribe_part(seat->client, ++life->next_sub, life->worlds[w], fields, profile, 0x1fe,
			   budget, drawn.areas, drawn.area_count, drawn.follow, drawn.follow_count);
}

/* Moves the camera of an area. */
static void move_camera(struct life *life, struct sim_client *client)
{
	for (uint32_t i = 0; i < client->subscription_count; i++) {
		struct sim_subscription *subscription = &client->subscriptions[i];
		if (!subscription->part)
			continue;
		struct drawn_areas drawn = draw_areas(life);
		sim_focus(client, subscription, drawn.areas, drawn.area_count, drawn.follow,
			  drawn.follow_count);
	}
}

/* Half of the subscriptions are equal and so form one group. */
static void subscribe(struct life *life, struct life_seat *seat, uint32_t w)
{
	bool alike = draw(life, 2) == 0;
	enum wire_profile profile = alike ? WIRE_PROFILE_VIEW : (enum wire_profile)draw(life, 4);
	wire_mask fields = alike ? WIRE_COLUMNS_ALL : draw_fields(life);
	uint32_t divisor = alike ? 1 : 1 + draw(life, 4);
	if (seat->client->subscription_count == SUBSCRIPTIONS)
		return;
	sim_subscribe(seat->client, ++life->next_sub, life->worlds[w], fields, profile, divisor,
		      0x1fe);
}

static void resync(struct life *life, struct sim_client *client)
{
	struct message resync;
	if (client->subscription_count == 0)
		return;
	message_init(&resync, MESSAGE_RESYNC);
	resync.resync.sub = client->subscriptions[draw(life, client->subscription_count)].sub;
	sim_send(client, &resync);
}

static void unsubscribe(struct life *life, struct sim_client *client)
{
	struct message message;
	if (client->subscription_count == 0)
		return;
	uint32_t which = draw(life, client->subscription_count);
	message_init(&message, MESSAGE_UNSUBSCRIBE);
	message.unsubscribe.sub = client->subscriptions[which].sub;
	life_ask(life, client, &message, MESSAGE_REPLY);
	mirror_release(&client->subscriptions[which].mirror);
	client->subscriptions[which] = client->subscriptions[--client->subscription_count];
}

static void query(struct life *life, struct sim_client *client, uint32_t w)
{
	uint8_t packed[1024];
	struct wire_packer out = wire_packer_over(packed, sizeof packed);
	struct wire_query query;
	struct message message;
	static const enum wire_query_kind kinds[] = {
		WIRE_QUERY_RAY,	    WIRE_QUERY_CONTACTS, WIRE_QUERY_TOTALS,  WIRE_QUERY_BODY,
		WIRE_QUERY_CLOSEST, WIRE_QUERY_MASS,	 WIRE_QUERY_OVERLAP, WIRE_QUERY_CAST,
		WIRE_QUERY_REGIONS, WIRE_QUERY_JOINT,	 WIRE_QUERY_JOINTS,  WIRE_QUERY_LINKED,
		WIRE_QUERY_FORCES,  WIRE_QUERY_FIELDS,
	};
	const struct shape *shape = test_shape(draw(life, 2) ? TEST_BOX : TEST_SPHERE);
	query_init(&query, kinds[draw(life, COUNT_OF(kinds))]);
	query.origin[1] = query.kind == WIRE_QUERY_OVERLAP ? 0.5 : 10;
	query.direction[1] = query.kind == WIRE_QUERY_CAST ? -20 : -1;
	query.length = 20;
	query.body = draw(life, 40);
	query.other = draw(life, 40);
	query.joint = draw(life, 40);
	/* The maximum, or few. */
	query.limit = draw(life, 2) ? 4096 : 8;
	query.shape = (struct wire_slice){ shape->canonical, (uint32_t)shape->canonical_bytes };
	message_init(&message, MESSAGE_QUERY);
	message.query.id = sim_ref(client);
	message.query.world = life->worlds[w];
	message.query.query.count = query_pack(&out, &query);
	message.query.query.at = packed;
	message.query.query.bytes = out.bytes;
	life_ask(life, client, &message, MESSAGE_ANSWER);
}

/* As many queries as the role may have at once, or twice as many, with PINGs between them. */
static void flood(struct life *life, struct sim_client *client, uint32_t w)
{
	struct message ping;
	message_init(&ping, MESSAGE_PING);
	uint32_t count = 50 + draw(life, 400);
	for (uint32_t i = 0; i < count; i++) {
		if (draw(life, 40) == 0)
			query(life, client, w);
		ping.ping.t = i + 1;
		sim_send(client, &ping);
	}
}

/* A shape of one part or two that no body uses; HELPER cooks it. */
static void upload(struct life *life, struct sim_client *client, uint32_t w)
{
	static const enum test_shape shapes[] = { TEST_BOX, TEST_HULL, TEST_CAPSULE, TEST_MESH };
	const struct shape *shape = test_shape(shapes[draw(life, COUNT_OF(shapes))]);
	struct message part;
	uint32_t bytes = (uint32_t)shape->canonical_bytes, cut = 1 + draw(life, bytes - 1);
	message_init(&part, MESSAGE_SHAPE_UPLOAD);
	part.shape_upload.ref = sim_ref(client);
	part.shape_upload.world = life->worlds[w];
	part.shape_upload.of = 2;
	memcpy(part.shape_upload.shape.bytes, shape->name, SHAPE_NAME_BYTES);
	part.shape_upload.data = (struct wire_slice){ shape->canonical, cut };
	if (cut > WIRE_SHAPE_PART || bytes - cut > WIRE_SHAPE_PART ||
	    role_of(client) < message_info(MESSAGE_SHAPE_UPLOAD)->role)
		return;
	/* An upload that failed at its first part gets an ERROR for each part. */
	if (life->traits.poor)
		sim_send(client, &part);
	else
		life_ask(life, client, &part, MESSAGE_SHAPE_INFO);
	part.shape_upload.part = 1;
	part.shape_upload.data = (struct wire_slice){ shape->canonical + cut, bytes - cut };
	sim_send(client, &part);
}

/* ---- stepping ----------------------------------------------------------------------------------- */

static void step(struct life *life, struct sim_client *client)
{
	struct message step;
	uint32_t world = life->worlds[LIFE_LAB];
	message_init(&step, MESSAGE_STEP);
	step.step.world = world;
	/* A request number is used up only if the STEP is accepted; a lower role never gets that
	 * far. */
	step.step.request = ++client->steps[world];
	step.step.n = draw(life, 4);
	step.step.want = (uint8_t)(draw(life, 2) * WIRE_WANT_HASH);
	uint8_t bytes[256];
	struct wire_packer out = wire_packer_over(bytes, sizeof bytes);
	if (draw(life, 3) == 0) {
		/* A STEP of no ticks is an edit; one with a body at an invalid place is refused and
		 * makes no tick. */
		bool refused = draw(life, 6) == 0;
		struct command spawn =
			sim_spawn(refused ? 1e7 : life_draw_real(life, 3), 4, 0, 0, false);
		command_pack(&out, &spawn);
		step.step.commands = (struct wire_list){ bytes, out.bytes, 1 };
		step.step.anyway = draw(life, 2);
	}
	if (draw(life, 8) == 0)
		step.step.from = (struct wire_option){ true, draw(life, 50) };
	if (role_of(client) >= message_info(MESSAGE_STEP)->role)
		life->lab_steps += step.step.n;
	life_ask(life, client, &step, MESSAGE_STEPPED);
}

/* Steps the lab, and a world that does not exist, by one message: pushes body 1, which may not
 * exist either, and observes. */
static void step_group(struct life *life, struct sim_client *client)
{
	struct message group;
	struct msg_step_worlds *ask = &group.step_worlds;
	uint32_t world = life->worlds[LIFE_LAB];
	uint8_t worlds[64], actions[64], observe[64], values[4 * 8];
	struct wire_packer out = wire_packer_over(worlds, sizeof worlds);
	message_init(&group, MESSAGE_STEP_WORLDS);
	ask->ref = sim_ref(client);
	ask->n = draw(life, 3);
	ask->steps = 1 + draw(life, 4);
	ask->hash = draw(life, 2);
	ask->anyway = draw(life, 2);
	for (uint32_t i = 0; i < 2; i++) {
		wire_pack_array(&out, 2);
		wire_pack_uint(&out, i == 0 ? world : 4000);
		wire_pack_uint(&out, i == 0 ? ++client->steps[world] : 1);
	}
	ask->worlds = (struct wire_list){ worlds, out.bytes, 2 };
	if (ask->steps == 1) {
		out = wire_packer_over(actions, sizeof actions);
		wire_pack_array(&out, 3);
		wire_pack_uint(&out, COMMAND_FORCE);
		wire_pack_uint(&out, 1);
		wire_pack_array(&out, 3);
		wire_pack_nil(&out);
		wire_pack_real(&out, 1);
		wire_pack_nil(&out);
		ask->actions = (struct wire_list){ actions, out.bytes, 1 };
		for (uint32_t i = 0; i < 4; i++)
			put_le64(values + 8 * i, bits_of_f64(life_draw_real(life, 3)));
		if (draw(life, 8) == 0)
			memset(values, 0xFF, 8);
		ask->values = (struct wire_slice){ values, sizeof values };
	}
	out = wire_packer_over(observe, sizeof observe);
	wire_pack_array(&out, 2);
	wire_pack_uint(&out, OBSERVE_TOTALS);
	wire_pack_array(&out, 0);
	wire_pack_array(&out, 2);
	wire_pack_uint(&out, OBSERVE_CONTACTS);
	wire_pack_array(&out, 1);
	wire_pack_array(&out, 1);
	wire_pack_uint(&out, 1);
	ask->observe = (struct wire_list){ observe, out.bytes, 2 };
	if (role_of(client) >= message_info(MESSAGE_STEP_WORLDS)->role)
		life->lab_steps += ask->n * ask->steps;
	life_ask(life, client, &group, MESSAGE_STEPPED_WORLDS);
}

static void pace_lab(struct life *life, struct sim_client *client)
{
	static const enum wire_control actions[] = { WIRE_CONTROL_LOCKSTEP, WIRE_CONTROL_BARRIER,
						     WIRE_CONTROL_PAUSE };
	struct message control;
	message_init(&control, MESSAGE_CONTROL);
	control.control.ref = sim_ref(client);
	control.control.world = life->worlds[LIFE_LAB];
	control.control.action = actions[draw(life, COUNT_OF(actions))];
	control.control.value = 1 + draw(life, 3);
	life_ask(life, client, &control, MESSAGE_WORLD_INFO);
}

/* Messages that most roles may not send: SAVE, CONFIG, and others. */
static void send_forbidden(struct life *life, struct sim_client *client)
{
	struct message message;
	uint64_t ref = sim_ref(client);
	switch (draw(life, 4)) {
	case 0:
		message_init(&message, MESSAGE_CONFIG);
		message.config.ref = ref;
		break;
	case 1:
		message_init(&message, MESSAGE_SESSIONS);
		message.sessions.ref = ref;
		break;
	case 2:
		message_init(&message, MESSAGE_KICK);
		message.kick.ref = ref;
		message.kick.session = life->keeper->session;
		break;
	default:
		message_init(&message, MESSAGE_INFO);
		message.info.ref = ref;
		break;
	}
	life_ask(life, client, &message, MESSAGE_REPLY);
}

/* ---- coming and going --------------------------------------------------------------------------- */

static const char *draw_token(struct life *life, struct life_seat *seat)
{
	seat->token = 0;
	if (life->token_count == life->token_first || draw(life, 3) == 0)
		return NULL;
	seat->token = 1 + life->token_first + draw(life, life->token_count - life->token_first);
	return life->tokens[seat->token - 1];
}

void life_connect(struct life *life, uint32_t index)
{
	static const char *const roles[] = { NULL, "player", "controller", "observer" };
	struct life_seat *seat = &life->seats[index];
	struct sim_client_options options = sim_client_options_default();
	if (life->sim->client_count + 40 > SERVER_SIM_CLIENTS_MAX) {
		seat->client = NULL;
		return;
	}
	*seat = (struct life_seat){ .liar = index >= life->traits.clients };
	options.role = seat->liar ? "observer" : roles[draw(life, COUNT_OF(roles))];
	options.raw = seat->liar && draw(life, 3) == 0;
	options.ack_delay_max = draw(life, 40) * NS_PER_MS + 1;
	options.caps = draw(life, 4) > 0 ? WIRE_CAPS_ALL : WIRE_CAP_EXACT;
	options.frame_down = draw(life, 2) > 0 ? 0 : WIRE_FRAME_MIN;
	options.joints = draw(life, 2) * (wire_mask)(1 + draw(life, WIRE_JOINT_COLUMNS_ALL));
	options.resumes = !seat->liar && draw(life, 2) > 0;
	options.token = seat->liar ? NULL : draw_token(life, seat);
	if (options.token != NULL)
		options.role = NULL;
	seat->client = server_sim_client(life->sim, &options);
}

static void lose_connection(struct life *life, uint32_t index)
{
	struct sim_client *client = life->seats[index].client;
	if (draw(life, 2) == 0)
		sim_disconnect(client);
	else
		sim_vanish(client);
	if (client->options.resumes && client->token_bytes > 0 && draw(life, 4) > 0)
		sim_resume(client);
	else
		life_connect(life, index);
}

/* A random message of any kind, valid or corrupted; or its beginning; or random bytes. */
static void send_hostile(struct life *life, struct life_seat *seat)
{
	static uint8_t scratch[1 << 20], bytes[1 << 20];
	struct wire_packer room = wire_packer_over(scratch, sizeof scratch);
	struct message message;
	uint32_t count = 0;
	const struct message_info *info = message_info(1 + draw(life, 100));
	if (info == NULL || info->reserved || draw(life, 8) == 0) {
		for (count = 1 + draw(life, 60); count-- > 1;)
			bytes[count] = (uint8_t)draw(life, 256);
		bytes[0] = draw(life, 2) == 0 ? 0xc6 : (uint8_t)draw(life, 256);
		sim_send_bytes(seat->client, bytes, 1 + draw(life, 60));
		return;
	}
	gen_message(&life->rng, info->type, &message, &room);
	if (message_pack(&message, bytes, sizeof bytes, &count) != STATUS_OK || count > 20000)
		return;
	for (uint32_t spoils = draw(life, 4); spoils > 0; spoils--)
		bytes[draw(life, count)] = (uint8_t)draw(life, 256);
	sim_send_bytes(seat->client, bytes, draw(life, 6) == 0 ? 1 + draw(life, count) : count);
}

/* ---- one act ------------------------------------------------------------------------------------ */

static void act_in_lab(struct life *life, struct life_seat *seat, uint32_t what)
{
	if (what < 10)
		step_group(life, seat->client);
	else if (what < 30)
		step(life, seat->client);
	else if (what < 36)
		pace_lab(life, seat->client);
	else if (what < 44)
		command(life, seat, LIFE_LAB);
	else
		subscribe(life, seat, LIFE_LAB);
}

static void act_honestly(struct life *life, uint32_t index, uint32_t w)
{
	struct life_seat *seat = &life->seats[index];
	uint32_t what = draw(life, 100);
	if (!seat->joined[w])
		join(life, seat, w);
	else if (w == LIFE_LAB && what < 54)
		act_in_lab(life, seat, what);
	else if (what < 42)
		command(life, seat, w);
	else if (what < 51)
		subscribe(life, seat, w);
	else if (what < 58)
		change_focus(life, seat, w);
	else if (what < 61)
		leave(life, seat, w);
	else if (what < 67)
		resync(life, seat->client);
	else if (what < 74) {
		sim_stall(seat->client, true);
		seat->stalled = true;
	} else if (what < 78)
		lose_connection(life, index);
	else if (what < 80)
		upload(life, seat->client, w);
	else if (what < 83)
		query(life, seat->client, w);
	else if (what < 84)
		flood(life, seat->client, w);
	else if (what < 87)
		send_forbidden(life, seat->client);
	else if (what < 90)
		unsubscribe(life, seat->client);
	else
		move_camera(life, seat->client);
}

/* A client that is not connected connects or resumes. */
static void connect_or_resume(struct life *life, uint32_t index)
{
	struct life_seat *seat = &life->seats[index];
	struct sim_client *client = seat->client;
	bool known = client != NULL && client->options.resumes && client->token_bytes > 0;
	seat->stalled = false;
	if (known && !client->refused && draw(life, 4) > 0)
		sim_resume(client);
	else
		life_connect(life, index);
}

void life_act(struct life *life)
{
	uint32_t index = draw(life, life->traits.clients + life->traits.liars);
	uint32_t w = draw(life, LIFE_WORLDS);
	struct life_seat *seat = &life->seats[index];
	struct sim_client *client = seat->client;
	if (client != NULL && client->refused && !client->open && client->stream != NULL)
		sim_disconnect(client);
	if (client == NULL || (client->closed && client->stream == NULL))
		connect_or_resume(life, index);
	else if (seat->liar)
		send_hostile(life, seat);
	else if (seat->stalled && draw(life, 4) == 0) {
		sim_stall(client, false);
		seat->stalled = false;
	} else if (client->open && !seat->stalled && life->worlds[w] != 0)
		act_honestly(life, index, w);
}
