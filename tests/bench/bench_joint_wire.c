/* Cost of sending joints to clients.
 *
 *	bench_joint_wire part
 *		LOOP's time of a tick if one client sees 50 of 10 000 joints (a chain of bodies a metre
 *		apart), by the joints that have changed: all, those it sees, or others
 *	bench_joint_wire query CAIRND
 *		a query for all 10 000 joints of a world through a Unix socket: time from the first request
 *		to the last byte decoded, and the client's part of it */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "clients/lib/cairn.h"
#include "server/base/body_hash.h"
#include "server/base/heap.h"
#include "server/host/report_queue.h"
#include "tests/lib/fan_hall.h"

enum { JOINTS = 10000, SEEN = 50, ROUNDS = 301, ASKED = 101 };

static void check(bool fine, const char *what)
{
	if (fine)
		return;
	fprintf(stderr, "bench_joint_wire: %s\n", what);
	exit(EXIT_FAILURE);
}

static double now_us(clockid_t clock)
{
	struct timespec time;
	clock_gettime(clock, &time);
	return (double)time.tv_sec * 1e6 + (double)time.tv_nsec * 1e-3;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double median(double *values, size_t count)
{
	qsort(values, count, sizeof *values, ascending);
	return values[count / 2];
}

/* ---- a part of a world --------------------------------------------------------------------------- */

struct chain {
	struct fan_hall hall;
	uint64_t tick;
	uint64_t sum; /* of the bodies' hashes */
};

static struct report_joint joint_of(uint32_t id, uint64_t tick, uint8_t why)
{
	struct report_joint joint = { .why = why };
	joint.view.id = id;
	joint.view.type = JOINT_SPHERICAL;
	joint.view.a = id;
	joint.view.b = id + 1;
	joint.view.frame_a = joint.view.frame_b = quat_identity();
	joint.view.coordinates[4] = (double)tick * 1e-3 + id;
	joint.view.force = vec3_make((double)tick, id, 9.81);
	return joint;
}

static uint64_t tell_bodies(struct tick_report *ticked)
{
	ticked->bodies = heap_alloc_zero((JOINTS + 1) * sizeof *ticked->bodies);
	check(ticked->bodies != NULL, "out of memory");
	uint64_t sum = 0;
	for (uint32_t i = 0; i <= JOINTS; i++) {
		struct report_body *body = &ticked->bodies[ticked->body_count++];
		body->why = REPORT_CREATED;
		body->view.id = i + 1;
		body->view.status = BODY_DYNAMIC;
		body->view.position = vec3_make(i, 0, 0);
		body->view.rotation = quat_identity();
		struct wire_body wire = { .id = i + 1,
					  .status = BODY_DYNAMIC,
					  .position = { i, 0, 0 },
					  .rotation = { 1, 0, 0, 0 } };
		sum += wire_tick_hash(&wire);
	}
	return sum;
}

/* The first report is whole; later ones say that joints `from` … `from + count` − 1 have changed. */
static struct report *next_report(struct chain *self, uint32_t from, uint32_t count)
{
	struct report *report = heap_alloc_zero(sizeof *report);
	check(report != NULL, "out of memory");
	struct tick_report *ticked = &report->ticked;
	bool first = self->tick == 0;
	report->kind = REPORT_TICK;
	ticked->tick = ++self->tick;
	ticked->epoch = 1;
	ticked->step = ticked->joints = true;
	ticked->whole = ticked->joints_all = first;
	if (first)
		self->sum = tell_bodies(ticked);
	ticked->tick_hash = body_hash_finish(self->tick, self->sum, JOINTS + 1);
	ticked->joint_room = ticked->joint_count = count;
	ticked->joint_list = heap_alloc(MAX_OF(count, 1u) * sizeof *ticked->joint_list);
	check(ticked->joint_list != NULL, "out of memory");
	for (uint32_t i = 0; i < count; i++)
		ticked->joint_list[i] =
			joint_of(from + i, self->tick, first ? REPORT_CREATED : REPORT_MOVED);
	return report;
}

/* us of processor time a tick, with a client that sees joints `at` … `at + SEEN` − 1, or without
 * one. */
static double part_costs(bool watched, uint32_t from, uint32_t count)
{
	static struct chain chain;
	double ticks[ROUNDS];
	uint32_t at = JOINTS / 2;
	struct message ask;
	memset(&chain, 0, sizeof chain);
	fan_open(&chain.hall);
	message_init(&ask, MESSAGE_SUBSCRIBE);
	ask.subscribe.sub = 1;
	ask.subscribe.profile = WIRE_PROFILE_EXACT;
	ask.subscribe.fields = WIRE_COLUMNS_TICK;
	ask.subscribe.joints = WIRE_JOINT_COLUMNS_ALL;
	/* Bodies at + 1 … at + SEEN − 1: joints at … at + SEEN − 1. */
	ask.subscribe.area =
		(struct wire_box){ true, { at - 0.5, -1, -1 }, { at + SEEN - 1.5, 1, 1 } };
	if (watched)
		fan_enter(&chain.hall, 0, &ask.subscribe, true, WIRE_FRAME_DOWN);
	fan_report(&chain.hall, next_report(&chain, 1, JOINTS), NS_PER_S / 60, true);
	for (int i = 0; i < ROUNDS; i++) {
		struct report *report = next_report(&chain, from, count);
		double before = now_us(CLOCK_THREAD_CPUTIME_ID);
		fan_report(&chain.hall, report, NS_PER_S / 60, true);
		ticks[i] = now_us(CLOCK_THREAD_CPUTIME_ID) - before;
		if (watched)
			fan_acknowledge(&chain.hall, 0);
	}
	if (watched)
		check(chain.hall.clients[0].mirror.joints.count == SEEN, "other joints are seen");
	fan_close(&chain.hall);
	return median(ticks, ROUNDS);
}

static void part(void)
{
	static const struct {
		const char *name;
		uint32_t from, count;
	} cases[] = {
		{ "none", 1, 0 },
		{ "one that is not seen", 17, 1 },
		{ "the 50 that are seen", JOINTS / 2, SEEN },
		{ "50 others", 17, SEEN },
		{ "all", 1, JOINTS },
	};
	printf("%d joints, a client that sees %d, exact, all columns; us a tick on the loop, median of %d\n",
	       JOINTS, SEEN, ROUNDS);
	printf("%-24s %12s %12s %12s\n", "changed", "unwatched", "watched", "the client");
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		double none = part_costs(false, cases[i].from, cases[i].count);
		double some = part_costs(true, cases[i].from, cases[i].count);
		printf("%-24s %12.1f %12.1f %12.1f\n", cases[i].name, none, some, some - none);
		fflush(stdout);
	}
}

/* ---- a query for all joints ---------------------------------------------------------------------- */

struct daemon {
	pid_t pid;
	char directory[64], address[96];
	struct cairn *client;
	uint32_t world;
};

static void start(struct daemon *self, const char *program)
{
	struct reason why;
	snprintf(self->directory, sizeof self->directory, "/tmp/cairn-bench-XXXXXX");
	check(mkdtemp(self->directory) != NULL, "no directory");
	snprintf(self->address, sizeof self->address, "unix:%s/sock", self->directory);
	self->pid = fork();
	check(self->pid >= 0, "no process");
	if (self->pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(program, program, "--listen", self->address, "--log", "error", (char *)NULL);
		_exit(EXIT_FAILURE);
	}
	for (int i = 0; i < 200; i++) {
		usleep(20000);
		if (cairn_connect(self->address, NULL, &self->client, &why) == STATUS_OK)
			return;
	}
	check(false, why.text);
}

static void stop(struct daemon *self)
{
	char path[128];
	cairn_close(self->client);
	kill(self->pid, SIGTERM);
	waitpid(self->pid, NULL, 0);
	snprintf(path, sizeof path, "%s/sock", self->directory);
	unlink(path);
	rmdir(self->directory);
}

/* Points on a line, each joined to the next. */
static void build(struct daemon *self)
{
	enum { AT_ONCE = 250 };
	struct cairn_world world;
	struct wire_result result;
	struct reason why;
	struct command commands[AT_ONCE];
	check(cairn_create(self->client, "chain", NULL, &world, &why) == STATUS_OK &&
		      cairn_join(self->client, "chain", &world, &why) == STATUS_OK,
	      why.text);
	self->world = world.number;
	for (uint32_t done = 0, count = 0; done < 2 * JOINTS + 1; done++) {
		struct command *command = &commands[count++];
		uint32_t i = done <= JOINTS ? done : done - JOINTS;
		command_defaults(command, done <= JOINTS ? COMMAND_SPAWN : COMMAND_JOINT_CREATE);
		if (done <= JOINTS) {
			command->spawn.status = BODY_DYNAMIC;
			command->spawn.position = vec3_make(i, 0, 0);
		} else {
			command->joint_create.type = JOINT_SPHERICAL;
			command->joint_create.body_a = i;
			command->joint_create.body_b = i + 1;
			command->joint_create.point_a = vec3_make(i - 0.5, 0, 0);
			command->joint_create.place = 1;
		}
		if (count < AT_ONCE && done < 2 * JOINTS)
			continue;
		check(cairn_apply(self->client, self->world, commands, count, &result, &why) ==
			      STATUS_OK,
		      why.text);
		count = 0;
	}
}

/* Queries and reads every item; returns how many there were and adds the bytes. */
static uint32_t query_all(struct daemon *self, uint64_t *bytes)
{
	struct wire_query query;
	struct message answer;
	struct reason why;
	uint32_t found = 0, count;
	query_init(&query, WIRE_QUERY_JOINTS);
	query.limit = WIRE_QUERY_LIMIT_MAX;
	do {
		check(cairn_ask(self->client, self->world, &query, &answer, &why) == STATUS_OK,
		      why.text);
		struct wire_cursor in = wire_cursor_of(answer.answer.answer);
		check(wire_take_array(&in, &count) == STATUS_OK, "no list");
		struct wire_joint_facts facts;
		for (uint32_t i = 0; i < count; i++)
			check(answer_take_joints_item(&in, &facts) == STATUS_OK, "no joint");
		*bytes += answer.answer.answer.bytes;
		found += count;
		query.first = facts.joint.id + 1;
	} while (count == query.limit);
	return found;
}

static void query(const char *program)
{
	struct daemon daemon;
	double wall[ASKED], own[ASKED], middle;
	uint64_t bytes = 0;
	start(&daemon, program);
	build(&daemon);
	for (int i = 0; i < ASKED; i++) {
		double used = now_us(CLOCK_THREAD_CPUTIME_ID), before = now_us(CLOCK_MONOTONIC);
		bytes = 0;
		check(query_all(&daemon, &bytes) == JOINTS, "not all joints");
		wall[i] = now_us(CLOCK_MONOTONIC) - before;
		own[i] = now_us(CLOCK_THREAD_CPUTIME_ID) - used;
	}
	middle = median(wall, ASKED);
	printf("all %d joints queried, at most %d an answer: %.2f ms (median of %d; least %.2f), of "
	       "which the client's %.2f; %.0f kB\n",
	       JOINTS, WIRE_QUERY_LIMIT_MAX, middle / 1000, ASKED, wall[0] / 1000,
	       median(own, ASKED) / 1000, (double)bytes / 1000);
	stop(&daemon);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "part") == 0)
		part();
	else if (argc == 3 && strcmp(argv[1], "query") == 0)
		query(argv[2]);
	else
		check(false, "part | query CAIRND");
	return 0;
}
