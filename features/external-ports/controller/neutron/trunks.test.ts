// Subports of a trunk while other writers add some, with a server on the loopback device that keeps one trunk as Neutron does.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import { NeutronClient } from "./client.ts";
import { Trunks } from "./trunks.ts";

interface Subport {
  readonly port_id: string;
  readonly segmentation_id: number;
}

let server: Server;
let client: NeutronClient;
/** The trunk's subports. */
let subports: Subport[] = [];
/** Requests to add a subport, and those of them that the trunk has refused. */
let added = 0;
let refused = 0;
/** Another writer, who adds a subport to the trunk before each request does. */
let other: () => Subport | undefined = () => undefined;

beforeEach(async () => {
  [subports, added, refused, other] = [[], 0, 0, () => undefined];
  server = createServer((incoming, response) => {
    const chunks: Buffer[] = [];
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk));
    incoming.on("end", () => {
      const [status, body] = answer(incoming.url ?? "", Buffer.concat(chunks).toString());
      response.writeHead(status, { "content-type": "application/json" });
      response.end(JSON.stringify(body));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  client = new NeutronClient({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, auth: { type: "none" } });
});
afterEach(() => {
  server.close();
  server.closeAllConnections();
});

function answer(url: string, text: string): readonly [number, object] {
  if (url.startsWith("/v2.0/ports")) return [200, { ports: [{ id: "parent" }] }];
  if (!url.endsWith("/add_subports")) return [200, { trunks: [{ id: "trunk", sub_ports: subports }] }];
  added += 1;
  const before = other();
  if (before !== undefined) subports.push(before);
  const { sub_ports: wanted }: { readonly sub_ports: readonly Subport[] } = JSON.parse(text);
  if (wanted.some(({ segmentation_id: vlan }) => subports.some((each) => each.segmentation_id === vlan))) {
    refused += 1;
    return [409, { NeutronError: { type: "DuplicateSubPort", message: "already in use", detail: "" } }];
  }
  subports.push(...wanted);
  return [200, {}];
}

test("as many ports at once as the controller has workers get VLANs of their own", async () => {
  const trunks = new Trunks(client, { first: 1, last: 4094 });
  const made = await Promise.all(Array.from({ length: 16 }, (_, index) => trunks.add("node", `port-${index}`)));
  const vlans = made.map((each) => (each.ok ? each.value : each.message));
  expect(vlans.toSorted((a, b) => Number(a) - Number(b))).toEqual(Array.from({ length: 16 }, (_, index) => index + 1));
  expect(refused).toBeGreaterThan(0);
});

test("a port whose VLAN is taken first 16 times is tried again later, and the failure says what to do", async () => {
  other = () => ({ port_id: `other-${added}`, segmentation_id: 99 + added });
  expect(await new Trunks(client, { first: 100, last: 4094 }).add("node", "port")).toEqual({
    ok: false,
    reason: "unavailable",
    message:
      "other writers took the free VLAN of the trunk of node node first, 16 times. Give other programs that add subports to this trunk VLANs " +
      "outside of the provider's vlans (100 to 4094)",
  });
  expect(added).toBe(16);
});

test("a trunk without a free VLAN is refused with the VLANs that the provider may give, also if another writer took the last one", async () => {
  other = () => ({ port_id: "other", segmentation_id: 7 });
  expect(await new Trunks(client, { first: 7, last: 7 }).add("node", "port")).toEqual({
    ok: false,
    reason: "quota",
    message: "the trunk of node node has no free VLAN from 7 to 7. Give the provider's vlans more, or the node fewer pods",
  });
  expect(added).toBe(1);
});
