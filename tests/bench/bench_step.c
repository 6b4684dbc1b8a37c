/* Cost of a STEP(1) beside a bare echo: the time from a client's write to the end of its read of
 * the whole answer.
 *
 * The echo is libuv only (uv_read_start, uv_write), in its own process, with messages of the same
 * sizes in both directions; the STEP goes to a cairnd of this build, which answers STEPPED. Both in
 * turns in the same run, over a Unix socket and over TCP, client and servers on the same machine.
 * LOOP itself makes the STEP of so small a world (tick/pool.h). The second row shows the cost of
 * passing it to the world's worker and back: two hand-overs with uv_async only. The last row is the
 * cost of a tick: a tenth of STEP(11) less STEP(1). The target for STEP(1) is at most 1.5 echoes
 * and one tick.
 *
 * A round trip between two processors costs ten times that on one, and the placement by the system
 * is random, so both are measured: client and servers (cairnd's LOOP) on the same processor, and on
 * two.
 *
 *	bench_step CAIRND [ROUNDS a row, default 5000] */
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <uv.h>

#include "protocol/message.h"
#include "protocol/pack.h"

enum { TURNS = 20, ROUNDS_MAX = 1000000, FRAME_MAX = 4096 };
enum row { BARE, RELAYED, STEP, STEP_HASH, STEP_MORE, ROWS };
enum { MORE = 11 };

/* table: names of the rows. */
static const char *const NAMES[ROWS] = { "bare echo", "echo over a thread", "STEP(1)",
					 "STEP(1), state hash", "STEP(11)" };

static void check(bool fine, const char *what)
{
	if (fine)
		return;
	fprintf(stderr, "bench_step: %s\n", what);
	exit(EXIT_FAILURE);
}

static uint64_t now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* ---- the echo: uv and nothing else ----------------------------------------------------------- */

static struct {
	uv_loop_t loop, other;
	uv_async_t there, back;
	uv_stream_t *peer;
	bool relay;
	size_t ask, answer; /* bytes of a message each way */
	char in[FRAME_MAX], out[FRAME_MAX];
	size_t count;
	uv_write_t write;
} echo;

static void echo_answer(uv_async_t *async)
{
	UNUSED(async);
	uv_buf_t buffer = uv_buf_init(echo.out, (unsigned)echo.answer);
	/* As fast servers do: writes at once, and queues only what does not fit. */
	if (uv_try_write(echo.peer, &buffer, 1) != (int)echo.answer)
		_exit(3);
}

static void echo_there(uv_async_t *async)
{
	UNUSED(async);
	uv_async_send(&echo.back);
}

static void echo_space(uv_handle_t *handle, size_t wish, uv_buf_t *buffer)
{
	UNUSED(handle);
	UNUSED(wish);
	*buffer = uv_buf_init(echo.in, sizeof echo.in);
}

static void echo_read(uv_stream_t *stream, ssize_t bytes, const uv_buf_t *buffer)
{
	UNUSED(buffer);
	if (bytes < 0) {
		uv_close((uv_handle_t *)stream, NULL);
		return;
	}
	echo.peer = stream;
	echo.count += (size_t)bytes;
	if (echo.count < echo.ask)
		return;
	echo.count = 0;
	if (echo.relay)
		uv_async_send(&echo.there);
	else
		echo_answer(NULL);
}

static void echo_accept(uv_stream_t *listener, int status)
{
	check(status == 0, "accept");
	uv_stream_t *stream;
	if (listener->type == UV_NAMED_PIPE) {
		static uv_pipe_t pipe;
		uv_pipe_init(&echo.loop, &pipe, 0);
		stream = (uv_stream_t *)&pipe;
	} else {
		static uv_tcp_t tcp;
		uv_tcp_init(&echo.loop, &tcp);
		uv_tcp_nodelay(&tcp, 1);
		stream = (uv_stream_t *)&tcp;
	}
	check(uv_accept(listener, stream) == 0, "accept");
	uv_read_start(stream, echo_space, echo_read);
}

static void *echo_other(void *context)
{
	UNUSED(context);
	uv_run(&echo.other, UV_RUN_DEFAULT);
	return NULL;
}

/* Runs for ever in its own process; writes the port to `ready`. */
static void echo_main(const char *path, int ready)
{
	static uv_pipe_t pipe;
	static uv_tcp_t tcp;
	struct sockaddr_in address;
	int length = sizeof address;
	pthread_t thread;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	uv_loop_init(&echo.loop);
	uv_loop_init(&echo.other);
	uv_async_init(&echo.loop, &echo.back, echo_answer);
	uv_async_init(&echo.other, &echo.there, echo_there);
	check(pthread_create(&thread, NULL, echo_other, NULL) == 0, "thread");
	uv_pipe_init(&echo.loop, &pipe, 0);
	check(uv_pipe_bind(&pipe, path) == 0, "bind");
	check(uv_listen((uv_stream_t *)&pipe, 8, echo_accept) == 0, "listen");
	uv_tcp_init(&echo.loop, &tcp);
	uv_ip4_addr("127.0.0.1", 0, &address);
	check(uv_tcp_bind(&tcp, (struct sockaddr *)&address, 0) == 0, "bind");
	check(uv_listen((uv_stream_t *)&tcp, 8, echo_accept) == 0, "listen");
	uv_tcp_getsockname(&tcp, (struct sockaddr *)&address, &length);
	check(write(ready, &address.sin_port, sizeof address.sin_port) > 0, "ready");
	uv_run(&echo.loop, UV_RUN_DEFAULT);
	_exit(0);
}

struct server {
	pid_t pid;
	char path[96];
	uint16_t port; /* network order */
};

static struct server start_echo(const char *folder, bool relay, size_t ask, size_t answer)
{
	struct server server = { 0 };
	int ready[2];
	snprintf(server.path, sizeof server.path, "%s/echo%d", folder, relay);
	check(pipe(ready) == 0, "pipe");
	server.pid = fork();
	check(server.pid >= 0, "fork");
	if (server.pid == 0) {
		echo.relay = relay;
		echo.ask = ask;
		echo.answer = answer;
		echo_main(server.path, ready[1]);
	}
	check(read(ready[0], &server.port, sizeof server.port) == sizeof server.port, "echo");
	close(ready[0]);
	close(ready[1]);
	return server;
}

/* ---- cairnd ---------------------------------------------------------------------------------- */

static int dial(const struct server *server, bool tcp)
{
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	struct sockaddr_in in = { .sin_family = AF_INET, .sin_port = server->port };
	int fd = socket(tcp ? AF_INET : AF_UNIX, SOCK_STREAM, 0), yes = 1;
	snprintf(un.sun_path, sizeof un.sun_path, "%s", server->path);
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	const struct sockaddr *to = tcp ? (struct sockaddr *)&in : (struct sockaddr *)&un;
	if (fd < 0 || connect(fd, to, tcp ? sizeof in : sizeof un) != 0) {
		close(fd);
		return -1;
	}
	if (tcp)
		setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
	return fd;
}

/* A free TCP port: bound, read and closed. */
static uint16_t free_port(void)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	socklen_t length = sizeof in;
	int fd = socket(AF_INET, SOCK_STREAM, 0);
	in.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	check(bind(fd, (struct sockaddr *)&in, sizeof in) == 0, "bind");
	check(getsockname(fd, (struct sockaddr *)&in, &length) == 0, "port");
	close(fd);
	return in.sin_port;
}

static struct server start_cairnd(const char *program, const char *folder)
{
	struct server server = { .port = free_port() };
	char listen[64];
	snprintf(server.path, sizeof server.path, "%s/cairnd", folder);
	snprintf(listen, sizeof listen, "tcp:127.0.0.1:%u", (unsigned)ntohs(server.port));
	server.pid = fork();
	check(server.pid >= 0, "fork");
	if (server.pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		execl(program, program, "--log", "error", "--unix", server.path, "--listen", listen,
		      (char *)NULL);
		_exit(127);
	}
	for (int i = 0; i < 1000; i++) {
		int first = dial(&server, true), second = dial(&server, false);
		bool both = first >= 0 && second >= 0;
		close(first);
		close(second);
		if (both)
			return server;
		usleep(10000);
	}
	check(false, "cairnd does not listen");
	return server;
}

static void send_message(int fd, const struct message *message)
{
	uint8_t frame[FRAME_MAX];
	uint32_t bytes;
	check(message_pack(message, frame, sizeof frame, &bytes) == STATUS_OK, "pack");
	check(send(fd, frame, bytes, 0) == (ssize_t)bytes, "send");
}

/* A whole frame; returns its bytes. */
static size_t take_frame(int fd, uint8_t frame[FRAME_MAX])
{
	check(recv(fd, frame, 5, MSG_WAITALL) == 5 && frame[0] == 0xc6, "header");
	size_t content = (size_t)frame[3] << 8 | frame[4];
	check(content <= FRAME_MAX - 5, "frame");
	check(recv(fd, frame + 5, content, MSG_WAITALL) == (ssize_t)content, "content");
	return content + 5;
}

static void ask(int fd, const struct message *message, enum message_type wanted)
{
	uint8_t frame[FRAME_MAX];
	send_message(fd, message);
	take_frame(fd, frame);
	check(frame[6] == wanted, "an unexpected answer");
}

static int open_session(const struct server *server, bool tcp, bool create)
{
	int fd = dial(server, tcp);
	check(fd >= 0, "connect");
	struct message message;
	message_init(&message, MESSAGE_HELLO);
	message.hello.protocol = (struct wire_version){ 1, 0 };
	ask(fd, &message, MESSAGE_WELCOME);
	message_init(&message, create ? MESSAGE_WORLD_CREATE : MESSAGE_WORLD_JOIN);
	if (create)
		message.world_create.name = wire_text("bench");
	else
		message.world_join.name = wire_text("bench");
	ask(fd, &message, MESSAGE_WORLD_INFO);
	if (create) {
		message_init(&message, MESSAGE_WORLD_JOIN);
		message.world_join.name = wire_text("bench");
		ask(fd, &message, MESSAGE_WORLD_INFO);
	}
	return fd;
}

/* ---- measuring --------------------------------------------------------------------------------- */

struct probe {
	int fd[ROWS];
	uint64_t request; /* of the last STEP */
	uint64_t *samples[ROWS];
	uint32_t count[ROWS];
	size_t sizes[2];
};

static void echo_round(int fd, const size_t sizes[2])
{
	uint8_t bytes[FRAME_MAX] = { 0 };
	check(send(fd, bytes, sizes[0], 0) == (ssize_t)sizes[0], "send");
	size_t got = 0;
	while (got < sizes[1]) {
		ssize_t more = recv(fd, bytes, sizeof bytes, 0);
		check(more > 0, "echo ended");
		got += (size_t)more;
	}
}

static size_t pack_step(uint64_t request, uint64_t n, uint8_t want, uint8_t frame[FRAME_MAX])
{
	struct message message;
	uint32_t bytes;
	message_init(&message, MESSAGE_STEP);
	message.step.world = 1;
	message.step.request = request;
	message.step.n = n;
	message.step.want = want;
	check(message_pack(&message, frame, FRAME_MAX, &bytes) == STATUS_OK, "pack");
	return bytes;
}

/* One read a message, as in the client of the echo: STEPPED arrives in one piece. */
static size_t step_round(int fd, const uint8_t *ask_frame, size_t ask_bytes)
{
	uint8_t frame[FRAME_MAX];
	check(send(fd, ask_frame, ask_bytes, 0) == (ssize_t)ask_bytes, "send");
	size_t got = 0, wanted = 5;
	while (got < wanted) {
		ssize_t more = recv(fd, frame + got, sizeof frame - got, 0);
		check(more > 0, "cairnd ended");
		got += (size_t)more;
		if (got >= 5)
			wanted = 5 + ((size_t)frame[3] << 8 | frame[4]);
	}
	check(frame[6] == MESSAGE_STEPPED, "no STEPPED");
	return got;
}

static void sample(struct probe *probe, enum row row)
{
	uint8_t frame[FRAME_MAX];
	size_t bytes = 0;
	if (row >= STEP)
		bytes = pack_step(++probe->request, row == STEP_MORE ? MORE : 1,
				  row == STEP_HASH ? WIRE_WANT_HASH : 0, frame);
	uint64_t begun = now_ns();
	if (row >= STEP)
		step_round(probe->fd[row], frame, bytes);
	else
		echo_round(probe->fd[row], probe->sizes);
	probe->samples[row][probe->count[row]++] = now_ns() - begun;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return (x > y) - (x < y);
}

/* `thread`: 0 for this thread, or a process for its first thread. */
static void place(pid_t thread, int processor)
{
	cpu_set_t set;
	CPU_ZERO(&set);
	CPU_SET(processor, &set);
	check(sched_setaffinity(thread, sizeof set, &set) == 0, "processor");
}

static void print(struct probe *probe, const char *where)
{
	double medians[ROWS];
	for (int row = 0; row < ROWS; row++) {
		uint64_t *samples = probe->samples[row];
		uint32_t count = probe->count[row];
		qsort(samples, count, sizeof *samples, by_value);
		medians[row] = (double)samples[count / 2] / 1e3;
		printf("%-11s %-22s %8.1f %8.1f %8.1f   %5.2f\n", where, NAMES[row], medians[row],
		       (double)samples[count / 10 * 9] / 1e3,
		       (double)samples[count / 100 * 99] / 1e3, medians[row] / medians[BARE]);
	}
	double tick = (medians[STEP_MORE] - medians[STEP]) / (MORE - 1);
	printf("%-11s a tick %.2f us; STEP(1) less a tick is %.2f echoes\n", where, tick,
	       (medians[STEP] - tick) / medians[BARE]);
}

static void measure(const struct server servers[ROWS], bool tcp, int processor, uint32_t rounds,
		    const size_t sizes[2])
{
	struct probe probe = { 0 };
	char where[16];
	snprintf(where, sizeof where, "%s, %s", tcp ? "tcp" : "unix",
		 processor == 0 ? "one" : "two");
	for (int row = 0; row < STEP_HASH; row++)
		place(servers[row].pid, processor);
	for (int row = 0; row < ROWS; row++) {
		probe.samples[row] = malloc(rounds * sizeof *probe.samples[row]);
		check(probe.samples[row] != NULL, "memory");
	}
	probe.fd[STEP] = open_session(&servers[STEP], tcp, false);
	probe.fd[STEP_HASH] = probe.fd[STEP_MORE] = probe.fd[STEP];
	memcpy(probe.sizes, sizes, sizeof probe.sizes);
	probe.fd[BARE] = dial(&servers[BARE], tcp);
	probe.fd[RELAYED] = dial(&servers[RELAYED], tcp);
	for (uint32_t turn = 0; turn < TURNS * ROWS; turn++)
		for (uint32_t i = 0; i < rounds / TURNS; i++)
			sample(&probe, turn % ROWS);
	print(&probe, where);
	for (int row = 0; row < ROWS; row++)
		free(probe.samples[row]);
	for (int row = 0; row < STEP_HASH; row++)
		close(probe.fd[row]);
}

/* Bytes of a STEP and of its answer in the middle of a run, when numbers have three bytes. */
static void measure_sizes(const struct server *server, size_t sizes[2])
{
	uint8_t frame[FRAME_MAX];
	int fd = open_session(server, false, true);
	for (uint64_t request = 1; request <= 300; request++) {
		sizes[0] = pack_step(request, 1, 0, frame);
		sizes[1] = step_round(fd, frame, sizes[0]);
	}
	close(fd);
}

int main(int argc, char **argv)
{
	char folder[] = "/tmp/cairn_bench_XXXXXX";
	long rounds = argc > 2 ? strtol(argv[2], NULL, 10) : 5000;
	check(argc > 1 && rounds >= 100 && rounds <= ROUNDS_MAX,
	      "usage: bench_step CAIRND [ROUNDS]");
	check(mkdtemp(folder) != NULL, "folder");
	struct server servers[ROWS];
	size_t sizes[2];
	servers[STEP] = start_cairnd(argv[1], folder);
	measure_sizes(&servers[STEP], sizes);
	servers[BARE] = start_echo(folder, false, sizes[0], sizes[1]);
	servers[RELAYED] = start_echo(folder, true, sizes[0], sizes[1]);
	printf("%zu bytes there, %zu back\n", sizes[0], sizes[1]);
	printf("%-34s %8s %8s %8s   %s\n", "round trip, processors", "p50 us", "p90 us", "p99 us",
	       "to the echo");
	place(0, 0);
	int processors = sysconf(_SC_NPROCESSORS_ONLN) > 1 ? 2 : 1;
	for (int processor = 0; processor < processors; processor++) {
		measure(servers, false, processor, (uint32_t)rounds, sizes);
		measure(servers, true, processor, (uint32_t)rounds, sizes);
	}
	for (int row = 0; row < STEP_HASH; row++) {
		kill(servers[row].pid, row == STEP ? SIGTERM : SIGKILL);
		waitpid(servers[row].pid, NULL, 0);
		unlink(servers[row].path);
	}
	rmdir(folder);
	return EXIT_SUCCESS;
}
