/* verb_state.c: the verbs step, back, save, restore, restart and fork. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/cli/verbs.h"
#include "server/base/bytes.h"

void print_totals(const struct cli *cli, const struct wire_totals *totals)
{
	out_real(cli, "kinetic", totals->kinetic);
	out_real(cli, "potential", totals->potential);
	out_reals(cli, "linear", totals->linear, 3);
	out_reals(cli, "angular", totals->angular, 3);
}

enum { ROW = 16 }; /* numbers of a row of profile plain with fields 31 */

/* One body as a line of text, or with --json as an object. */
static void print_row(const struct cli *cli, const double row[ROW])
{
	const char *status = command_word(WORDS_BODY_STATUS, (uint8_t)row[14]);
	bool asleep = ((unsigned)row[15] & WIRE_BODY_ASLEEP) != 0;
	bool fast = ((unsigned)row[15] & WIRE_BODY_FAST) != 0;
	bool sensor = ((unsigned)row[15] & WIRE_BODY_SENSOR) != 0;
	if (!cli->json) {
		char position[64], velocity[64];
		snprintf(position, sizeof position, "%.6g %.6g %.6g", row[1], row[2], row[3]);
		snprintf(velocity, sizeof velocity, "%.6g %.6g %.6g", row[8], row[9], row[10]);
		printf("%8.0f  %-32s %-32s %s%s%s%s\n", row[0], position, velocity, status,
		       fast ? ", fast" : "", sensor ? ", sensor" : "", asleep ? ", asleep" : "");
		return;
	}
	out_item_begin(cli);
	out_u64(cli, "id", (uint64_t)row[0]);
	out_reals(cli, "position", row + 1, 3);
	out_reals(cli, "rotation", row + 4, 4);
	out_reals(cli, "velocity", row + 8, 3);
	out_reals(cli, "spin", row + 11, 3);
	out_text(cli, "status", status);
	out_u64(cli, "asleep", asleep);
	out_u64(cli, "fast", fast);
	out_u64(cli, "sensor", sensor);
	out_item_end(cli);
}

static void print_rows(const struct cli *cli, struct wire_slice rows)
{
	struct wire_cursor in = wire_cursor_of(rows);
	struct wire_list list;
	double row[ROW];
	if (wire_take_list(&in, &list) != STATUS_OK)
		return;
	struct wire_cursor items = wire_cursor_list(&list);
	if (!cli->json)
		printf("\n%8s  %-32s %-32s %s\n", "body", "position", "velocity", "status");
	for (uint32_t i = 0; i < list.count; i++)
		if (wire_take_tuple(&items, row, ROW) == STATUS_OK)
			print_row(cli, row);
}

/* Splits an observation: [rows or nil, totals or nil, bin or nil]. A part that is nil has 0 bytes. */
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
	out_u64(cli, "edit", stepped->edit);
	out_hash(cli, "hash", stepped->state_hash.value);
	out_hash(cli, "tick_hash", stepped->tick_hash.value);
	if (answer_take_totals(&in, &totals) == STATUS_OK)
		print_totals(cli, &totals);
	if (cli->json && parts[0].bytes > 0) {
		out_list_begin(cli, "bodies");
		print_rows(cli, parts[0]);
		out_list_end(cli);
	}
	out_end(cli);
	if (!cli->json && parts[0].bytes > 0)
		print_rows(cli, parts[0]);
}

int verb_step(struct cli *cli)
{
	struct cairn_world world;
	struct message stepped;
	uint64_t n = 1;
	struct cairn_step step = { .want = WIRE_WANT_HASH };
	const char *back = cli_option(cli, "restore", 0), *keep = cli_option(cli, "save", 0);
	if (cli_flag(cli, "bodies"))
		step.want |= WIRE_WANT_BODIES;
	if (cli_flag(cli, "totals"))
		step.want |= WIRE_WANT_TOTALS;
	if (cli->operand_count > 1 && !cli_count(cli, cli->operands[1], "N", &n))
		return cli_fail(cli);
	if (!cli_options_known(cli) || !cli_join(cli, &world))
		return cli_fail(cli);
	/* A STEP makes at most WIRE_STEPS_MAX ticks, so more ticks need several. */
	do {
		step.n = (uint32_t)MIN_OF(n, (uint64_t)WIRE_STEPS_MAX);
		step.restore = back;
		step.save = n == step.n ? keep : NULL;
		back = NULL;
		if (cairn_step(cli->client, world.number, &step, &stepped, &cli->why) != STATUS_OK)
			return cli_fail(cli);
		n -= step.n;
	} while (n > 0);
	if (keep != NULL && stepped.stepped.code != STATUS_OK) {
		enum status code = (enum status)stepped.stepped.code;
		reason_set(&cli->why, code, -1, "save",
			   "the ticks were made, but the state is not kept as \"%.64s\": %s", keep,
			   status_text(code));
		return cli_fail(cli);
	}
	print_stepped(cli, &stepped.stepped);
	return EXIT_SUCCESS;
}

static int print_state(const struct cli *cli, uint64_t epoch, uint64_t tick, uint64_t edit,
		       struct wire_hash hash, uint64_t world, bool other_bits)
{
	out_begin(cli);
	if (world != 0)
		out_u64(cli, "world", world);
	out_u64(cli, "epoch", epoch);
	out_u64(cli, "tick", tick);
	out_u64(cli, "edit", edit);
	out_hash(cli, "hash", hash.value);
	if (other_bits)
		out_text(cli, "saved_by", "an incompatible build");
	out_end(cli);
	return EXIT_SUCCESS;
}

int verb_save(struct cli *cli)
{
	struct cairn_world world;
	struct message saved;
	bool moment = cli_flag(cli, "rollback");
	if (cli->operand_count != 2)
		return cli_wrong_words(cli);
	if (!cli_options_known(cli) || !cli_join(cli, &world))
		return cli_fail(cli);
	if ((moment ? cairn_save_moment : cairn_save)(cli->client, world.number, cli->operands[1],
						      &saved, &cli->why) != STATUS_OK)
		return cli_fail(cli);
	return print_state(cli, saved.saved.epoch, saved.saved.tick, saved.saved.edit,
			   saved.saved.hash, 0, false);
}

/* Restores snapshot or moment `name`, or (NULL) the tick, and prints the state. */
static int restore_and_print(struct cli *cli, uint32_t world, const char *name, bool moment,
			     struct cairn_tick tick)
{
	struct message restored;
	enum status status;
	if (name == NULL)
		status = cairn_restore_tick(cli->client, world, tick, &restored, &cli->why);
	else
		status = (moment ? cairn_restore_moment : cairn_restore)(cli->client, world, name,
									 &restored, &cli->why);
	if (status != STATUS_OK)
		return cli_fail(cli);
	return print_state(cli, restored.restored.epoch, restored.restored.tick,
			   restored.restored.edit, restored.restored.hash, 0,
			   restored.restored.other_bits != 0);
}

bool cli_tick(struct cli *cli, const char *option, struct cairn_tick *tick, bool *given)
{
	const char *text = cli_option(cli, option, 0), *epoch = cli_option(cli, "epoch", 0);
	uint64_t number = 0;
	*tick = (struct cairn_tick){ .tick = 0 };
	*given = text != NULL;
	if (text != NULL && !cli_count(cli, text, option, &tick->tick))
		return false;
	if (epoch != NULL && !cli_count(cli, epoch, "epoch", &number))
		return false;
	if (number > UINT32_MAX || (epoch != NULL && text == NULL)) {
		reason_set(&cli->why, STATUS_RANGE, -1, "epoch",
			   "--epoch %.20s: it must be below 2^32, and belongs to --%s", epoch,
			   option);
		return false;
	}
	tick->epoch = (uint32_t)number;
	return true;
}

int verb_restore(struct cli *cli)
{
	struct cairn_world world;
	struct cairn_tick tick;
	bool given, moment = cli_flag(cli, "rollback");
	if (!cli_tick(cli, "tick", &tick, &given))
		return cli_fail(cli);
	if (cli->operand_count != (given ? 1 : 2) || (given && moment))
		return cli_wrong_words(cli);
	if (!cli_options_known(cli) || !cli_join(cli, &world))
		return cli_fail(cli);
	return restore_and_print(cli, world.number, given ? NULL : cli->operands[1], moment, tick);
}

int verb_restart(struct cli *cli)
{
	struct cairn_world world;
	if (cli->operand_count != 1)
		return cli_wrong_words(cli);
	if (!cli_options_known(cli) || !cli_join(cli, &world))
		return cli_fail(cli);
	return restore_and_print(cli, world.number, "start", false,
				 (struct cairn_tick){ .tick = 0 });
}

int verb_back(struct cli *cli)
{
	struct cairn_world world;
	uint64_t n = 1;
	if (cli->operand_count < 1 || cli->operand_count > 2)
		return cli_wrong_words(cli);
	if ((cli->operand_count > 1 && !cli_count(cli, cli->operands[1], "N", &n)) ||
	    !cli_options_known(cli) || !cli_join(cli, &world))
		return cli_fail(cli);
	struct cairn_tick tick = { .tick = world.tick - MIN_OF(n, world.tick) };
	return restore_and_print(cli, world.number, NULL, false, tick);
}

int verb_fork(struct cli *cli)
{
	struct cairn_world world;
	struct message forked;
	struct cairn_tick tick;
	bool given;
	const char *snapshot = cli_option(cli, "snapshot", 0);
	if (!cli_tick(cli, "tick", &tick, &given))
		return cli_fail(cli);
	tick.recording = cli_option(cli, "recording", 0);
	if (cli->operand_count != 2 || ((given || tick.recording != NULL) && snapshot != NULL))
		return cli_wrong_words(cli);
	if (tick.recording != NULL && !given) {
		tick.tick = WIRE_INTEGER_MAX; /* its end */
		given = true;
	}
	if (!cli_options_known(cli) || !cli_join(cli, &world))
		return cli_fail(cli);
	enum status status = given ? cairn_fork_tick(cli->client, world.number, cli->operands[1],
						     tick, &forked, &cli->why)
				   : cairn_fork(cli->client, world.number, cli->operands[1],
						snapshot, &forked, &cli->why);
	if (status != STATUS_OK)
		return cli_fail(cli);
	return print_state(cli, forked.forked.epoch, forked.forked.tick, forked.forked.edit,
			   forked.forked.hash, forked.forked.world, false);
}
