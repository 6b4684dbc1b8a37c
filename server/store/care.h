/* care.h: care for the files of worlds: check, repair, backup and restore.
 *
 * A state is proved if it was recomputed from the first valid checkpoint and every hash on the way is the
 * recorded one. No function changes the file that it reads, and none replaces a file that exists.
 */
#ifndef CAIRN_STORE_CARE_H
#define CAIRN_STORE_CARE_H

#include "server/base/status.h"

struct care_report {
	bool sound;	  /* no damage was found */
	char damage[200]; /* the first; "" none */
	bool proved;	  /* the following four are set */
	uint32_t epoch;	  /* the last state that is proved */
	uint64_t tick, state_hash;
	uint64_t ticks; /* recomputed up to there */
	uint64_t
		skipped; /* ticks of incompatible builds, of which only stored states were verified */
	uint64_t rows_cut; /* repair: rows of the source that the new file lacks */
	uint64_t bytes;	   /* of the file that was written */
};

/* Checks SQLite's structure, the tables, and that the file recomputes. OK: `report` tells whether it is
 * sound. Otherwise it cannot be read at all. A daemon may be writing it. */
MUST_CHECK enum status care_check(const char *path, struct care_report *report, struct reason *why);
/* Writes to the new file `out` what can be read and proved of a file without a daemon: everything up to the
 * damage. EXISTS; CORRUPT: nothing is proved; VERSION: tables of another version. */
MUST_CHECK enum status care_repair(const char *path, const char *out, struct care_report *report,
				   struct reason *why);
/* Copies the state of this moment to the new file `out`, also while a daemon writes the file. EXISTS. */
MUST_CHECK enum status care_backup(const char *path, const char *out, struct care_report *report,
				   struct reason *why);
/* Copies a backup, if it is sound, to the new file `path` of a data directory without a daemon. EXISTS,
 * IN_USE, CORRUPT. */
MUST_CHECK enum status care_restore(const char *backup, const char *path,
				    struct care_report *report, struct reason *why);

#endif
