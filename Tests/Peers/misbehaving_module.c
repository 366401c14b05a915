// A PKCS #11 module that hands everything on to SoftHSM2's, and misbehaves as the variable TOKEN_MODE says. Where TOKEN_RECORD names a file, it
// writes there what it can see of secrets: its process's arguments and environment. It makes the file that TOKEN_SIGNS names when it is to sign.
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "pkcs11.h"

extern char **environ;
static CK_FUNCTION_LIST list, *inner;

static int is(const char *mode) {
  const char *wanted = getenv("TOKEN_MODE");
  return wanted && !strcmp(wanted, mode);
}

static void hang(void) {
  // SIGTERM ends it no more than anything else inside a module would.
  signal(SIGTERM, SIG_IGN);
  for (;;) pause();
}

static void record(void) {
  const char *path = getenv("TOKEN_RECORD");
  if (!path) return;
  FILE *out = fopen(path, "a");
  if (!out) return;
  fprintf(out, "process %d\n", (int)getpid());
  FILE *arguments = fopen("/proc/self/cmdline", "r");
  for (int c; arguments && (c = fgetc(arguments)) != EOF;) fputc(c ? c : ' ', out);
  if (arguments) fclose(arguments);
  for (char **entry = environ; *entry; entry++) fprintf(out, "\n%s", *entry);
  fputc('\n', out);
  fclose(out);
}

__attribute__((constructor)) static void load(void) {
  record();
  if (is("hang at load")) hang();
  if (is("crash at load")) raise(SIGSEGV);
  if (is("exit at load")) _exit(0);
  if (is("noise")) {
    puts("noise of a module");
    fflush(stdout);
  }
}

static CK_RV sign(CK_SESSION_HANDLE session, const CK_BYTE *message, CK_ULONG length, CK_BYTE *signature, CK_ULONG *room) {
  const char *told = getenv("TOKEN_SIGNS");
  if (told) fclose(fopen(told, "w"));
  if (is("hang in C_Sign")) hang();
  if (is("crash in C_Sign")) raise(SIGSEGV);
  // A daemon that keeps what it inherits.
  if (is("daemon") && fork() == 0) {
    setsid();
    sleep(60);
    _exit(0);
  }
  return inner->C_Sign(session, message, length, signature, room);
}

static CK_RV finalize(void *reserved) {
  if (is("hang in C_Finalize")) hang();
  if (is("crash in C_Finalize")) raise(SIGSEGV);
  return inner->C_Finalize(reserved);
}

CK_RV C_GetFunctionList(CK_FUNCTION_LIST **out) {
  void *module = dlopen(SOFTHSM, RTLD_NOW);
  CK_C_GetFunctionList function = module ? (CK_C_GetFunctionList)dlsym(module, "C_GetFunctionList") : NULL;
  if (!function || function(&inner) != CKR_OK) return 5;
  list = *inner;
  list.C_Sign = sign;
  list.C_Finalize = finalize;
  *out = &list;
  return CKR_OK;
}
