// Stands between Plexus and the real API server, for faults that the server can't be made to show: delays, broken answers,
// other certificates, things that happen between two requests. Users come through it with tokens, because it ends TLS.

import { readFileSync } from "node:fs";
import { createServer, request as httpsRequest } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";

import { apiAddress } from "./address.ts";
import type { ApiServer } from "./api-server.ts";
import { base64File, type Certificate } from "./certificates.ts";

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  /** Milliseconds of performance.now(). */
  readonly at: number;
  /** How many requests with this method and path came before, since the last `script`. */
  readonly earlier: number;
}

/** What is done instead of passing the request on, or before. */
export interface ProxyFault {
  /** Done before anything else. */
  readonly first?: () => Promise<unknown>;
  readonly delayMs?: number;
  /** Answered in place of the server. */
  readonly answer?: { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string };
  /** The connection is reset without an answer. */
  readonly reset?: boolean;
  /** After the headers, one byte in so many milliseconds. */
  readonly dripMs?: number;
  /** The headers of a success, and nothing after them. */
  readonly silent?: boolean;
}

export interface FaultProxy {
  readonly url: string;
  readonly seen: readonly SeenRequest[];
  /** Decides for each request from now on; undefined: it is passed on. */
  script(decide: (request: SeenRequest) => ProxyFault | undefined): void;
  /** How many connections were made. */
  readonly connections: () => number;
  /** A kubeconfig for Plexus' service account that leads through the proxy. */
  kubeconfig(user?: Readonly<Record<string, unknown>>): Promise<string>;
  dispose(): Promise<void>;
}

/** Starts one in front of `api`; `certificate` replaces the one that the API server's authority signs for it. */
export async function startFaultProxy(api: ApiServer, certificate?: Certificate): Promise<FaultProxy> {
  const names = [`IP:${apiAddress}`];
  const own = certificate ?? api.authority.issue("proxy", { commonName: "proxy", alternativeNames: names });
  const ca = readFileSync(api.authority.certificate);
  const seen: SeenRequest[] = [];
  let scripted = 0;
  let decide: ((request: SeenRequest) => ProxyFault | undefined) | undefined;

  const serve = async (incoming: IncomingMessage, outgoing: ServerResponse): Promise<void> => {
    const [method, path] = [incoming.method ?? "", incoming.url ?? ""];
    const earlier = seen.slice(scripted).filter((each) => each.method === method && each.path === path).length;
    const request = { method, path, at: performance.now(), earlier };
    seen.push(request);
    const body = await bodyOf(incoming);
    const fault = decide?.(request) ?? {};
    await fault.first?.();
    if (fault.delayMs !== undefined) await new Promise((resolve) => setTimeout(resolve, fault.delayMs));
    if (fault.reset === true) incoming.socket.destroy();
    else if (fault.answer !== undefined) {
      const { status, headers = {}, body: text = "" } = fault.answer;
      outgoing.writeHead(status, { "Content-Type": "application/json", ...headers }).end(text);
    } else if (fault.dripMs !== undefined) {
      outgoing.writeHead(200, { "Content-Type": "application/json" });
      const timer = setInterval(() => outgoing.write(" "), fault.dripMs);
      outgoing.on("close", () => clearInterval(timer));
    } else if (fault.silent === true) {
      outgoing.writeHead(200, { "Content-Type": "application/json" }).flushHeaders();
    } else passOn(incoming, body, outgoing);
  };
  const passOn = (incoming: IncomingMessage, body: Buffer, outgoing: ServerResponse): void => {
    const headers = { ...incoming.headers, connection: "close" };
    const options = { method: incoming.method, headers, ca, agent: false } as const;
    const forwarded = httpsRequest(api.url + (incoming.url ?? ""), options, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, { ...answer.headers, connection: "keep-alive" });
      // A watch's answer begins long before its first line.
      outgoing.flushHeaders();
      answer.pipe(outgoing);
    });
    forwarded.on("error", () => incoming.socket.destroy());
    outgoing.on("close", () => forwarded.destroy());
    forwarded.end(body);
  };

  const server = createServer({ cert: readFileSync(own.certificate), key: readFileSync(own.key) }, (incoming, outgoing) => {
    serve(incoming, outgoing).catch(() => incoming.socket.destroy());
  });
  let connections = 0;
  server.on("secureConnection", () => {
    connections += 1;
  });
  await new Promise<void>((resolve) => server.listen(0, "0.0.0.0", resolve));
  const address = server.address();
  const url = `https://${apiAddress}:${typeof address === "object" && address !== null ? address.port : 0}`;
  return {
    url,
    seen,
    connections: () => connections,
    script(next) {
      decide = next;
      scripted = seen.length;
    },
    kubeconfig: async (user) =>
      api.kubeconfig("through-proxy", [], {
        cluster: { server: url, "certificate-authority-data": base64File(api.authority.certificate) },
        user: user ?? { token: await api.token() },
      }),
    async dispose() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(Buffer.from(chunk));
  return Buffer.concat(chunks);
}
