// What a file system's error is called.

/** The errno name of a Node file system error ("ENOSPC"), or undefined if it is none. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
