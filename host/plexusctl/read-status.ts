// The status of this node: from the daemon, or, where none answers, from the disk.

import { request } from "node:http";
import { NodeStateReader } from "../node-state/node-state-reader.ts";
import type { StatusDocument } from "../telemetry/status-document.ts";

export interface ReadStatusInit {
  readonly statusSocket: string;
  readonly stateDir: string;
}

export interface ReadStatus {
  readonly document: StatusDocument;
  /** Why no daemon answered; undefined where one did. */
  readonly silent: string | undefined;
}

/** How long a daemon may take to answer. */
const patienceMs = 5000;
/** Bytes of its answer. */
const mostBytes = 64 * 1024 * 1024;

export async function readStatus({ statusSocket, stateDir }: ReadStatusInit): Promise<ReadStatus> {
  const asked = await ask(statusSocket);
  if (typeof asked !== "string") return { document: asked, silent: undefined };
  const node = await new NodeStateReader(stateDir).read();
  const time = new Date().toISOString();
  return {
    document: { apiVersion: "plexus/v1", kind: "NodeStatus", time, daemon: null, nodes: [node], failures: [] },
    silent: asked,
  };
}

/** The document, or why there is none. */
function ask(socketPath: string): Promise<StatusDocument | string> {
  const { promise, resolve } = Promise.withResolvers<StatusDocument | string>();
  const asked = request({ socketPath, path: "/status", signal: AbortSignal.timeout(patienceMs) }, (response) => {
    const chunks: Buffer[] = [];
    let length = 0;
    response.on("data", (chunk: Buffer) => {
      length += chunk.length;
      if (length > mostBytes) asked.destroy(new Error("its answer is too long"));
      else chunks.push(chunk);
    });
    response.on("error", (error) => resolve(error.message));
    response.on("end", () => {
      const { statusCode = 0 } = response;
      resolve(statusCode === 200 ? documentOf(Buffer.concat(chunks).toString("utf8")) : `it answered ${statusCode}`);
    });
  });
  asked.on("error", (error) => resolve(whyOf(error)));
  asked.end();
  return promise;
}

function whyOf(error: Error): string {
  if (error.name === "TimeoutError" || error.name === "AbortError") return `nothing for ${patienceMs} ms: it hangs`;
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  const known: Readonly<Record<string, string>> = {
    ENOENT: "there is no such socket",
    ECONNREFUSED: "nobody listens on it",
    EACCES: "permission denied: ask as root",
    ECONNRESET: "it hung up: ask as root, or as its own user",
  };
  return known[code] ?? error.message;
}

function documentOf(text: string): StatusDocument | string {
  const document: StatusDocument = JSON.parse(text);
  return document.kind === "NodeStatus" ? document : "its answer is no status";
}
