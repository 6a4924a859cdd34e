// A server before Neutron: Keystone's part, and faults that a healthy Neutron does not show on demand.

import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Certificate } from "../kube/certificates.ts";
import { inTurn } from "./turns.ts";

/** An answer instead of Neutron's. */
export interface Fault {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: object;
}

/** A request whose connection is closed at once. Neutron gets the request when the promise settles. */
export interface LateRequest {
  readonly sentAfter: Promise<void>;
}

/** The proxy. */
export interface FaultProxy {
  readonly url: string;
  /** The requests so far, as `METHOD /path`. */
  readonly requests: readonly string[];
  /** The HTTP statuses of Neutron's answers. */
  readonly statuses: readonly number[];
  /** Tokens that Keystone's part has given. */
  readonly tokens: readonly string[];
  /** Decides on each request; undefined lets it through. */
  fault: (request: string) => Fault | LateRequest | "hang up after" | undefined;
  /** Is awaited before a request goes on to Neutron. */
  before: (request: string) => Promise<void>;
  /** Is called when Neutron has answered a request. */
  after: (request: string) => void;
  /** Makes all tokens invalid. */
  expireTokens(): void;
  dispose(): void;
}

/** How the proxy serves. */
export interface FaultProxyInit {
  /** The only password, or secret of an application credential, that Keystone's part accepts. Default: requests need no token. */
  readonly secret?: string;
  /** Default: 127.0.0.1. */
  readonly address?: string;
  /** HTTPS with this certificate. Default: HTTP. */
  readonly tls?: Certificate;
}

/** Starts the proxy of the Neutron with this URL. */
export async function startFaultProxy(
  neutron: string,
  { secret, address = "127.0.0.1", tls }: FaultProxyInit = {},
): Promise<FaultProxy> {
  const needsToken = secret !== undefined;
  const requests: string[] = [];
  const statuses: number[] = [];
  const tokens: string[] = [];
  let valid: string | undefined;
  const serve = (request: IncomingMessage, response: ServerResponse): void => void answer(request, response);
  const server =
    tls === undefined
      ? createServer(serve)
      : createTlsServer({ cert: readFileSync(tls.certificate), key: readFileSync(tls.key) }, serve);
  const proxy: FaultProxy = {
    url: "",
    requests,
    statuses,
    tokens,
    fault: () => undefined,
    before: () => Promise.resolve(),
    after: () => undefined,
    expireTokens: () => (valid = undefined),
    dispose: () => {
      server.close();
      server.closeAllConnections();
    },
  };
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { method = "", url = "" } = request;
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const body = Buffer.concat(chunks).toString();
    requests.push(`${method} ${url}`);
    if (url === "/v3/auth/tokens") {
      if (!needsToken || !body.includes(JSON.stringify(secret))) return end(response, { status: 401 });
      valid = `token-${tokens.length}`;
      tokens.push(valid);
      const expires = { token: { expires_at: new Date(Date.now() + 3_600_000).toISOString() } };
      return end(response, { status: 201, headers: { "x-subject-token": valid }, body: expires });
    }
    if (needsToken && (valid === undefined || request.headers["x-auth-token"] !== valid)) return end(response, { status: 401 });
    const fault = proxy.fault(`${method} ${url}`);
    const isLate = typeof fault === "object" && "sentAfter" in fault;
    if (typeof fault === "object" && !isLate) return end(response, fault);
    if (isLate) {
      request.socket.destroy();
      await fault.sentAfter;
    }
    await proxy.before(`${method} ${url}`);
    const [status, text] = await inTurn(neutron, () => forwarded(neutron, request, body));
    statuses.push(status);
    proxy.after(`${method} ${url}`);
    if (isLate || fault === "hang up after") return void request.socket.destroy();
    response.writeHead(status, { "content-type": "application/json" });
    response.end(text);
  };
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  return Object.assign(proxy, {
    url: `${tls === undefined ? "http" : "https"}://${address}:${(server.address() as AddressInfo).port}`,
  });
}

/** Neutron's status and answer. */
async function forwarded(
  neutron: string,
  { method = "", url = "", headers }: IncomingMessage,
  body: string,
): Promise<readonly [status: number, text: string]> {
  const ifMatch = headers["if-match"];
  const answer = await fetch(`${neutron}${url}`, {
    method,
    headers: { "content-type": "application/json", ...(typeof ifMatch === "string" ? { "if-match": ifMatch } : {}) },
    ...(body === "" ? {} : { body }),
  });
  return [answer.status, await answer.text()];
}

function end(response: ServerResponse, { status, headers = {}, body = {} }: Fault): void {
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(JSON.stringify(body));
}
