// Requests of the tests' own client that are repeated where the connection broke under them: on a busy machine the API server gives up
// a connection whose pings nobody answers in time, and that is not what any test is about.

/** Whether the request got no answer because its connection ended. */
function isBroken(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
  return code === "UND_ERR_SOCKET" || code === "ECONNRESET";
}

/** Repeats what may be repeated, three times at most. */
export async function again<T>(request: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await request();
    } catch (error) {
      if (tries === 3 || !isBroken(error)) throw error;
    }
  }
}
