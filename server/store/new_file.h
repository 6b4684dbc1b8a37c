/* new_file.h: files of worlds that are written beside the ones in service: claimed, filled, and complete
 * on disk before anybody is told of them. */
#ifndef CAIRN_STORE_NEW_FILE_H
#define CAIRN_STORE_NEW_FILE_H

#include "server/store/sql.h"

enum { NEW_FILE_PATH = 4096 };

/* The present errno about a file: EXISTS, MISSING, FULL or IO. */
enum status new_file_fail(const char *path, struct reason *why);
/* Makes an empty file that only its owner may read. EXISTS. */
MUST_CHECK enum status new_file_claim(const char *path, struct reason *why);
/* Ends the write-ahead log, so that the file is complete without others, and closes it. Returns `status`,
 * if that is a failure. */
MUST_CHECK enum status new_file_finish(sqlite3 *db, enum status status, struct reason *why);
/* The file, and its name in the folder, are on disk when this returns. */
MUST_CHECK enum status new_file_sync(const char *path, uint64_t *bytes, struct reason *why);
/* Removes a file and what SQLite keeps beside it, as far as they exist. */
void new_file_remove(const char *path);
/* DIR of DIR/NAME. */
void new_file_folder(const char *path, char folder[NEW_FILE_PATH]);

#endif
