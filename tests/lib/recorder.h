/* recorder.h: a world that is written to a file as a host would do it: a real engine, a real
 * directory, a real SQLite, under the simulated executor. An unexpected failure fails the test. */
#ifndef CAIRN_TESTS_RECORDER_H
#define CAIRN_TESTS_RECORDER_H

#include "server/store/store.h"
#include "tests/lib/gen_commands.h"
#include "tests/lib/io_sim.h"

enum { RECORDER_PATH = 512, RECORDER_SAVES = 8 };

struct recorder {
	char directory[RECORDER_PATH];
	struct io_sim *sim;
	struct store *store;
	struct journal *journal; /* NULL: closed, or not opened yet */
	struct world *world;	 /* NULL: none yet */
	struct gen_commands gen;
	uint64_t batch;
	uint32_t epoch;
	struct {
		char name[16];
		struct bytes image;
	} saves[RECORDER_SAVES];
	uint32_t save_count;
	/* As reported by the journal. */
	uint32_t durable_epoch;
	uint64_t durable_tick;
	uint32_t durable_edit;
	uint32_t durables, wakes, failures;
	uint64_t stored; /* records on disk */
	enum status failed;
};

/* A new directory below $TMPDIR, /dev/shm or /tmp; recorder_remove deletes it with its contents. */
void recorder_directory(char directory[RECORDER_PATH]);
void recorder_remove(const char *directory);
/* DIR/NAME.cairn */
void recorder_path(const struct recorder *self, const char *name, char path[RECORDER_PATH]);
/* Copies NAME.cairn and its write-ahead log as they are to another directory: the state after a
 * crash. */
void recorder_copy(const struct recorder *self, const char *name, const char *directory);
/* The same for what a daemon keeps about sessions: cairnd.sessions, its log, and cairnd.tokens. */
void recorder_copy_sessions(const struct recorder *self, const char *directory);

/* A store in `directory`. */
void recorder_open(struct recorder *self, const char *directory, uint64_t seed);
/* A new world of that name, then the shapes of the catalogue and a first checkpoint. recorder_make
 * and recorder_beginning do the two parts, so that a test can change the world in between. */
void recorder_begin(struct recorder *self, const char *name, const char *method, bool planar,
		    uint64_t seed);
void recorder_make(struct recorder *self, const char *name, const char *method, bool planar,
		   uint64_t seed);
void recorder_beginning(struct recorder *self);
/* Takes over the result of store_recover, as a host does: a checkpoint in the new epoch. */
void recorder_recover(struct recorder *self, const char *name, struct recovered *recovered);
/* Random commands, some for later ticks, as up to three batches of one call. */
void recorder_disturb(struct recorder *self);
/* One step and its hash. */
void recorder_step(struct recorder *self);
/* recorder_disturb and recorder_step, `ticks` times. */
void recorder_run(struct recorder *self, uint32_t ticks);
/* `name` NULL: a periodic checkpoint. */
void recorder_checkpoint(struct recorder *self, const char *name);
void recorder_restore(struct recorder *self, const char *name);
/* Runs until the store thread has finished and its callbacks have arrived. */
void recorder_settle(struct recorder *self);
/* Closes the journal and destroys the world. */
void recorder_end(struct recorder *self);
/* Ends the world if need be, stops the threads, closes the store. */
void recorder_close(struct recorder *self);

#endif
