// A proxy between Plexus and the real API server that makes faults: delays, broken answers, other certificates, actions between two
// requests. The proxy terminates TLS, so that users authenticate with tokens, not with client certificates.

import { readFileSync } from "node:fs";
import { createServer, request as httpsRequest } from "node:https";
import type { ClientRequest, IncomingMessage, ServerResponse } from "node:http";

import { apiAddress } from "./address.ts";
import type { ApiServer } from "./api-server.ts";
import { base64File, type Certificate } from "./certificates.ts";

export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  /** Milliseconds of performance.now(). */
  readonly at: number;
  /** The number of earlier requests with this method and path since the last `script`. */
  readonly earlier: number;
}

/** A fault that delays a request or replaces its answer. */
export interface ProxyFault {
  /** An action before the request is forwarded or answered. */
  readonly first?: () => Promise<unknown>;
  readonly delayMs?: number;
  /** The proxy's answer instead of the server's. */
  readonly answer?: { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string };
  /** Destroys the connection without an answer. */
  readonly reset?: boolean;
  /** Forwards the request, and destroys the connection when the server has answered, after this action. */
  readonly lose?: () => Promise<unknown>;
  /** Milliseconds between two single bytes of the body. */
  readonly dripMs?: number;
  /** Sends the headers of a success and no body. */
  readonly silent?: boolean;
}

export interface FaultProxy {
  readonly url: string;
  readonly seen: readonly SeenRequest[];
  /** Sets the fault of each following request. `undefined` forwards the request. */
  script(decide: (request: SeenRequest) => ProxyFault | undefined): void;
  /** Breaks all connections, and with them all open watches. */
  cut(): void;
  /** The number of TLS connections so far. */
  readonly connections: () => number;
  /** A kubeconfig for Plexus' service account that leads through the proxy. */
  kubeconfig(user?: Readonly<Record<string, unknown>>): Promise<string>;
  dispose(): Promise<void>;
}

/** The API server behind the proxy. */
class Upstream {
  readonly #url: string;
  readonly #ca: Buffer;

  constructor({ url, authority }: ApiServer) {
    this.#url = url;
    this.#ca = readFileSync(authority.certificate);
  }

  /** Resolves when the server has carried the request out. */
  carriedOut(incoming: IncomingMessage, body: Buffer): Promise<void> {
    return new Promise((resolve, reject) => {
      const forwarded = this.#forward(incoming, (answer) => answer.resume().on("end", resolve));
      forwarded.on("error", reject);
      forwarded.end(body);
    });
  }

  /** Passes the request and its answer on. */
  passOn(incoming: IncomingMessage, body: Buffer, outgoing: ServerResponse): void {
    const forwarded = this.#forward(incoming, (answer) => {
      outgoing.writeHead(answer.statusCode ?? 502, { ...answer.headers, connection: "keep-alive" });
      // The headers of a watch arrive long before its first event.
      outgoing.flushHeaders();
      answer.pipe(outgoing);
    });
    forwarded.on("error", () => incoming.socket.destroy());
    outgoing.on("close", () => forwarded.destroy());
    forwarded.end(body);
  }

  #forward(incoming: IncomingMessage, onAnswer: (answer: IncomingMessage) => void): ClientRequest {
    const headers = { ...incoming.headers, connection: "close" };
    const options = { method: incoming.method, headers, ca: this.#ca, agent: false } as const;
    return httpsRequest(this.#url + (incoming.url ?? ""), options, onAnswer);
  }
}

/** Starts a proxy in front of `api`. `certificate` replaces the certificate that the API server's authority issues for the proxy. */
export async function startFaultProxy(api: ApiServer, certificate?: Certificate): Promise<FaultProxy> {
  const names = [`IP:${apiAddress}`];
  const serving = certificate ?? api.authority.issue("proxy", { commonName: "proxy", alternativeNames: names });
  const upstream = new Upstream(api);
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
    else if (fault.lose !== undefined) {
      await upstream.carriedOut(incoming, body);
      await fault.lose();
      incoming.socket.destroy();
    } else if (fault.answer !== undefined) {
      const { status, headers = {}, body: text = "" } = fault.answer;
      outgoing.writeHead(status, { "Content-Type": "application/json", ...headers }).end(text);
    } else if (fault.dripMs !== undefined) {
      outgoing.writeHead(200, { "Content-Type": "application/json" });
      const timer = setInterval(() => outgoing.write(" "), fault.dripMs);
      outgoing.on("close", () => clearInterval(timer));
    } else if (fault.silent === true) {
      outgoing.writeHead(200, { "Content-Type": "application/json" }).flushHeaders();
    } else upstream.passOn(incoming, body, outgoing);
  };
  const server = createServer(
    { cert: readFileSync(serving.certificate), key: readFileSync(serving.key) },
    (incoming, outgoing) => {
      serve(incoming, outgoing).catch(() => incoming.socket.destroy());
    },
  );
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
    cut: () => server.closeAllConnections(),
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
