/* Fan-out: cost of a tick beside the bare writes, lateness of frames, and cost of areas.
 *
 *	bench_fanout bare CLIENTS BYTES SECONDS
 *		a process that writes the same bytes to that many streams with uv_try_write and does nothing
 *		else, 60 times a second; another process reads them
 *	bench_fanout watch PORT WORLD CLIENTS SECONDS FIELDS ACK [STALLED MB STALL_SECONDS]
 *		that many observers of a cairnd, with lateness; the first STALLED of them read that many
 *		MB at full speed, then nothing for that many seconds, then everything
 *	bench_fanout areas
 *		a thousand different small areas over 20 000 bodies, without sockets: cost of a watched
 *		change
 *
 * tests/bench/server runs the first two in turns, in one run. */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "protocol/capabilities.h"
#include "protocol/frame.h"
#include "protocol/handshake.h"
#include "protocol/pack.h"
#include "protocol/unpack.h"
#include "server/base/body_hash.h"
#include "server/base/heap.h"
#include "server/base/rng.h"
#include "server/sync/fanout.h"

enum { CLIENTS_MAX = 2000, RATE = 60, READ_BYTES = 1 << 18, SAMPLES_MAX = 1 << 21 };

static void check(bool fine, const char *what)
{
	if (fine)
		return;
	fprintf(stderr, "bench_fanout: %s (%s)\n", what, strerror(errno));
	exit(EXIT_FAILURE);
}

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Processor time of this thread, which hardly depends on other load of the machine. */
static uint64_t used_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static int ascending(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

static int64_t quantile(int64_t *values, size_t count, double share)
{
	qsort(values, count, sizeof *values, ascending);
	return count > 0 ? values[(size_t)((double)(count - 1) * share)] : 0;
}

static int connect_to(uint16_t port)
{
	struct sockaddr_in address = { .sin_family = AF_INET, .sin_port = htons(port) };
	int fd = socket(AF_INET, SOCK_STREAM, 0), one = 1;
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	check(fd >= 0 && connect(fd, (struct sockaddr *)&address, sizeof address) == 0, "connect");
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	return fd;
}

/* ---- bare ----------------------------------------------------------------------------------------- */

static void drain_all(uint16_t port, int clients)
{
	static char junk[READ_BYTES];
	int queue = epoll_create1(0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < clients; i++) {
		struct epoll_event event = { .events = EPOLLIN, .data.fd = connect_to(port) };
		check(epoll_ctl(queue, EPOLL_CTL_ADD, event.data.fd, &event) == 0, "epoll");
	}
	for (;;) {
		struct epoll_event events[256];
		int count = epoll_wait(queue, events, 256, -1);
		for (int i = 0; i < count; i++)
			if (read(events[i].data.fd, junk, sizeof junk) <= 0)
				_exit(0);
	}
}

static void tune(int fd)
{
	int one = 1, lowat = 16 << 10, buffer = 64 << 10;
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
	setsockopt(fd, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &lowat, sizeof lowat);
	setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
}

static void bare(int clients, unsigned bytes, double seconds)
{
	static uv_tcp_t streams[CLIENTS_MAX];
	static char data[1 << 16];
	static int64_t times[1 << 16], used[1 << 16];
	struct sockaddr_in address = { .sin_family = AF_INET };
	socklen_t length = sizeof address;
	int listener = socket(AF_INET, SOCK_STREAM, 0);
	address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	check(bind(listener, (struct sockaddr *)&address, sizeof address) == 0 &&
		      listen(listener, 1024) == 0 &&
		      getsockname(listener, (struct sockaddr *)&address, &length) == 0,
	      "listen");
	pid_t reader = fork();
	if (reader == 0)
		drain_all(ntohs(address.sin_port), clients);
	for (int i = 0; i < clients; i++) {
		int fd = accept(listener, NULL, NULL);
		check(fd >= 0, "accept");
		tune(fd);
		uv_tcp_init(uv_default_loop(), &streams[i]);
		check(uv_tcp_open(&streams[i], fd) == 0, "uv_tcp_open");
	}
	int timer = timerfd_create(CLOCK_MONOTONIC, 0);
	struct itimerspec period = { { 0, 1000000000 / RATE }, { 0, 1000000000 / RATE } };
	timerfd_settime(timer, 0, &period, NULL);
	size_t ticks = 0, wanted = (size_t)(seconds * RATE), refused = 0;
	while (ticks < wanted) {
		uint64_t expirations;
		check(read(timer, &expirations, sizeof expirations) > 0, "timer");
		uint64_t begun = now_ns(), begun_used = used_ns();
		for (int i = 0; i < clients; i++) {
			uv_buf_t buffer = uv_buf_init(data, bytes);
			refused +=
				uv_try_write((uv_stream_t *)&streams[i], &buffer, 1) != (int)bytes;
		}
		used[ticks] = (int64_t)(used_ns() - begun_used);
		times[ticks++] = (int64_t)(now_ns() - begun);
	}
	kill(reader, SIGKILL);
	waitpid(reader, NULL, 0);
	printf("%ld %ld %ld %zu\n", (long)quantile(times, ticks, 0.5),
	       (long)quantile(times, ticks, 0.99), (long)quantile(used, ticks, 0.5), refused);
}

/* ---- watch ---------------------------------------------------------------------------------------- */

struct watcher {
	int fd;
	struct bytes in;
	uint64_t bytes, frames, skipped, tick, epoch;
	bool stalls, stalled, caught_up;
};

static struct {
	struct watcher watchers[CLIENTS_MAX];
	int64_t *late; /* arrival − tick / RATE, of clients that are not stalled */
	size_t samples;
	uint64_t newest;
	bool sampling, ack;
	int queue;
} hall;

static void say(struct watcher *self, const struct message *message)
{
	uint8_t bytes[4096];
	uint32_t count;
	check(message_pack(message, bytes, sizeof bytes, &count) == STATUS_OK, "pack");
	check(write(self->fd, bytes, count) == (ssize_t)count, "write");
}

static void take_frame(struct watcher *self, uint64_t epoch, uint64_t tick, bool last, uint64_t now)
{
	if (!last)
		return;
	self->frames++;
	self->tick = tick;
	self->epoch = epoch;
	if (tick > hall.newest)
		hall.newest = tick;
	if (hall.sampling && !self->stalls && hall.samples < SAMPLES_MAX)
		hall.late[hall.samples++] = (int64_t)(now - tick * UINT64_C(1000000000) / RATE);
	if (!hall.ack)
		return;
	struct message ack;
	message_init(&ack, MESSAGE_ACK);
	ack.ack.sub = 1;
	ack.ack.epoch = epoch;
	ack.ack.tick = tick;
	say(self, &ack);
}

static void take(struct watcher *self, struct wire_slice content, uint64_t now)
{
	struct message message, pong;
	struct reason why;
	check(message_read(content.at, content.bytes, &VALIDATE_DOWN, &message, &why) == STATUS_OK,
	      "a message cannot be read");
	switch (message.type) {
	case MESSAGE_SNAPSHOT:
		take_frame(self, message.snapshot.epoch, message.snapshot.tick,
			   message.snapshot.part + 1 == message.snapshot.of, now);
		break;
	case MESSAGE_DELTA:
		take_frame(self, message.delta.epoch, message.delta.tick,
			   message.delta.part + 1 == message.delta.of, now);
		break;
	case MESSAGE_NOTICE:
		self->skipped += message.notice.skipped;
		break;
	case MESSAGE_PING:
		message_init(&pong, MESSAGE_PONG);
		pong.pong.t = message.ping.t;
		say(self, &pong);
		break;
	case MESSAGE_GOODBYE:
	case MESSAGE_ERROR:
		check(false, "the server closed a client's session");
	default:
		break;
	}
}

static void receive(struct watcher *self)
{
	struct wire_slice content;
	size_t bytes, taken = 0;
	check(bytes_reserve(&self->in, self->in.count < READ_BYTES / 4 ? READ_BYTES / 4
								       : READ_BYTES) == STATUS_OK,
	      "memory");
	ssize_t got = read(self->fd, self->in.data + self->in.count, READ_BYTES / 4);
	check(got > 0, "a connection was closed");
	uint64_t now = now_ns();
	self->in.count += (size_t)got;
	self->bytes += (uint64_t)got;
	while (frame_split(self->in.data + taken, self->in.count - taken, WIRE_FRAME_DOWN, &content,
			   &bytes) == STATUS_OK) {
		take(self, content, now);
		taken += bytes;
	}
	bytes_consume(&self->in, taken);
}

static void listen_to(struct watcher *self, bool listen)
{
	struct epoll_event event = { .events = EPOLLIN, .data.ptr = self };
	epoll_ctl(hall.queue, listen ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, self->fd, &event);
	self->stalled = !listen;
}

static void run(double seconds)
{
	uint64_t end = now_ns() + (uint64_t)(seconds * 1e9);
	for (uint64_t now; (now = now_ns()) < end;) {
		struct epoll_event events[256];
		int count = epoll_wait(hall.queue, events, 256, (int)((end - now) / 1000000) + 1);
		for (int i = 0; i < count; i++)
			receive(events[i].data.ptr);
	}
}

static void enter(struct watcher *self, uint16_t port, uint32_t world, wire_mask fields)
{
	struct handshake handshake;
	struct handshake_offer offer = {
		.name = "bench",
		.caps = WIRE_CAP_EXACT | (hall.ack ? (uint32_t)WIRE_CAP_ACK : 0),
		.role = WIRE_ROLE_CONTROLLER,
	};
	struct message message;
	self->fd = connect_to(port);
	handshake_init(&handshake, &offer);
	handshake_hello(&handshake, &message);
	say(self, &message);
	message_init(&message, MESSAGE_WORLD_JOIN);
	message.world_join.ref = 1;
	message.world_join.world = world;
	say(self, &message);
	message_init(&message, MESSAGE_SUBSCRIBE);
	message.subscribe.sub = 1;
	message.subscribe.world = world;
	message.subscribe.fields = fields;
	message.subscribe.profile = WIRE_PROFILE_EXACT;
	message.subscribe.hash_every = 0;
	say(self, &message);
	listen_to(self, true);
}

/* Bytes in the kernel's send queues of the server's end of these connections. */
static uint64_t kernel_bytes(const struct watcher *watchers, int count, uint64_t *most)
{
	char line[512];
	uint64_t total = 0;
	FILE *file = fopen("/proc/net/tcp", "r");
	static uint16_t ports[65536];
	memset(ports, 0, sizeof ports);
	for (int i = 0; i < count; i++) {
		struct sockaddr_in address;
		socklen_t length = sizeof address;
		getsockname(watchers[i].fd, (struct sockaddr *)&address, &length);
		ports[ntohs(address.sin_port)] = 1;
	}
	*most = 0;
	while (file != NULL && fgets(line, sizeof line, file) != NULL) {
		unsigned local, remote, send;
		if (sscanf(line, " %*d: %*x:%x %*x:%x %*x %x:", &local, &remote, &send) != 3 ||
		    !ports[remote & 0xffff])
			continue;
		total += send;
		*most = send > *most ? send : *most;
	}
	if (file != NULL)
		fclose(file);
	return total;
}

static void report(const char *name, int clients, double seconds)
{
	int64_t least = INT64_MAX;
	for (size_t i = 0; i < hall.samples; i++)
		least = hall.late[i] < least ? hall.late[i] : least;
	size_t within = 0;
	for (size_t i = 0; i < hall.samples; i++) {
		hall.late[i] -= least;
		within += hall.late[i] <= 1000000000 / RATE;
	}
	uint64_t skipped = 0;
	for (int i = 0; i < clients; i++)
		skipped += hall.watchers[i].stalls ? 0 : hall.watchers[i].skipped;
	printf("%s: %zu frames of %.0f, lateness median %.2f ms, p99 %.2f ms, within a tick %.2f %%, "
	       "%llu skipped\n",
	       name, hall.samples, seconds * RATE * clients,
	       (double)quantile(hall.late, hall.samples, 0.5) / 1e6,
	       (double)quantile(hall.late, hall.samples, 0.99) / 1e6,
	       100.0 * (double)within / (double)(hall.samples > 0 ? hall.samples : 1),
	       (unsigned long long)skipped);
	fflush(stdout);
	hall.samples = 0;
}

static void fill_up(int stalled, uint64_t bytes)
{
	const uint64_t LONGEST = UINT64_C(200000000000); /* ns: 100 MB each take about 100 s */
	uint64_t begun = now_ns(), least = 0;
	while (least < bytes && now_ns() - begun < LONGEST) {
		run(0.1);
		least = UINT64_MAX;
		for (int i = 0; i < stalled; i++)
			least = hall.watchers[i].bytes < least ? hall.watchers[i].bytes : least;
	}
	printf("%d clients have read at least %.1f MB each\n", stalled, (double)least / 1e6);
	fflush(stdout);
}

static void stall(int clients, int stalled, double seconds)
{
	uint64_t most, caught_up = 0;
	for (int i = 0; i < stalled; i++)
		listen_to(&hall.watchers[i], false);
	run(0.5);
	hall.sampling = true;
	run(seconds);
	hall.sampling = false;
	uint64_t kernel = kernel_bytes(hall.watchers, stalled, &most);
	report("some stalled", clients - stalled, seconds);
	printf("the kernel's send queue holds %.1f KiB a stalled client, at most %.1f\n",
	       (double)kernel / 1024 / stalled, (double)most / 1024);
	uint64_t then = hall.newest, begun = now_ns();
	for (int i = 0; i < stalled; i++)
		listen_to(&hall.watchers[i], true);
	while (caught_up < (uint64_t)stalled && now_ns() - begun < UINT64_C(10000000000)) {
		run(0.05);
		caught_up = 0;
		for (int i = 0; i < stalled; i++)
			caught_up += hall.watchers[i].tick >= then;
	}
	printf("%llu of %d caught up within %.0f ms\n", (unsigned long long)caught_up, stalled,
	       (double)(now_ns() - begun) / 1e6);
}

static void watch(int argc, char **argv)
{
	check(argc >= 7, "watch PORT WORLD CLIENTS SECONDS FIELDS ACK");
	uint16_t port = (uint16_t)atoi(argv[1]);
	int clients = atoi(argv[3]), stalled = argc > 7 ? atoi(argv[7]) : 0;
	double seconds = atof(argv[4]), stall_seconds = argc > 9 ? atof(argv[9]) : seconds;
	hall.queue = epoll_create1(0);
	hall.ack = atoi(argv[6]) != 0;
	hall.late = malloc(SAMPLES_MAX * sizeof *hall.late);
	check(clients <= CLIENTS_MAX && hall.late != NULL, "too many");
	/* Stalled clients subscribe to all columns, because large buffers are the risk. */
	for (int i = 0; i < clients; i++) {
		hall.watchers[i].stalls = i < stalled;
		if (i == stalled && stalled > 0)
			fill_up(stalled, (uint64_t)atoi(argv[8]) * 1000000);
		enter(&hall.watchers[i], port, (uint32_t)atoi(argv[2]),
		      i < stalled ? 31 : (uint8_t)atoi(argv[5]));
		if (i % 50 == 49)
			run(0.02);
	}
	printf("ready\n");
	fflush(stdout);
	run(1.5);
	hall.sampling = true;
	run(seconds);
	hall.sampling = false;
	report("all reading", clients - stalled, seconds);
	if (stalled > 0)
		stall(clients, stalled, stall_seconds);
	printf("done\n");
}

/* ---- areas ---------------------------------------------------------------------------------------- */

enum { SIDE = 400, AREA = 6, AREA_TICKS = 200 };

struct field {
	struct rng rng;
	uint32_t count, moving; /* the first `moving` bodies of them */
	uint64_t tick;
	struct wire_body *bodies;
	struct report *report;
	struct tick_report ticked;
	struct fanout *fanout;
	struct frame_pool *pool;
	struct outbox_set set;
	struct stream *streams;
	struct outbox *outboxes;
	uint32_t clients;
};

static enum status swallow(struct stream *stream, struct frame *const frames[], uint32_t count)
{
	UNUSED(stream);
	UNUSED(frames);
	UNUSED(count);
	return STATUS_OK;
}

static size_t nothing_waits(const struct stream *stream)
{
	UNUSED(stream);
	return 0;
}

static const struct stream_ops sink = { .write = swallow, .queued = nothing_waits };

static void tell(struct field *self, uint32_t i, uint8_t why)
{
	const struct wire_body *body = &self->bodies[i];
	struct report_body *to = &self->ticked.bodies[self->ticked.body_count++];
	memset(to, 0, sizeof *to);
	to->why = why;
	to->view.id = body->id;
	to->view.status = body->status;
	memcpy(&to->view.position, body->position, sizeof body->position);
	memcpy(&to->view.rotation, body->rotation, sizeof body->rotation);
}

static double make_tick(struct field *self, bool whole, uint64_t *sum)
{
	self->ticked.body_count = 0;
	self->ticked.whole = whole;
	self->ticked.step = !whole;
	self->ticked.tick = ++self->tick;
	self->ticked.epoch = 1;
	for (uint32_t i = 0; i < (whole ? self->count : self->moving); i++) {
		*sum -= whole ? 0 : wire_tick_hash(&self->bodies[i]);
		self->bodies[i].position[1] = (double)(self->tick % 16) / 64;
		*sum += wire_tick_hash(&self->bodies[i]);
		tell(self, i, whole ? REPORT_CREATED : REPORT_MOVED);
	}
	self->ticked.tick_hash = body_hash_finish(self->tick, *sum, self->count);
	uint64_t now = self->tick * (1000000000 / RATE), begun = used_ns();
	check(fanout_report(self->fanout, &self->ticked, now) == STATUS_OK, "report");
	while (fanout_continue(self->fanout, now))
		;
	outbox_set_flush(&self->set);
	return (double)(used_ns() - begun);
}

/* Each client has its own area, so a body is watched by about one client. */
static void subscribe(struct field *self, uint32_t client, double x, double z, double radius)
{
	uint8_t bytes[128];
	struct wire_packer out = wire_packer_over(bytes, sizeof bytes);
	struct wire_area area = { .kind = WIRE_AREA_BALL, .numbers = { x, 0, z, radius } };
	struct message ask;
	struct subscription *subscription;
	struct reason why;
	wire_area_pack(&out, &area);
	message_init(&ask, MESSAGE_SUBSCRIBE);
	ask.subscribe.sub = client + 1;
	ask.subscribe.profile = WIRE_PROFILE_EXACT;
	ask.subscribe.hash_every = 0;
	ask.subscribe.areas = (struct wire_list){ bytes, out.bytes, 1 };
	self->streams[client] = (struct stream){ .ops = &sink };
	outbox_init(&self->outboxes[client], &self->set, &self->streams[client], self->pool);
	check(fanout_subscribe(self->fanout, &ask.subscribe, &self->outboxes[client], NULL, false,
			       WIRE_FRAME_DOWN, 1, &subscription, &why) == STATUS_OK,
	      "subscribe");
}

struct cost {
	double tick_us, changes; /* watched, a tick */
};

/* `clients` areas over 20 000 bodies of which `moving` move, and `away` more at rest far away. */
static struct cost measure(uint32_t clients, double radius, uint32_t moving, uint32_t away)
{
	static double times[AREA_TICKS];
	struct field field = { .rng = rng_seeded(7), .count = 20000 + away, .moving = moving };
	struct fanout_counters before, after;
	uint64_t sum = 0;
	field.bodies = calloc(field.count, sizeof *field.bodies);
	field.ticked.bodies = calloc(field.count, sizeof *field.ticked.bodies);
	field.streams = calloc(clients + 1, sizeof *field.streams);
	field.outboxes = calloc(clients + 1, sizeof *field.outboxes);
	check(frame_pool_create(64u << 20, &field.pool) == STATUS_OK &&
		      fanout_create(field.pool, &field.fanout) == STATUS_OK,
	      "create");
	for (uint32_t i = 0; i < field.count; i++) {
		struct wire_body *body = &field.bodies[i];
		body->id = i + 1;
		body->status = 2;
		body->rotation[0] = 1;
		body->position[0] = rng_range(&field.rng, 0, SIDE);
		body->position[2] = rng_range(&field.rng, 0, SIDE);
		if (i >= 20000)
			body->position[0] += 10 * SIDE;
	}
	make_tick(&field, true, &sum);
	for (uint32_t c = 0; c < clients; c++) {
		double x = rng_range(&field.rng, 0, SIDE);
		double z = rng_range(&field.rng, 0, SIDE);
		subscribe(&field, c, x, z, radius);
	}
	for (int i = 0; i < 100; i++)
		make_tick(&field, false, &sum);
	fanout_counters(field.fanout, &before);
	int64_t sorted[AREA_TICKS];
	for (int i = 0; i < AREA_TICKS; i++) {
		times[i] = make_tick(&field, false, &sum);
		sorted[i] = (int64_t)times[i];
	}
	fanout_counters(field.fanout, &after);
	struct cost cost = { (double)quantile(sorted, AREA_TICKS, 0.5) / 1000,
			     (double)(after.rows - before.rows) / AREA_TICKS };
	fanout_destroy(field.fanout);
	for (uint32_t c = 0; c < clients; c++)
		outbox_release(&field.outboxes[c]);
	frame_pool_destroy(field.pool);
	free(field.bodies);
	free(field.ticked.bodies);
	free(field.streams);
	free(field.outboxes);
	return cost;
}

static void areas(void)
{
	static const uint32_t moving[] = { 0, 2000, 5000, 10000, 20000 };
	printf("20 000 bodies on %d x %d m; medians of %d ticks, processor time; cost beside that of "
	       "no subscription\n",
	       SIDE, SIDE, AREA_TICKS);
	struct cost ends[2][COUNT_OF(moving)];
	printf("clients  radius   moving   watched changes   cost us   us a watched change\n");
	for (int k = 0; k < 2; k++) {
		for (size_t m = 0; m < COUNT_OF(moving); m++) {
			/* A thousand small areas, or one as large as all of them. */
			uint32_t clients = k == 0 ? 1000 : 1;
			double radius = k == 0 ? AREA : SIDE / 2;
			struct cost none = measure(0, radius, moving[m], 0);
			struct cost some = measure(clients, radius, moving[m], 0);
			printf("%7u  %6.0f  %7u  %16.0f  %8.0f   %.3f\n", clients, radius,
			       moving[m], some.changes, some.tick_us - none.tick_us,
			       (some.tick_us - none.tick_us) / MAX_OF(some.changes, 1.0));
			fflush(stdout);
			ends[k][m] = (struct cost){ some.tick_us - none.tick_us, some.changes };
		}
	}
	for (int k = 0; k < 2; k++) {
		const struct cost *low = &ends[k][1], *high = &ends[k][COUNT_OF(moving) - 1];
		printf("b of %s: %.3f us\n", k == 0 ? "a thousand" : "one",
		       (high->tick_us - low->tick_us) / (high->changes - low->changes));
	}
	struct cost none = measure(0, AREA, 5000, 0), some = measure(1000, AREA, 5000, 0);
	struct cost none_more = measure(0, AREA, 5000, 180000);
	struct cost more = measure(1000, AREA, 5000, 180000);
	double one = some.tick_us - none.tick_us, ten = more.tick_us - none_more.tick_us;
	printf("ten times the bodies, the others unwatched: %.0f us, then %.0f us (%+.1f %%)\n",
	       one, ten, 100 * (ten - one) / one);
}

int main(int argc, char **argv)
{
	struct rlimit files;
	getrlimit(RLIMIT_NOFILE, &files);
	files.rlim_cur = files.rlim_max;
	setrlimit(RLIMIT_NOFILE, &files);
	signal(SIGPIPE, SIG_IGN);
	if (argc == 5 && strcmp(argv[1], "bare") == 0)
		bare(atoi(argv[2]), (unsigned)atoi(argv[3]), atof(argv[4]));
	else if (argc > 2 && strcmp(argv[1], "watch") == 0)
		watch(argc - 1, argv + 1);
	else if (argc == 2 && strcmp(argv[1], "areas") == 0)
		areas();
	else
		check(false, "bare CLIENTS BYTES SECONDS | watch PORT WORLD … | areas");
	return 0;
}
