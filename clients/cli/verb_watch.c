/* verb_watch.c: the verb watch: prints a line for each frame and event of a world and checks every
 * hash. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clients/cli/draw.h"
#include "clients/cli/verbs.h"
#include "protocol/result_wire.h"

static struct {
	uint64_t frames, wanted;
	uint64_t diverged;
	bool draws;
	bool held; /* the present is shown until a SEEK is answered: nothing is printed */
} watching;

/* Prints a line for each contact of one body; each contact belongs to one of its two bodies. */
static void print_contacts(const struct cli *cli, const struct mirror *mirror,
			   const struct wire_body *body)
{
	struct wire_slice value = { body->contacts, body->contact_bytes };
	struct wire_touches touches;
	struct wire_touch touch;
	wire_touches_open(&touches, mirror->profile, value);
	while (wire_touches_next(&touches, &touch)) {
		if (!cli->json) {
			printf("  contact %u %u at %g %g %g normal %g %g %g separation %g "
			       "impulse %g friction %g %g %g\n",
			       (unsigned)body->id, (unsigned)touch.other, touch.point[0],
			       touch.point[1], touch.point[2], touch.normal[0], touch.normal[1],
			       touch.normal[2], touch.separation, touch.impulse, touch.friction[0],
			       touch.friction[1], touch.friction[2]);
			continue;
		}
		out_begin(cli);
		out_u64(cli, "tick", mirror->tick);
		out_u64(cli, "holder", body->id);
		out_u64(cli, "other", touch.other);
		out_reals(cli, "point", touch.point, 3);
		out_reals(cli, "normal", touch.normal, 3);
		out_real(cli, "separation", touch.separation);
		out_real(cli, "impulse", touch.impulse);
		out_reals(cli, "friction", touch.friction, 3);
		out_end(cli);
	}
}

static void print_frame(const struct cli *cli, const struct mirror *mirror)
{
	uint32_t asleep = 0;
	for (uint32_t i = 0; i < mirror->count; i++)
		asleep += (mirror->bodies[i].flags & WIRE_BODY_ASLEEP) != 0;
	if (!cli->json) {
		printf("epoch %llu tick %llu bodies %u asleep %u hash %s\n",
		       (unsigned long long)mirror->epoch, (unsigned long long)mirror->tick,
		       (unsigned)mirror->count, (unsigned)asleep,
		       mirror->checked ? "right" : "none");
		return;
	}
	out_begin(cli);
	out_u64(cli, "epoch", mirror->epoch);
	out_u64(cli, "tick", mirror->tick);
	out_u64(cli, "bodies", mirror->count);
	out_u64(cli, "asleep", asleep);
	out_text(cli, "hash", mirror->checked ? "right" : "none");
	out_end(cli);
}

static void on_frame(void *context, uint64_t sub, const struct mirror *mirror)
{
	const struct cli *cli = context;
	UNUSED(sub);
	/* One poll may bring several frames; those beyond --ticks are not printed. */
	if (watching.held || watching.frames == watching.wanted)
		return;
	watching.frames++;
	if (watching.draws)
		draw_mirror(mirror);
	print_frame(cli, mirror);
	for (uint32_t i = 0; i < mirror->count; i++)
		print_contacts(cli, mirror, &mirror->bodies[i]);
	cli_watched_joints(cli, mirror);
	cli_watched_particles(cli, mirror);
	fflush(stdout);
}

static void on_event(void *context, uint64_t sub, uint64_t tick, const struct event *event)
{
	const struct cli *cli = context;
	UNUSED(sub);
	if (watching.held)
		return;
	if (!cli->json) {
		printf("tick %llu %s %u %u value %g", (unsigned long long)tick,
		       event_name(event->kind), (unsigned)event->a, (unsigned)event->b,
		       event->value);
		if (event->kind == EVENT_JOINT_BREAK)
			printf(" joint %u", (unsigned)event->child_a);
		else if (event->child_a != 0 || event->child_b != 0)
			printf(" children %u %u", (unsigned)event->child_a,
			       (unsigned)event->child_b);
		if (event->kind == EVENT_HIT)
			printf(" speed %g at %g %g %g", event->speed, event->point.x,
			       event->point.y, event->point.z);
		printf("\n");
		return;
	}
	out_begin(cli);
	out_u64(cli, "tick", tick);
	out_text(cli, "event", event_name(event->kind));
	out_u64(cli, "a", event->a);
	out_u64(cli, "b", event->b);
	out_real(cli, "value", event->value);
	out_u64(cli, "child_a", event->child_a);
	out_u64(cli, "child_b", event->child_b);
	if (event->kind == EVENT_JOINT_BREAK)
		out_u64(cli, "joint", event->child_a);
	if (event->kind == EVENT_HIT) {
		out_real(cli, "speed", event->speed);
		out_reals(cli, "point", &event->point.x, 3);
		out_reals(cli, "normal", &event->normal.x, 3);
	}
	out_end(cli);
}

static void on_notice(void *context, const struct msg_notice *notice)
{
	UNUSED(context);
	fprintf(stderr, "cairn: %llu frames skipped, %llu events lost; a frame every %llu ticks\n",
		(unsigned long long)notice->skipped, (unsigned long long)notice->lost,
		(unsigned long long)notice->divisor);
}

static void on_diverged(void *context, uint64_t sub, uint64_t tick)
{
	UNUSED(context);
	UNUSED(sub);
	watching.diverged++;
	fprintf(stderr, "cairn: the mirror's hash differs from the server's at tick %llu\n",
		(unsigned long long)tick);
}

struct cairn_callbacks verb_callbacks(struct cli *cli)
{
	return (struct cairn_callbacks){
		.frame = on_frame,
		.event = on_event,
		.notice = on_notice,
		.diverged = on_diverged,
		.monitor = cli_monitor_line,
		.context = cli,
	};
}

/* Goes to the tick of --from. */
static bool seek(struct cli *cli, const struct cairn_tick *tick, double speed)
{
	struct message sought;
	enum status status = cairn_seek(cli->client, 1, tick, speed, &sought, &cli->why);
	watching.held = false;
	return status == STATUS_OK;
}

int verb_watch(struct cli *cli)
{
	struct cairn_tick tick;
	double speed = 1;
	const char *factor = cli_option(cli, "speed", 0);
	if (!cli_tick(cli, "from", &tick, &watching.held) ||
	    (factor != NULL && !cli_number(cli, factor, "speed", &speed)))
		return cli_fail(cli);
	tick.recording = cli_option(cli, "recording", 0);
	struct cairn_world world;
	struct cairn_subscription ask = { .sub = 1, .profile = WIRE_PROFILE_EXACT };
	static const char *const profiles[] = { "plain", "exact", "view", "sim" };
	const char *ticks = cli_option(cli, "ticks", 0), *profile = cli_option(cli, "profile", 0);
	if (cli_flag(cli, "events"))
		ask.events = UINT32_MAX;
	if (cli_flag(cli, "contacts"))
		ask.fields = WIRE_COLUMNS_SERVED;
	if (cli_flag(cli, "joints"))
		ask.joints = WIRE_JOINT_COLUMNS_ALL;
	if (cli_flag(cli, "particles"))
		ask.particles = WIRE_PARTICLE_COLUMNS_ALL;
	watching.draws = cli_flag(cli, "draw");
	if (watching.draws && cli->json)
		return cli_usage(cli, "--draw is for people: leave out --json");
	if (profile != NULL) {
		uint32_t found = 0;
		while (found < COUNT_OF(profiles) && strcmp(profile, profiles[found]) != 0)
			found++;
		if (found == COUNT_OF(profiles))
			return cli_usage(cli, "--profile %s: it must be exact, plain, view or sim",
					 profile);
		ask.profile = (enum wire_profile)found;
	}
	watching.wanted = UINT64_MAX;
	if ((ticks != NULL && !cli_count(cli, ticks, "ticks", &watching.wanted)) ||
	    !cli_options_known(cli) || !cli_join(cli, &world))
		return cli_fail(cli);
	ask.world = world.number;
	if (cairn_subscribe(cli->client, &ask, &cli->why) != STATUS_OK ||
	    (watching.held && !seek(cli, &tick, speed)))
		return cli_fail(cli);
	while (watching.frames < watching.wanted) {
		enum status status = cairn_poll(cli->client, (int)cli->timeout_ms, &cli->why);
		/* A paused world sends no frames; with --ticks the timeout is then an error. */
		if (status == STATUS_AGAIN && ticks != NULL) {
			reason_set(
				&cli->why, status, -1, "ticks",
				"%llu of %llu frames arrived, then none within %u ms; %s",
				(unsigned long long)watching.frames,
				(unsigned long long)watching.wanted, (unsigned)cli->timeout_ms,
				cli_option(cli, "from", 0) != NULL
					? "the past or the recording ends there: ask for fewer --ticks"
					: "is the world paused?");
			return cli_fail(cli);
		}
		if (status != STATUS_OK && status != STATUS_AGAIN)
			return cli_fail(cli);
	}
	return watching.diverged == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
