#pragma once

// The C library hides these behind _GNU_SOURCE, which Swift's view of it does not define.
#ifdef __linux__
#include <spawn.h>
int renameat2(int oldFolder, const char *oldName, int newFolder, const char *newName, unsigned int flags);
int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
#endif
