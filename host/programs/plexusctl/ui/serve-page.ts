// Serves the page on 127.0.0.1: read-only, below a token that nobody can guess, and only to a browser that asks for this address by its own
// name. Other users of the machine, other pages in the browser and a rebound name of the DNS get nothing.

import { createHash, randomBytes, timingSafeEqual } from "node:crypto";
import type { IncomingMessage, Server } from "node:http";
import { listenOnTcp, type Page, pageServer, plainText } from "../../../telemetry/page-server.ts";
import { systemClock } from "../../../system/clock.ts";
import type { PageData } from "./page-data.ts";
import { nodePage, type PageParts } from "./page-html.ts";

/** A running server. */
export interface PageServer {
  /** The page's address, with the token. */
  readonly url: string;
  close(): void;
}

const host = "127.0.0.1";
/** Data that is younger than this is served again, in ms: several windows cost the daemon as much as one. */
const maxAgeMs = 500;
const tokenBytes = 24;

/**
 * Starts the server. Rejects with the error of listen(2). `port`: 0: any free port. `read`: reads the node's state. If it rejects, the
 * browser gets the reason.
 */
export async function servePage(port: number, parts: PageParts, read: () => Promise<PageData>): Promise<PageServer> {
  const token = randomBytes(tokenBytes).toString("base64url");
  let last: { readonly at: number; readonly data: Promise<PageData> } | undefined;
  const fresh = (): Promise<PageData> => {
    const now = systemClock.now();
    if (last === undefined || now - last.at > maxAgeMs) last = { at: now, data: read() };
    return last.data;
  };
  let names: readonly string[] = [];
  const server: Server = pageServer(async (request) => {
    // No page takes a request body.
    request.resume();
    try {
      return await answer(request, { token, names, parts, read: fresh });
    } catch (error) {
      return refusal(500, `the node's state cannot be read: ${error instanceof Error ? error.message : String(error)}`);
    }
  });
  const listening = (await listenOnTcp(server, { host, port })) ?? port;
  names = hostNames(listening);
  return {
    url: `http://${host}:${listening}/${token}/`,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

/** The values of `Host` that name a server of this port. A browser leaves out port 80. */
export function hostNames(port: number): readonly string[] {
  return [host, "localhost"].flatMap((name) => (port === 80 ? [name, `${name}:80`] : [`${name}:${port}`]));
}

interface Answering {
  readonly token: string;
  /** The values of `Host` that name this server. */
  readonly names: readonly string[];
  readonly parts: PageParts;
  readonly read: () => Promise<PageData>;
}

const common = {
  "x-content-type-options": "nosniff",
  "referrer-policy": "no-referrer",
  "cross-origin-resource-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "x-frame-options": "DENY",
};

async function answer(request: IncomingMessage, { token, names, parts, read }: Answering): Promise<Page> {
  const { method = "", url = "", headers } = request;
  // A page of another name that resolves to 127.0.0.1 (DNS rebinding) still sends its own name.
  if (!names.includes(headers.host ?? "")) return refusal(421, "this server answers only as 127.0.0.1 or localhost");
  const site = headers["sec-fetch-site"];
  if (site !== undefined && site !== "none" && site !== "same-origin") return refusal(403, "only the page itself may ask");
  if (method !== "GET" && method !== "HEAD") return refusal(405, "allowed methods: GET and HEAD");
  const [, given = "", name = "", ...rest] = url.split("/");
  if (!isSame(given, token) || rest.length > 0)
    return refusal(404, "not found: the address has a token, which plexusctl ui prints");
  if (name === "") {
    const { html, policy } = nodePage(await read(), parts, true);
    const policyHeader = `${policy}; frame-ancestors 'none'`;
    return {
      status: 200,
      type: "text/html; charset=utf-8",
      body: html,
      headers: { ...common, "content-security-policy": policyHeader },
    };
  }
  if (name !== "data.json") return refusal(404, "not found");
  return { status: 200, type: "application/json", body: JSON.stringify(await read()), headers: common };
}

function refusal(status: number, why: string): Page {
  return { status, type: plainText, body: `${why}\n`, headers: common };
}

/** Compares in a time that does not depend on the number of equal characters. */
function isSame(given: string, token: string): boolean {
  return timingSafeEqual(digestOf(given), digestOf(token));
}

function digestOf(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
