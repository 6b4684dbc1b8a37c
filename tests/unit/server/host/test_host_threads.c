/* A host on threads: requests from LOOP reach the worker, even if far more are posted at once than
 * the task queue holds. */
#include <stdlib.h>

#include "server/host/host.h"
#include "server/io/executor_uv.h"
#include "server/io/io_uv.h"
#include "tests/lib/check_main.h"
#include "tests/lib/worlds.h"

enum { TASKS_MAX = 4, SESSIONS = 5000, LOOK_US = 100 };

static struct io *io;
static struct executor *executor;
static struct pool *pool;
static struct host *host;
static struct io_timer *timer;
static uint32_t closings;
static bool stopping, stopped;

static void on_reports(struct host *of, void *context)
{
	struct report *report;
	UNUSED(context);
	while ((report = host_take_report(of)) != NULL)
		host_return_report(of, report);
}

static void on_stopped(struct host *of, void *context)
{
	UNUSED(of);
	UNUSED(context);
	stopped = true;
	io_stop(io);
}

/* Removes more and more sessions; a request that found the task queue full is posted again later. */
static void go_on(void *context)
{
	UNUSED(context);
	for (uint32_t i = 0; i < 3 * TASKS_MAX && closings < SESSIONS; i++) {
		struct host_request *closing = host_closing_request(++closings);
		ck_assert_ptr_nonnull(closing);
		host_session_gone(host, closing);
	}
	host_post_notes(host);
	if (closings == SESSIONS && !stopping) {
		stopping = true;
		host_stop(host, on_stopped, NULL);
	}
	if (!stopped)
		io_timer_start(timer, io_now(io) + LOOK_US * NS_PER_US);
}

START_TEST(thousands_of_sessions_leave_through_a_task_queue_of_four)
{
	struct host_options options = host_options_default();
	struct executor_options threads = { 2, 1, 64, 0 };
	struct pool_options box = { .runnables_max = 4, .tasks_max = TASKS_MAX };
	struct shape_library shapes;
	struct reason why;
	ck_assert_int_eq(io_uv_create(&io_limits_default, &io), STATUS_OK);
	ck_assert_int_eq(executor_uv_create(io, &threads, &executor), STATUS_OK);
	ck_assert_int_eq(pool_create(executor, &box, &pool), STATUS_OK);
	ck_assert_int_eq(executor_start(executor, &why), STATUS_OK);
	options.number = 1;
	shape_library_init(&shapes);
	ck_assert_int_eq(host_create(&options, test_world(false, "free"), &shapes, executor,
				     on_reports, NULL, &host),
			 STATUS_OK);
	ck_assert_int_eq(host_start(host, pool), STATUS_OK);
	ck_assert_int_eq(io_timer_create(io, go_on, NULL, &timer), STATUS_OK);
	io_timer_start(timer, io_now(io));
	io_run(io);
	ck_assert(stopped);
	ck_assert_uint_eq(closings, SESSIONS);
	io_timer_destroy(timer);
	executor_stop(executor);
	host_destroy(host);
	pool_destroy(pool);
	executor_destroy(executor);
	io_uv_destroy(io);
}
END_TEST

static Suite *make(void)
{
	Suite *suite = suite_create("host/host on threads");
	TCase *notes = tcase_create("notes");
	tcase_add_test(notes, thousands_of_sessions_leave_through_a_task_queue_of_four);
	suite_add_tcase(suite, notes);
	return suite;
}

int main(void)
{
	return check_main(make);
}
