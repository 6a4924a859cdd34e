// CPU time, for bounds of computations: a busy machine makes only the elapsed time longer.

/** The CPU time of this thread so far, in ms. */
export function cpuMs(): number {
  const { user, system } = process.threadCpuUsage();
  return (user + system) / 1000;
}
