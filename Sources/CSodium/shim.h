#include <sodium.h>

#ifdef __linux__
#include <sys/prctl.h>
/* prctl() is variadic, which Swift can't import. Both return what prctl() returns. */
static inline int shim_disable_dumping(void) { return prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L); }
static inline int shim_dumping(void) { return prctl(PR_GET_DUMPABLE, 0L, 0L, 0L, 0L); }
#endif
