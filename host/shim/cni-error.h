/* Errors of the shim itself, in the form of CNI 1.1.0, section 5 "Error". */
#ifndef PLEXUS_CNI_ERROR_H
#define PLEXUS_CNI_ERROR_H

#include <stddef.h>

enum cni_code { CNI_ENVIRONMENT = 4, CNI_IO = 5, CNI_TRY_LATER = 11, CNI_NOT_AVAILABLE = 50 };

/* Runs once before the reply or error is printed: no process that the shim started may outlive its answer. */
extern void (*before_exit)(void);

/* Errors have the version that the configuration `json` names, from now on; until then, and if it names none, 1.1.0. */
void error_version_from(const char *json);

/* Prints {cniVersion, code, msg, details} to stdout and exits with status 1. `remedy` becomes `details`. */
_Noreturn void fail(enum cni_code code, const char *remedy, const char *message, ...) __attribute__((format(printf, 3, 4)));

/* Copies an engine's text for a log: as much as fits, with its NUL, and `?` for each byte that is not a printable character of ASCII. */
void copy_printable(char *to, size_t capacity, const char *from, size_t size);

/* Runs before_exit, writes stdout and stderr to the runtime, exits with `status`. */
_Noreturn void leave(int status, const void *out, size_t out_size, const void *err, size_t err_size);

#endif
