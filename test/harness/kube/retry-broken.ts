// Repeats requests of the tests' client after a broken connection. On a busy machine the API server closes a connection whose HTTP/2
// pings are answered late, and no test is about that.

/** Whether the connection ended before the request's answer. */
function isBroken(error: unknown): boolean {
  const cause = error instanceof Error ? error.cause : undefined;
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
  return code === "UND_ERR_SOCKET" || code === "ECONNRESET";
}

/** Sends a request up to three times while its connection breaks. */
export async function retryBroken<T>(request: () => Promise<T>): Promise<T> {
  for (let tries = 1; ; tries++) {
    try {
      return await request();
    } catch (error) {
      if (tries === 3 || !isBroken(error)) throw error;
    }
  }
}
