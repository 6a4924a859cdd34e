/**
 * Milliseconds of the kernel's monotonic clock, with fractions; only differences mean something. `performance.now()` has the same
 * clock, but its first call loads 9 built-in modules (0.7 ms of CPU). A one-shot engine has no other use for them.
 */
export function monotonicMs(): number {
  const [seconds, nanoseconds] = process.hrtime();
  return seconds * 1000 + nanoseconds / 1e6;
}
