// A proxy in front of a registry that makes faults: other content, broken answers, redirects. It records what the client sends.

import { createServer, type IncomingHttpHeaders, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";

/** One request of the client. */
export interface SeenRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
}

/** The registry's answer, which a fault may replace. */
export interface ProxiedAnswer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
}

/** The proxy's treatment of a request. */
export type ProxyFault =
  | {
      readonly kind: "answer";
      readonly status: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body?: string | Buffer;
    }
  /** Sends the true length, but only the first half of the body. */
  | { readonly kind: "truncate" }
  /** Replaces the body of the registry's answer. */
  | { readonly kind: "change"; readonly body: (answer: ProxiedAnswer) => Buffer };

export interface FaultProxy {
  /** Host and port. */
  readonly host: string;
  readonly seen: readonly SeenRequest[];
  /** Decides about each following request. */
  script(decide: (request: SeenRequest) => ProxyFault | undefined): void;
  dispose(): Promise<void>;
}

function noFault(_request: SeenRequest): ProxyFault | undefined {
  return undefined;
}

/** Starts a proxy in front of `registry` (host and port, without TLS). */
export async function startFaultProxy(registry: string): Promise<FaultProxy> {
  const seen: SeenRequest[] = [];
  let decide = noFault;
  const server = createServer((request, response) => {
    const one = { method: request.method ?? "", path: request.url ?? "", headers: request.headers };
    seen.push(one);
    const fault = decide(one);
    if (fault?.kind === "answer") return void response.writeHead(fault.status, fault.headers).end(fault.body);
    // The header Host stays the proxy's, so that the registry's URLs lead to the proxy.
    const [host, port] = registry.split(":");
    const forwarded = httpRequest({ host, port, method: one.method, path: one.path, headers: request.headers }, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", () => {
        const { statusCode: status = 0, headers } = answer;
        const body = Buffer.concat(chunks);
        if (fault?.kind === "truncate") {
          response.writeHead(status, { ...headers, "content-length": String(body.length) });
          response.write(body.subarray(0, body.length / 2), () => response.destroy());
          return;
        }
        const sent = fault === undefined ? body : fault.body({ status, headers, body });
        const length = one.method === "HEAD" ? headers["content-length"] : String(sent.length);
        response.writeHead(status, { ...headers, ...(length === undefined ? {} : { "content-length": length }) }).end(sent);
      });
    });
    forwarded.on("error", () => response.destroy());
    request.pipe(forwarded);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    host: `127.0.0.1:${port}`,
    seen,
    script: (next) => {
      decide = next;
    },
    dispose: () =>
      new Promise((resolve) => {
        server.closeAllConnections();
        server.close(() => resolve());
      }),
  };
}
