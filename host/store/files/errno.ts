/** The errno name of a Node file system error ("ENOSPC"); undefined for any other error. */
export function errnoOf(error: unknown): string | undefined {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}
