// watch.cpp: a world inside an event loop that is not Cairn's: epoll waits for the server and for a timer.
//
//	c++ watch.cpp $(pkg-config --cflags --libs cairn) -o watch && ./watch tcp:127.0.0.1:7411 tower 2
#include <cairn.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <sys/epoll.h>
#include <sys/timerfd.h>
#include <unistd.h>

static unsigned long frames, verified;
static cairn_error failure;

static void must(int status)
{
	if (status == CAIRN_STATUS_OK)
		return;
	std::fprintf(stderr, "%s: %s\n", cairn_status_name(status), failure.text);
	std::exit(EXIT_FAILURE);
}

static void on_frame(void *fastest, cairn_world *, const cairn_frame *frame)
{
	double speed, most = -1;
	frames++;
	verified += frame->verified; // this replica's hash is the server's
	for (const cairn_body *body = frame->state.bodies; body < frame->state.bodies + frame->state.count; body++)
		if ((speed = std::hypot(body->velocity.x, body->velocity.y, body->velocity.z)) > most) {
			most = speed;
			*static_cast<cairn_body *>(fastest) = *body;
		}
}

int main(int argc, char **argv)
{
	cairn_body fastest = {};
	cairn_client_options options = {};
	options.frame = on_frame;
	options.context = &fastest;
	cairn_client *client;
	cairn_world *world;
	must(cairn_client_open(argc > 1 ? argv[1] : "tcp:127.0.0.1:7411", &options, &client, &failure));
	must(cairn_client_join(client, argc > 2 ? argv[2] : "tower", &world, &failure));
	must(cairn_world_watch(world, 1, 0, &failure));

	const int loop = epoll_create1(0), timer = timerfd_create(CLOCK_MONOTONIC, 0);
	const itimerspec second = { { 1, 0 }, { 1, 0 } };
	timerfd_settime(timer, 0, &second, nullptr);
	const int sources[] = { cairn_client_fd(client), timer };
	for (int fd : sources) {
		epoll_event event = {};
		event.events = EPOLLIN;
		event.data.fd = fd;
		epoll_ctl(loop, EPOLL_CTL_ADD, fd, &event);
	}
	for (int left = argc > 3 ? std::atoi(argv[3]) : 10; left > 0;) {
		int status; // the first poll sends the subscription
		while ((status = cairn_client_poll(client, 0, &failure)) == CAIRN_STATUS_OK)
			;
		if (status != CAIRN_STATUS_AGAIN)
			must(status);
		epoll_event event;
		unsigned long long ticks;
		if (epoll_wait(loop, &event, 1, -1) != 1 || event.data.fd != timer)
			continue;
		if (read(timer, &ticks, sizeof ticks) == sizeof ticks && left-- > 0)
			std::printf("%lu of %lu frames verified; body %u at height %.2f m is the fastest\n", verified,
				    frames, fastest.id, fastest.position.y);
	}
	cairn_client_close(client);
	return frames > 0 && verified == frames ? EXIT_SUCCESS : EXIT_FAILURE;
}
