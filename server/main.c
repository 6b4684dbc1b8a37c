/* main.c: options, signals, run; nothing else. */
#include "config.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "server/io/executor_uv.h"
#include "server/io/io_uv.h"
#include "server/io/privileges.h"
#include "server/io/secret_file.h"
#include "server/log.h"
#include "server/mesh_command.h"
#include "server/options.h"
#include "server/run.h"
#include "server/server.h"
#include "server/store/replay.h"
#include "server/web/web.h"

extern char **environ;

static int fail(const struct reason *why)
{
	fprintf(stderr, "cairnd: %s%s%s\n", why->field, why->field[0] != '\0' ? ": " : "",
		why->text);
	return EXIT_FAILURE;
}

/* Reads the tokens file; what it said before holds until a file without a mistake takes its place. */
static enum status load_tokens(struct server *server, struct reason *why)
{
	struct bytes text = { 0 };
	const char *path = server->options->tokens;
	if (path == NULL)
		return STATUS_OK;
	enum status status = secret_file_read(path, KEYRING_FILE_MAX, "tokens", &text, why);
	if (status == STATUS_OK)
		status = keyring_load(&server->keyring, (const char *)text.data, text.count, why);
	if (text.count > 0)
		memset(text.data, 0, text.count);
	bytes_release(&text);
	if (status == STATUS_OK)
		log_info("tokens_loaded", "bearers=%u keys=%u", server->keyring.bearers.count,
			 server->keyring.keys.count);
	return status;
}

/* The certificate and its key, at the start and again. */
static enum status load_certificate(struct server *server, struct reason *why)
{
	const struct options *options = server->options;
	if (options->tls.count == 0)
		return STATUS_OK;
	if (server->tls != NULL)
		return tls_context_reload(server->tls, options->tls_cert, options->tls_key, why);
	return tls_context_create(options->tls_cert, options->tls_key, &server->tls, why);
}

/* What a signal is about. */
struct parts {
	struct server *server;
	struct web *web; /* NULL without */
};

static void reload(struct parts *parts)
{
	struct reason why = { 0 };
	struct server *server = parts->server;
	if (load_certificate(server, &why) != STATUS_OK || web_reload(parts->web, &why) != STATUS_OK)
		log_error("reload_refused", "%s", why.text);
	if (load_tokens(server, &why) != STATUS_OK)
		log_error("reload_refused", "%s", why.text);
}

static void on_signal(void *context, int signal)
{
	struct parts *parts = context;
	if (signal == SIGHUP)
		reload(parts);
	if (signal == SIGTERM || signal == SIGINT)
		server_drain(parts->server);
}

static struct executor_options executor_options_of(const struct options *options)
{
	struct executor_options executor = executor_options_default();
	if (options->workers != 0)
		executor.workers = (uint32_t)options->workers;
	executor.step_workers = (uint32_t)options->step_workers;
	executor.fifo_priority = (int)options->fifo;
	return executor;
}

static struct io_limits io_limits_of(const struct options *options)
{
	struct io_limits limits = io_limits_default;
	limits.streams_max = (uint32_t)options->sessions_max;
	limits.queue_bytes = (uint32_t)options->queue_bytes;
	limits.send_buffer = (uint32_t)options->send_buffer;
	limits.user_timeout_ms = (uint32_t)options->user_timeout_ms;
	return limits;
}

static int serve(const struct options *options)
{
	struct io_limits limits = io_limits_of(options);
	struct executor_options threads = executor_options_of(options);
	struct io *io = NULL;
	struct executor *executor = NULL;
	struct server *server = NULL;
	struct parts parts = { NULL, NULL };
	struct reason why = { 0 };
	enum status status =
		options->user != NULL ? privileges_drop(options->user, &why) : STATUS_OK;
	if (status != STATUS_OK)
		return fail(&why);
	status = io_uv_create(&limits, &io);
	if (status == STATUS_OK)
		status = executor_uv_create(io, &threads, &executor);
	if (status != STATUS_OK)
		reason_set(&why, status, -1, "threads", "%s", status_text(status));
	if (status == STATUS_OK)
		status = server_create(io, executor, options, (uint32_t)getuid(), &server, &why);
	parts.server = server;
	if (status == STATUS_OK)
		status = load_tokens(server, &why);
	if (status == STATUS_OK)
		status = load_certificate(server, &why);
	if (status == STATUS_OK)
		status = io_set_signals(io, on_signal, &parts);
	if (status == STATUS_OK)
		status = server_start(server, &why);
	if (status == STATUS_OK)
		status = web_create(server, io_uv_loop(io), &parts.web, &why);
	if (status == STATUS_OK)
		io_run(io);
	if (server != NULL)
		server_destroy(server);
	if (executor != NULL)
		executor_destroy(executor);
	web_destroy(parts.web);
	if (io != NULL)
		io_uv_destroy(io);
	if (status != STATUS_OK)
		return fail(&why);
	log_info("stopped", "status=ok");
	return EXIT_SUCCESS;
}

static int print_help(enum options_command command)
{
	static char text[16384];
	options_help(command, text, sizeof text);
	fputs(text, stdout);
	return EXIT_SUCCESS;
}

int main(int argc, char **argv)
{
	static struct options options;
	struct reason why;
	if (options_parse(&options, argc, (const char *const *)argv,
			  (const char *const *)environ, &why) != STATUS_OK)
		return fail(&why);
	switch (options.command) {
	case OPTIONS_HELP:
		return print_help(options.help_for);
	case OPTIONS_VERSION:
		printf("cairnd %s (abi %d)\n", PACKAGE_VERSION, ENGINE_ABI);
		return EXIT_SUCCESS;
	case OPTIONS_RUN:
		log_set_level(options.run_log_level);
		return run_scene(&options);
	case OPTIONS_REPLAY:
		log_set_level(options.replay_log_level);
		return replay_command(&options);
	case OPTIONS_MESH:
		return mesh_command(&options);
	case OPTIONS_SERVE:
		break;
	}
	log_set_level(options.log_level);
	return serve(&options);
}
