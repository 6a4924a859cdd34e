// Bounds of the memory of sandbox processes, from the memory of the engine's container.

/** Bounds for the processes of one engine. */
export interface MemoryBounds {
  /** The memory of one process with guests of so many pages. */
  readonly ofProcess: (memoryPages: number) => ProcessBytes;
  /** Private resident bytes of all processes that are kept idle for their owners. */
  readonly idleBytes: number;
  /** Private resident bytes of all processes together. */
  readonly allBytes: number;
}

/** The memory of one process. */
export interface ProcessBytes {
  /** Writable address space, as RLIMIT_DATA counts it. */
  readonly writable: number;
  /** Private resident memory. */
  readonly resident: number;
}

const mebibyte = 1024 * 1024;
const pageBytes = 64 * 1024;
/** Guests whose memory a process has at the same time: suspended calls (see pool.ts). */
const maxGuests = 64;
/** Writable memory of Node itself: heap, code and stacks of its threads. */
const runtimeBytes = 1024 * mebibyte;
/** Writable address space of a process that has done nothing: V8 reserves most of it for code, and touches 16 MiB. */
const idleWritableBytes = 704 * mebibyte;
/** The least memory of a process, without its guests': the most costly components that admission permits need a hundred MiB. */
const leastResidentBytes = 128 * mebibyte;
/** Idle processes have 11 to 25 MiB each, and the pool keeps 16. */
const idleBytes = 512 * mebibyte;

/**
 * The bounds in a container with this memory; undefined: without a limit. A process gets a quarter of the container, the idle ones together a
 * quarter, and all together five eighths. The rest is the engine's.
 */
export function memoryBounds(containerBytes: number | undefined): MemoryBounds {
  if (containerBytes === undefined) {
    return {
      ofProcess: (memoryPages) => {
        const bytes = runtimeBytes + maxGuests * memoryPages * pageBytes;
        return { writable: bytes, resident: bytes };
      },
      idleBytes,
      allBytes: Infinity,
    };
  }
  const quarter = Math.floor(containerBytes / 4);
  return {
    ofProcess: (memoryPages) => {
      const unlimited = runtimeBytes + maxGuests * memoryPages * pageBytes;
      const least = leastResidentBytes + 2 * memoryPages * pageBytes;
      const resident = Math.min(unlimited, Math.max(least, quarter));
      return { writable: Math.min(unlimited, idleWritableBytes + resident), resident };
    },
    idleBytes: Math.min(idleBytes, quarter),
    allBytes: Math.floor((containerBytes * 5) / 8),
  };
}
