/* Errors that the hands make themselves, as CNI 1.1.0 section 5 "Error" has them. */
#ifndef PLEXUS_CNI_ERROR_H
#define PLEXUS_CNI_ERROR_H

#include <stddef.h>

enum cni_code { CNI_ENVIRONMENT = 4, CNI_IO = 5, CNI_TRY_LATER = 11, CNI_NOT_AVAILABLE = 50 };

/* Called once before the error is printed: nothing that was started may outlive the answer. */
extern void (*before_leaving)(void);

/* Prints {cniVersion, code, msg, details} to stdout and exits with status 1. `remedy` becomes the details. */
_Noreturn void fail(enum cni_code code, const char *remedy, const char *message, ...) __attribute__((format(printf, 3, 4)));

/* Runs before_leaving, writes both texts to the runtime, exits with `status`. */
_Noreturn void leave(int status, const void *out, size_t out_size, const void *err, size_t err_size);

#endif
