// For tests: an HTTPS server with scripted answers, which a real API server would not give.

import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import type { IncomingMessage, ServerResponse } from "node:http";
import { createServer } from "node:https";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeAuthority } from "../../../test/lab/kube/certificates.ts";
import { ok } from "../../../src/fault/result.ts";
import type { CredentialSource } from "../kube/credentials.ts";

/** One received request. */
export interface ScriptedRequest {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly query: URLSearchParams;
  readonly headers: IncomingMessage["headers"];
}

/** Answers one request; `index` counts requests from 0. */
export type ApiScript = (request: ScriptedRequest, response: ServerResponse, index: number) => void;

/** A running server; `script` may be replaced at any time. */
export interface ScriptedApiServer {
  readonly requests: readonly ScriptedRequest[];
  readonly credentials: CredentialSource;
  script: ApiScript;
  dispose(): Promise<void>;
}

/** Starts a server with a new authority. Until `script` is set, it answers every request with 404. */
export async function startScriptedApiServer(): Promise<ScriptedApiServer> {
  const directory = mkdtempSync(join(tmpdir(), "plexus-api-"));
  const authority = makeAuthority(directory, "test");
  const { certificate, key } = authority.issue("server", { commonName: "server", alternativeNames: ["IP:127.0.0.1"] });
  const requests: ScriptedRequest[] = [];
  const server = createServer({ cert: readFileSync(certificate), key: readFileSync(key) }, (incoming, response) => {
    incoming.resume();
    const path = incoming.url ?? "";
    const { searchParams } = new URL(path, "https://127.0.0.1");
    const request = { method: incoming.method ?? "", path, query: searchParams, headers: incoming.headers };
    requests.push(request);
    started.script(request, response, requests.length - 1);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  const found = {
    source: "test",
    server: `https://127.0.0.1:${port}`,
    authority: readFileSync(authority.certificate, "utf8"),
    serverName: undefined,
    insecure: false,
    token: "secret",
    certificate: undefined,
  };
  const started: ScriptedApiServer = {
    requests,
    credentials: async () => ok(found),
    script: (_request, response) => void response.writeHead(404).end(),
    async dispose() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      rmSync(directory, { recursive: true });
    },
  };
  return started;
}
