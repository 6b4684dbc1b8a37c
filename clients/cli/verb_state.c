/* verb_state.c: step, save, restore, fork, query. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/cli/verbs.h"
#include "server/base/bytes.h"

static void print_totals(const struct cli *cli, const struct wire_totals *totals)
{
	out_real(cli, "kinetic", totals->kinetic);
	out_real(cli, "potential", totals->potential);
	out_reals(cli, "linear", totals->linear, 3);
	out_reals(cli, "angular", totals->angular, 3);
}

/* Rows of profile plain with fields 31, a line each; for programs they are JSON already. */
static void print_rows(struct wire_slice rows)
{
	enum { ROW = 16 };
	struct wire_cursor in = wire_cursor_of(rows);
	struct wire_list list;
	if (wire_take_list(&in, &list) != STATUS_OK)
		return;
	struct wire_cursor items = wire_cursor_list(&list);
	printf("\n%8s  %-32s %-32s %s\n", "body", "position", "velocity", "status");
	for (uint32_t i = 0; i < list.count; i++) {
		double row[ROW];
		char position[64], velocity[64];
		if (wire_take_tuple(&items, row, ROW) != STATUS_OK)
			return;
		snprintf(position, sizeof position, "%.6g %.6g %.6g", row[1], row[2], row[3]);
		snprintf(velocity, sizeof velocity, "%.6g %.6g %.6g", row[8], row[9], row[10]);
		printf("%8.0f  %-32s %-32s %s%s\n", row[0], position, velocity,
		       body_status_name((uint8_t)row[14]),
		       (unsigned)row[15] & WIRE_BODY_ASLEEP ? ", asleep" : "");
	}
}

/* An observation is [rows or nil, totals or nil, bin or nil]; parts that are nil come out empty. */
static void read_observation(struct wire_slice from, struct wire_slice parts[3])
{
	enum { NIL = 0xc0 };
	struct wire_cursor in = wire_cursor_of(from);
	struct wire_list list;
	memset(parts, 0, 3 * sizeof *parts);
	if (wire_take_list(&in, &list) != STATUS_OK || list.count != 3)
		return;
	struct wire_cursor items = wire_cursor_list(&list);
	for (uint32_t i = 0; i < 3; i++)
		if (wire_skip(&items, &parts[i]) != STATUS_OK || parts[i].at[0] == NIL)
			parts[i].bytes = 0;
}

static void print_stepped(const struct cli *cli, const struct msg_stepped *stepped)
{
	struct wire_slice parts[3];
	struct wire_totals totals;
	read_observation(stepped->observation, parts);
	struct wire_cursor in = wire_cursor_of(parts[1]);
	out_begin(cli);
	out_u64(cli, "tick", stepped->tick);
	out_hash(cli, "hash", stepped->state_hash.value);
	out_hash(cli, "tick_hash", stepped->tick_hash.value);
	if (answer_take_totals(&in, &totals) == STATUS_OK)
		print_totals(cli, &totals);
	if (parts[0].bytes > 0)
		out_raw(cli, "bodies", parts[0]);
	out_end(cli);
	if (!cli->json && parts[0].bytes > 0)
		print_rows(parts[0]);
}

int verb_step(struct cli *cli)
{
	struct cairn_world world;
	struct message stepped;
	uint64_t n = 1;
	struct cairn_step step = { .want = WIRE_WANT_HASH };
	if (cli_flag(cli, "bodies"))
		step.want |= WIRE_WANT_BODIES;
	if (cli_flag(cli, "totals"))
		step.want |= WIRE_WANT_TOTALS;
	if (cli->operand_count > 1 && !cli_count(cli, cli->operands[1], "N", &n))
		return cli_fail(cli);
	if (!cli_options_known(cli) || !cli_join(cli, &world))
		return cli_fail(cli);
	/* A STEP makes at most WIRE_STEPS_MAX ticks; more are several of them. */
	do {
		step.n = (uint32_t)MIN_OF(n, (uint64_t)WIRE_STEPS_MAX);
		if (cairn_step(cli->client, world.number, &step, &stepped, &cli->why) != STATUS_OK)
			return cli_fail(cli);
		n -= step.n;
	} while (n > 0);
	print_stepped(cli, &stepped.stepped);
	return EXIT_SUCCESS;
}

static int print_state(const struct cli *cli, uint64_t epoch, uint64_t tick,
		       struct wire_hash hash, uint64_t world)
{
	out_begin(cli);
	if (world != 0)
		out_u64(cli, "world", world);
	out_u64(cli, "epoch", epoch);
	out_u64(cli, "tick", tick);
	out_hash(cli, "hash", hash.value);
	out_end(cli);
	return EXIT_SUCCESS;
}

int verb_save(struct cli *cli)
{
	struct cairn_world world;
	struct message saved;
	if (cli->operand_count != 2)
		return cli_usage(cli, "save WORLD NAME");
	if (!cli_options_known(cli) || !cli_join(cli, &world) ||
	    cairn_save(cli->client, world.number, cli->operands[1], &saved, &cli->why) != STATUS_OK)
		return cli_fail(cli);
	return print_state(cli, saved.saved.epoch, saved.saved.tick, saved.saved.hash, 0);
}

int verb_restore(struct cli *cli)
{
	struct cairn_world world;
	struct message restored;
	if (cli->operand_count != 2)
		return cli_usage(cli, "restore WORLD NAME");
	if (!cli_options_known(cli) || !cli_join(cli, &world) ||
	    cairn_restore(cli->client, world.number, cli->operands[1], &restored, &cli->why) !=
		    STATUS_OK)
		return cli_fail(cli);
	return print_state(cli, restored.restored.epoch, restored.restored.tick,
			   restored.restored.hash, 0);
}

int verb_fork(struct cli *cli)
{
	struct cairn_world world;
	struct message forked;
	const char *snapshot = cli_option(cli, "snapshot", 0);
	if (cli->operand_count != 2)
		return cli_usage(cli, "fork WORLD NEW");
	if (!cli_options_known(cli) || !cli_join(cli, &world) ||
	    cairn_fork(cli->client, world.number, cli->operands[1], snapshot, &forked, &cli->why) !=
		    STATUS_OK)
		return cli_fail(cli);
	return print_state(cli, forked.forked.epoch, forked.forked.tick, forked.forked.hash,
			   forked.forked.world);
}

/* ---- questions ----------------------------------------------------------------------------------- */

static bool take_vector(struct cli *cli, uint32_t operand, const char *what, double values[3])
{
	if (operand < cli->operand_count)
		return cli_numbers(cli, cli->operands[operand], what, values, 3);
	reason_set(&cli->why, STATUS_MISSING, -1, what, "%s is missing", what);
	return false;
}

static bool take_body(struct cli *cli, uint32_t operand, uint32_t *body)
{
	uint64_t id = 0;
	if (operand < cli->operand_count &&
	    !cli_count(cli, cli->operands[operand], "BODY", &id))
		return false;
	*body = (uint32_t)MIN_OF(id, (uint64_t)UINT32_MAX);
	return true;
}

/* The query from the words; `canonical` keeps its shape. */
static bool read_query(struct cli *cli, struct wire_query *query, struct bytes *canonical)
{
	const char *kind = cli->operand_count > 1 ? cli->operands[1] : "";
	if (strcmp(kind, "ray") == 0) {
		query_init(query, WIRE_QUERY_RAY);
		query->limit = 16;
		return take_vector(cli, 2, "ORIGIN", query->origin) &&
		       take_vector(cli, 3, "DIRECTION", query->direction) &&
		       cli->operand_count == 5 &&
		       cli_number(cli, cli->operands[4], "LENGTH", &query->length);
	}
	if (strcmp(kind, "overlap") == 0) {
		query_init(query, WIRE_QUERY_OVERLAP);
		if (cli->operand_count != 4 || !cli_shape(cli, cli->operands[2], canonical))
			return false;
		query->shape = (struct wire_slice){ canonical->data, (uint32_t)canonical->count };
		return take_vector(cli, 3, "POSITION", query->origin);
	}
	if (strcmp(kind, "contacts") == 0) {
		query_init(query, WIRE_QUERY_CONTACTS);
		return take_body(cli, 2, &query->body);
	}
	if (strcmp(kind, "totals") == 0) {
		query_init(query, WIRE_QUERY_TOTALS);
		return true;
	}
	if (strcmp(kind, "body") == 0 && cli->operand_count == 3) {
		query_init(query, WIRE_QUERY_BODY);
		return take_body(cli, 2, &query->body);
	}
	return false;
}

/* One item of an answer as a record. */
static bool print_item(const struct cli *cli, enum wire_query_kind kind, struct wire_cursor *in)
{
	struct wire_ray_hit hit;
	struct wire_contact contact;
	if (kind == WIRE_QUERY_RAY) {
		if (answer_take_hit(in, &hit) != STATUS_OK)
			return false;
		out_begin(cli);
		out_u64(cli, "body", hit.body);
		out_real(cli, "fraction", hit.fraction);
		out_reals(cli, "point", hit.point, 3);
		out_reals(cli, "normal", hit.normal, 3);
	} else {
		if (answer_take_contact(in, &contact) != STATUS_OK)
			return false;
		out_begin(cli);
		out_u64(cli, "a", contact.a);
		out_u64(cli, "b", contact.b);
		out_reals(cli, "point", contact.point, 3);
		out_reals(cli, "normal", contact.normal, 3);
		out_real(cli, "separation", contact.separation);
		out_real(cli, "impulse", contact.impulse);
		out_reals(cli, "friction", contact.friction, 3);
	}
	out_end(cli);
	return true;
}

static void print_body(const struct cli *cli, struct wire_cursor *in)
{
	static uint8_t shapes[WIRE_BODY_SHAPES * WIRE_SHAPE_BYTES];
	struct wire_body_facts facts;
	if (answer_take_body(in, &facts, shapes) != STATUS_OK)
		return;
	out_begin(cli);
	out_u64(cli, "id", facts.body.id);
	out_text(cli, "status", body_status_name(facts.body.status));
	out_u64(cli, "flags", facts.body.flags);
	out_u64(cli, "owner", facts.body.owner);
	out_reals(cli, "position", facts.body.position, 3);
	out_reals(cli, "rotation", facts.body.rotation, 4);
	out_reals(cli, "velocity", facts.body.velocity, 3);
	out_reals(cli, "spin", facts.body.spin, 3);
	out_real(cli, "mass", facts.mass);
	out_reals(cli, "centre", facts.centre, 3);
	out_u64(cli, "shapes", facts.body.shape_count);
	out_end(cli);
}

static void print_answer(const struct cli *cli, enum wire_query_kind kind,
			 const struct msg_answer *answer)
{
	struct wire_cursor in = wire_cursor_of(answer->answer);
	struct wire_list list;
	struct wire_totals totals;
	if (kind == WIRE_QUERY_TOTALS) {
		if (answer_take_totals(&in, &totals) != STATUS_OK)
			return;
		out_begin(cli);
		print_totals(cli, &totals);
		out_end(cli);
	} else if (kind == WIRE_QUERY_BODY) {
		print_body(cli, &in);
	} else if (kind == WIRE_QUERY_OVERLAP) {
		out_value(cli, answer->answer);
	} else if (wire_take_list(&in, &list) == STATUS_OK) {
		struct wire_cursor items = wire_cursor_list(&list);
		for (uint32_t i = 0; i < list.count && print_item(cli, kind, &items); i++)
			if (!cli->json && i + 1 < list.count)
				putchar('\n');
	}
}

int verb_query(struct cli *cli)
{
	struct cairn_world world;
	struct wire_query query;
	struct message answer;
	struct bytes canonical = { 0 };
	cli->why.status = STATUS_OK;
	bool good = read_query(cli, &query, &canonical);
	if (!good && cli->why.status == STATUS_OK)
		return cli_usage(cli, "query WORLD ray ORIGIN DIRECTION LENGTH | overlap SHAPE "
				      "POSITION | contacts [BODY] | totals | body BODY");
	good = good && cli_options_known(cli) && cli_join(cli, &world) &&
	       cairn_query(cli->client, world.number, &query, &answer, &cli->why) == STATUS_OK;
	bytes_release(&canonical);
	if (!good)
		return cli_fail(cli);
	print_answer(cli, query.kind, &answer.answer);
	return EXIT_SUCCESS;
}
