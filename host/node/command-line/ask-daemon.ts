// One HTTP request to the daemon on its status socket.

import { request } from "node:http";

/** A request to the daemon. */
export interface Question {
  readonly socketPath: string;
  readonly method: "GET" | "POST";
  readonly path: string;
  /** Longest wait for the daemon's answer, in ms. */
  readonly timeoutMs: number;
}

/** The response's body, or the reason why there is none. */
export type DaemonAnswer = { readonly body: string } | { readonly why: string };

/** Maximum size of a response's body, in bytes. */
const maxBytes = 64 * 1024 * 1024;

/** Sends the request; never rejects: a failure is the answer's `why`. */
export function askDaemon({ socketPath, method, path, timeoutMs }: Question): Promise<DaemonAnswer> {
  const { promise, resolve } = Promise.withResolvers<DaemonAnswer>();
  const signal = AbortSignal.timeout(timeoutMs);
  const asked = request({ socketPath, method, path, signal }, (response) => {
    const chunks: Buffer[] = [];
    let length = 0;
    response.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > maxBytes) asked.destroy(new Error(`the answer is longer than ${maxBytes} bytes`));
      else chunks.push(chunk);
    });
    response.on("error", (error) => resolve({ why: error.message }));
    response.on("end", () => {
      const { statusCode = 0 } = response;
      resolve(
        statusCode === 200
          ? { body: Buffer.concat(chunks).toString("utf8") }
          : { why: `the daemon answered HTTP status ${statusCode}` },
      );
    });
  });
  asked.on("error", (error) => resolve({ why: whyOf(error, timeoutMs) }));
  asked.end();
  return promise;
}

function whyOf(error: Error, timeoutMs: number): string {
  if (error.name === "TimeoutError" || error.name === "AbortError") return `no answer within ${timeoutMs} ms: the daemon hangs`;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const known: Readonly<Record<string, string>> = {
    ENOENT: "the socket does not exist",
    ECONNREFUSED: "no process listens on the socket",
    EACCES: "permission denied: run plexusctl as root",
    ECONNRESET: "the daemon closed the connection: run plexusctl as root or as the daemon's user",
  };
  // Node's HTTP parser fails with HPE_* codes. The socket for calls causes them, because it sends a frame at once.
  if (code.startsWith("HPE_")) return "the socket is not a status socket";
  return known[code] ?? error.message;
}
