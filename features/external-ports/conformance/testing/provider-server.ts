// A provider in memory that follows docs/how-to/write-a-provider.md, except for one defect.

import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as nextTurn, setTimeout as wait } from "node:timers/promises";
import { isJsonObject } from "../../../../src/json/document.ts";
import { readAddress } from "../../../../src/net/ip.ts";
import { parseHardwareAddress } from "../../../../src/npwg/hardware-address.ts";

/** The token of the provider. */
export const serverToken = "token of the test";
/** Parameters of a valid definition, and such as the provider refuses. */
export const serverParameters = { zone: "blue" };
/** See `serverParameters`. */
export const forbiddenParameters = { zone: "red" };
/** How long the slow provider takes in ms, by its own clock. */
export const slowMs = 20_000;

/** Each defect, and the one check that reports it. */
export const defects = {
  "answers no MAC address": "ENS-1",
  "answers another MTU the second time": "ENS-2",
  "gives all ports one MAC address": "ENS-3",
  "ignores requested addresses": "ENS-4",
  "gives an address twice": "ENS-5",
  "ignores a requested MAC address": "ENS-6",
  "ignores unknown parameters": "PAR-1",
  "accepts parameters of any type": "PAR-2",
  "accepts every zone": "PAR-3",
  "accepts 4 KiB at most": "PAR-4",
  "releases nothing": "REL-1",
  "refuses a second release": "REL-2",
  "releases by providerId only": "REL-3",
  "refuses to release an unknown port": "REL-4",
  "releases by key only": "REL-5",
  "lists one page": "LST-1",
  "lists the ports of all owners": "LST-2",
  "releases for each owner": "LST-3",
  "says yes instead of true": "ACT-1",
  "says that each port is active": "ACT-2",
  "fails at a broken body": "ERR-1",
  "has an owner of its own": "ERR-2",
  "does not read requested values": "ERR-3",
  "answers errors as text": "ERR-4",
  "knows each operation": "ERR-5",
  "acts at GET": "ERR-6",
  "accepts requests of any size": "ERR-7",
  "cuts keys": "SIZ-1",
  "needs no token": "TOK-1",
  "compares the beginning of a token": "TOK-2",
  "makes one port twice": "CON-1",
  "gives one address to several": "CON-2",
  "fails at two releases at once": "CON-3",
  "is slow": "TIM-1",
} as const;
/** The name of a defect. */
export type Defect = keyof typeof defects;

interface Port {
  readonly owner: string;
  readonly key: string;
  readonly providerId: string;
  readonly mac: string;
  readonly address: string;
}

type Outcome = readonly [status: number, body: object];
const refuse = (status: number, message: string): Outcome => [status, { message }];

/** The running provider. */
export interface ProviderServer {
  readonly url: string;
  /** The number of ports. */
  readonly count: () => number;
  /** A clock in ms that advances only while the slow provider works on a request. */
  readonly now: () => number;
  readonly close: () => void;
}

/**
 * Gives requests that were sent with this one time to arrive. Client and server share this process' event loop, so turns of the loop let them
 * arrive on a busy machine too.
 */
async function untilOthersArrive(): Promise<void> {
  await wait(20);
  for (let turn = 0; turn < 100; turn++) await nextTurn();
}

/** Starts the provider on the loopback. */
export async function startProviderServer(defect?: Defect): Promise<ProviderServer> {
  const fabric = new Fabric(defect);
  const server = createServer(async (request, response) => {
    const [status, body] = await fabric.answer(request);
    const isText = status >= 400 && defect === "answers errors as text";
    response.writeHead(status, { "content-type": isText ? "text/plain" : "application/json" });
    response.end(isText ? "no" : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = (): void => {
    server.close();
    server.closeAllConnections();
  };
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}`, count: () => fabric.ports.length, now: () => fabric.nowMs, close };
}

class Fabric {
  readonly #defect: Defect | undefined;
  ports: Port[] = [];
  nowMs = 0;
  readonly #seen = new Set<string>();
  readonly #releasing = new Set<string>();
  #next = 10;

  constructor(defect: Defect | undefined) {
    this.#defect = defect;
  }

  #has(defect: Defect): boolean {
    return this.#defect === defect;
  }

  async answer(request: IncomingMessage): Promise<Outcome> {
    let text = "";
    for await (const chunk of request) text += String(chunk);
    const token = request.headers.authorization ?? (this.#has("needs no token") ? `Bearer ${serverToken}` : "");
    const isKnown = this.#has("compares the beginning of a token")
      ? token.startsWith(`Bearer ${serverToken}`)
      : token === `Bearer ${serverToken}`;
    if (!isKnown) return refuse(401, "another token is needed");
    if (this.#has("acts at GET") && request.method === "GET") return [200, {}];
    if (request.method !== "POST") return refuse(405, "only POST acts");
    const maxBody = this.#has("accepts 4 KiB at most") ? 4096 : 1024 * 1024;
    if (text.length > maxBody && !this.#has("accepts requests of any size")) return refuse(413, "the request is too large");
    let body: unknown;
    try {
      body = JSON.parse(text);
    } catch {
      return this.#has("fails at a broken body") ? refuse(500, "defect") : refuse(400, "the body is no JSON");
    }
    if (!isJsonObject(body)) return refuse(400, "the body is no object");
    const { owner = this.#has("has an owner of its own") ? "own" : undefined } = body;
    if (typeof owner !== "string") return refuse(400, "owner must be a text");
    switch (request.url) {
      case "/v1/ensure":
        return this.#ensure(owner, body["request"]);
      case "/v1/release":
        return this.#release(owner, body["port"]);
      case "/v1/list":
        return [200, { ports: this.#listed(owner) }];
      case "/v1/active":
        return this.#active(body["port"]);
      default:
        return this.#has("knows each operation") ? [200, {}] : refuse(404, "an unknown operation");
    }
  }

  async #ensure(owner: string, request: unknown): Promise<Outcome> {
    if (!isJsonObject(request)) return refuse(400, "request must be an object");
    const { key: name, parameters, requested } = request;
    if (typeof name !== "string" || name === "") return refuse(400, "key must be a text");
    if (!isJsonObject(parameters) || !isJsonObject(requested)) return refuse(400, "parameters and requested must be objects");
    const key = this.#has("cuts keys") ? name.slice(0, 102) : name;
    const wrong = this.#wrongParameter(parameters);
    if (wrong !== undefined) return wrong;
    const { mac, ips } = requested;
    const isMac = typeof mac === "string" && parseHardwareAddress(mac)?.length === 6;
    const isIps = Array.isArray(ips) && ips.length === 1 && readAddress(String(ips[0])) !== undefined;
    const isRead = (mac === undefined || isMac) && (ips === undefined || isIps);
    if (!isRead && !this.#has("does not read requested values")) return refuse(422, "requested has values in another form");
    const existing = this.ports.find((port) => port.owner === owner && port.key === key);
    if (existing !== undefined) return [200, { port: this.#shown(existing, true) }];
    const number = this.#next;
    if (this.#has("makes one port twice") || this.#has("gives one address to several")) await untilOthersArrive();
    const made = this.ports.find((port) => port.owner === owner && port.key === key);
    if (made !== undefined && !this.#has("makes one port twice")) return [200, { port: this.#shown(made, false) }];
    const own = this.#next++;
    const address =
      isIps && !this.#has("ignores requested addresses")
        ? String(ips[0])
        : `10.9.0.${this.#has("gives one address to several") ? number : own}`;
    const isTaken = this.ports.some((port) => port.address === address);
    const mayBeTaken = this.#has("gives an address twice") || (ips === undefined && this.#has("gives one address to several"));
    if (isTaken && !mayBeTaken) return refuse(409, `address ${address} has a port`);
    const ownMac = `02:00:00:00:00:${(this.#has("gives all ports one MAC address") ? 1 : own % 256).toString(16).padStart(2, "0")}`;
    const port = {
      owner,
      key,
      providerId: `p-${own}`,
      mac: isMac && !this.#has("ignores a requested MAC address") ? mac : ownMac,
      address,
    };
    this.ports.push(port);
    this.#seen.add(key);
    return [200, { port: this.#shown(port, false) }];
  }

  #wrongParameter(parameters: Readonly<Record<string, unknown>>): Outcome | undefined {
    const unknown = Object.keys(parameters).find((name) => name !== "zone");
    if (unknown !== undefined && !this.#has("ignores unknown parameters")) return refuse(400, `an unknown parameter ${unknown}`);
    const { zone } = parameters;
    if (typeof zone !== "string")
      return this.#has("accepts parameters of any type") ? undefined : refuse(400, "zone must be a text");
    return zone === "blue" || this.#has("accepts every zone") ? undefined : refuse(403, "this zone belongs to others");
  }

  #shown({ providerId, mac, address }: Port, isRepeated: boolean): object {
    return {
      providerId,
      ...(this.#has("answers no MAC address") ? {} : { mac }),
      addresses: [{ address: `${address}/24`, gateway: "10.9.0.1" }],
      mtu: isRepeated && this.#has("answers another MTU the second time") ? 1400 : 1450,
      binding: { type: "ovs", interfaceId: providerId },
    };
  }

  async #release(owner: string, port: unknown): Promise<Outcome> {
    if (!isJsonObject(port)) return refuse(400, "port must be an object");
    const { key, providerId } = port;
    if (typeof key !== "string" || typeof providerId !== "string") return refuse(400, "port needs key and providerId");
    if (this.#has("fails at two releases at once")) {
      if (this.#releasing.has(key)) return refuse(500, "defect");
      this.#releasing.add(key);
      await untilOthersArrive();
      this.#releasing.delete(key);
    }
    const found = this.ports.filter((each) => {
      const isOwned = each.owner === owner || this.#has("releases for each owner");
      const isNamed = this.#has("releases by key only") || each.providerId === providerId;
      return isOwned && each.key === key && (isNamed || (providerId === "" && !this.#has("releases by providerId only")));
    });
    const isUnknown = !this.ports.some((each) => each.key === key);
    if (isUnknown && this.#seen.has(key) && this.#has("refuses a second release")) return refuse(404, "no such port");
    if (isUnknown && !this.#seen.has(key) && this.#has("refuses to release an unknown port")) return refuse(404, "no such port");
    if (!(this.#has("releases nothing") && providerId !== "")) this.ports = this.ports.filter((each) => !found.includes(each));
    return [200, {}];
  }

  #listed(owner: string): readonly object[] {
    const isAll = this.#has("lists the ports of all owners");
    const listed = this.ports.filter((port) => isAll || port.owner === owner);
    return (this.#has("lists one page") ? listed.slice(0, 4) : listed).map(({ key, providerId }) => ({ key, providerId }));
  }

  async #active(port: unknown): Promise<Outcome> {
    if (!isJsonObject(port) || typeof port["key"] !== "string") return refuse(400, "port must be an object with a key");
    if (this.#has("is slow")) this.nowMs += slowMs;
    const isThere = this.ports.some(({ key, providerId }) => key === port["key"] && providerId === port["providerId"]);
    if (this.#has("says yes instead of true")) return [200, { active: isThere ? "yes" : false }];
    return [200, { active: isThere || this.#has("says that each port is active") }];
  }
}
