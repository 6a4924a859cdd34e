// Returns freed memory of glibc to the system. glibc keeps it in an arena for each thread: after a thousand calls that was 30 of a daemon's
// 125 MiB (measured with daemon-rss-large). With another C library these functions do nothing.

/** <malloc.h> */
const M_ARENA_MAX = -8;
/** Arenas of a resident program: few of its threads allocate. */
const residentArenas = 2;

interface NativeMemory {
  readonly mallopt: (parameter: number, value: number) => number;
  readonly malloc_trim: (keep: bigint) => number;
}

let loaded: { readonly library: NativeMemory | undefined } | undefined;

/** Keeps the native memory of a resident program small, until it ends. */
export function boundNativeMemory(): void {
  limitArenas(residentArenas);
  setInterval(trimMemory, 3_000).unref();
}

/** Limits the number of arenas, for threads that have none yet. Answers whether glibc accepted it. */
export function limitArenas(max: number): boolean {
  return library()?.mallopt(M_ARENA_MAX, max) === 1;
}

/** Returns free memory to the system; takes 0.3 to 2 ms. Answers whether there was any. */
export function trimMemory(): boolean {
  return library()?.malloc_trim(0n) === 1;
}

function library(): NativeMemory | undefined {
  loaded ??= { library: load() };
  return loaded.library;
}

function load(): NativeMemory | undefined {
  try {
    const { functions } = process.getBuiltinModule("node:ffi").dlopen(null, {
      mallopt: { arguments: ["i32", "i32"], return: "i32" },
      malloc_trim: { arguments: ["u64"], return: "i32" },
    });
    return { mallopt: functions.mallopt, malloc_trim: functions.malloc_trim };
  } catch {
    return undefined;
  }
}
