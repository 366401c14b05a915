#include <sodium.h>

#ifdef __linux__
#include <signal.h>
#include <sys/prctl.h>
/* prctl() is variadic, which Swift can't import. All return what prctl() returns. */
static inline int shim_disable_dumping(void) { return prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L); }
static inline int shim_dumping(void) { return prctl(PR_GET_DUMPABLE, 0L, 0L, 0L, 0L); }
static inline int shim_end_with_parent(void) { return prctl(PR_SET_PDEATHSIG, (unsigned long)SIGKILL, 0L, 0L, 0L); }
#endif
