// One question to the daemon on its status socket.

import { request } from "node:http";

export interface Question {
  readonly socketPath: string;
  readonly method: "GET" | "POST";
  readonly path: string;
  /** How long the daemon may take to answer, in ms. */
  readonly patienceMs: number;
}

/** Its answer's body, or why there is none. */
export type DaemonAnswer = { readonly body: string } | { readonly why: string };

/** Bytes of its answer. */
const mostBytes = 64 * 1024 * 1024;

export function askDaemon({ socketPath, method, path, patienceMs }: Question): Promise<DaemonAnswer> {
  const { promise, resolve } = Promise.withResolvers<DaemonAnswer>();
  const signal = AbortSignal.timeout(patienceMs);
  const asked = request({ socketPath, method, path, signal }, (response) => {
    const chunks: Buffer[] = [];
    let length = 0;
    response.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > mostBytes) asked.destroy(new Error("its answer is too long"));
      else chunks.push(chunk);
    });
    response.on("error", (error) => resolve({ why: error.message }));
    response.on("end", () => {
      const { statusCode = 0 } = response;
      resolve(statusCode === 200 ? { body: Buffer.concat(chunks).toString("utf8") } : { why: `it answered ${statusCode}` });
    });
  });
  asked.on("error", (error) => resolve({ why: whyOf(error, patienceMs) }));
  asked.end();
  return promise;
}

function whyOf(error: Error, patienceMs: number): string {
  if (error.name === "TimeoutError" || error.name === "AbortError") return `nothing for ${patienceMs} ms: it hangs`;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const known: Readonly<Record<string, string>> = {
    ENOENT: "there is no such socket",
    ECONNREFUSED: "nobody listens on it",
    EACCES: "permission denied: ask as root",
    ECONNRESET: "it hung up: ask as root, or as its own user",
  };
  // What Node's parser calls words that are not HTTP: the socket for calls sends a frame of its own first.
  if (code.startsWith("HPE_")) return "what listens there is no status socket";
  return known[code] ?? error.message;
}
