// Error numbers of Linux (asm-generic/errno.h): the same on every architecture that Plexus supports. node:os has them too, but
// loading it would delay every one-shot call.

export const EPERM = 1;
export const ENOENT = 2;
export const ESRCH = 3;
export const EINTR = 4;
export const EIO = 5;
export const ENXIO = 6;
export const ENOEXEC = 8;
export const EBADF = 9;
export const EAGAIN = 11;
/** The same number as EAGAIN. */
export const EWOULDBLOCK = EAGAIN;
export const EACCES = 13;
export const EBUSY = 16;
export const EEXIST = 17;
export const EXDEV = 18;
export const ENODEV = 19;
export const ENOTDIR = 20;
export const EISDIR = 21;
export const EINVAL = 22;
export const EFBIG = 27;
export const ENAMETOOLONG = 36;
export const ENOSYS = 38;
export const ENOTEMPTY = 39;
export const ELOOP = 40;
/** A file that execve(2) needs is damaged. */
export const ELIBBAD = 80;
export const ERESTART = 85;
export const EMSGSIZE = 90;
export const EPROTONOSUPPORT = 93;
export const EOPNOTSUPP = 95;
export const EAFNOSUPPORT = 97;
export const EADDRNOTAVAIL = 99;
export const ENOBUFS = 105;
export const ETIMEDOUT = 110;
export const ECONNREFUSED = 111;
export const ESTALE = 116;
/** The shim's answer to an effect that the node's policy forbids. */
export const EKEYREJECTED = 129;
