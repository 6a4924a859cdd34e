// A provider of external ports over HTTP, as docs/how-to/write-a-provider.md describes it, with a fabric in memory.

import { readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import type { Certificate } from "./kube/certificates.ts";

/** A port of the fabric. */
export interface FabricPort {
  readonly providerId: string;
  readonly mac: string;
  readonly addresses: readonly { readonly address: string; readonly gateway?: string }[];
  readonly binding: { readonly type: "address-only" };
}

/** The running provider. */
export interface TestProvider {
  readonly url: string;
  /** The fabric's ports by key. */
  readonly ports: ReadonlyMap<string, FabricPort>;
  /** The addresses that the last port's pod asks for. The fabric gives others. */
  requested: unknown;
  /** HTTP status and message that the next requests get instead of an answer; undefined: none. */
  refusal: { readonly status: number; readonly message: string; readonly retryAfter?: string } | undefined;
  /** The requests for a port so far. */
  ensured: number;
  /** The providerId of new ports; undefined: each port has an ID of its own. */
  sameId: string | undefined;
  /** Answers to requests for a port are held until so many wait; undefined: none is held. */
  together: number | undefined;
  dispose(): void;
}

/** Where and how the provider serves. Default: HTTP on 127.0.0.1. `tls`: HTTPS with this certificate. */
export interface TestProviderInit {
  readonly address?: string;
  readonly tls?: Certificate;
}

/** Starts the provider. Ports get addresses of 10.77.0.0/24, from .10 on. */
export async function startPortProvider({ address = "127.0.0.1", tls }: TestProviderInit = {}): Promise<TestProvider> {
  const ports = new Map<string, FabricPort>();
  let next = 10;
  let held: (() => void)[] = [];
  const answers: Readonly<
    Record<string, (body: { request?: { key: string; requested?: unknown }; port?: { key: string } }) => object>
  > = {
    "/v1/ensure": ({ request = { key: "" } }) => {
      provider.requested = request.requested;
      const port = ports.get(request.key) ?? {
        providerId: provider.sameId ?? `fabric-${next}`,
        mac: `02:00:00:00:00:${next.toString(16).padStart(2, "0")}`,
        addresses: [{ address: `10.77.0.${next++}/24` }],
        binding: { type: "address-only" as const },
      };
      ports.set(request.key, port);
      return { port };
    },
    "/v1/release": ({ port }) => {
      ports.delete(port?.key ?? "");
      return {};
    },
    "/v1/list": () => ({ ports: [...ports].map(([key, { providerId }]) => ({ key, providerId })) }),
    "/v1/active": () => ({ active: true }),
  };
  const provider = {
    url: "",
    ports,
    requested: undefined as unknown,
    ensured: 0,
    sameId: undefined as string | undefined,
    together: undefined as number | undefined,
    refusal: undefined as TestProvider["refusal"],
    dispose: () => undefined as void,
  };
  const serve: RequestListener = (request, response) => {
    const chunks: Buffer[] = [];
    request.on("data", (chunk: Buffer) => chunks.push(chunk));
    request.on("end", () => {
      const { refusal } = provider;
      if (request.url === "/v1/ensure") provider.ensured += 1;
      const answer = refusal === undefined ? answers[request.url ?? ""]?.(JSON.parse(Buffer.concat(chunks).toString())) : refusal;
      const pause = refusal?.retryAfter === undefined ? {} : { "retry-after": refusal.retryAfter };
      const status = refusal?.status ?? (answer === undefined ? 404 : 200);
      const send = (): void => {
        response.writeHead(status, { "content-type": "application/json", ...pause });
        response.end(JSON.stringify(answer ?? {}));
      };
      if (request.url !== "/v1/ensure" || provider.together === undefined) return send();
      held.push(send);
      if (held.length < provider.together) return;
      for (const each of held) each();
      held = [];
      provider.together = undefined;
    });
  };
  const server =
    tls === undefined
      ? createServer(serve)
      : createTlsServer({ cert: readFileSync(tls.certificate), key: readFileSync(tls.key) }, serve);
  await new Promise<void>((resolve) => server.listen(0, address, resolve));
  provider.url = `${tls === undefined ? "http" : "https"}://${address}:${(server.address() as AddressInfo).port}`;
  provider.dispose = () => {
    server.close();
    server.closeAllConnections();
  };
  return provider;
}
