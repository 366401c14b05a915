#pragma once

// The C library hides this one behind _GNU_SOURCE, which Swift's view of it does not define.
#ifdef __linux__
int renameat2(int oldFolder, const char *oldName, int newFolder, const char *newName, unsigned int flags);
#endif
