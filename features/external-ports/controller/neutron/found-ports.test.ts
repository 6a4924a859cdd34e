// Ports of Neutron that are found again, and looks at pools while Neutron fails, with a server on the loopback device.

import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { PortRequest } from "../provider.ts";
import { neutronProvider } from "./provider.ts";
import { neutronSettings } from "./settings.ts";

const subnet = { id: "5", network_id: "a", cidr: "10.9.0.0/24" };
const request: PortRequest = {
  key: "shop/u-0",
  pod: { namespace: "shop", name: "web", uid: "u" },
  nodeName: "n",
  parameters: {},
  requested: {},
};
const own = {
  id: "own",
  network_id: "a",
  mac_address: "02:00:00:00:00:05",
  fixed_ips: [{ subnet_id: "5", ip_address: "10.9.0.5" }],
};

let server: Server;
let url = "";
/** The ports with the name of the request, or of the free ports. */
let listed: readonly object[] = [];
/** The requests, in order. */
let requests: string[] = [];
/** The status of the answers to these requests; 200 by default. */
let statusOf: (request: string) => number = () => 200;

beforeEach(async () => {
  [listed, requests, statusOf] = [[], [], () => 200];
  server = createServer((incoming, response) => {
    const { pathname } = new URL(incoming.url ?? "", "http://server");
    const asked = `${incoming.method} ${pathname.replace("/v2.0", "")}`;
    requests.push(asked);
    response.writeHead(statusOf(asked), { "content-type": "application/json" });
    response.end(JSON.stringify(bodyOf(asked)));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterEach(() => {
  server.close();
  server.closeAllConnections();
});

function bodyOf(asked: string): object {
  if (asked.includes("/subnets/")) return { subnet };
  if (asked.includes("/networks/")) return { network: { mtu: 1400 } };
  return { ports: asked === "POST /ports" ? [own] : listed };
}

function neutron(more: object = {}): ReturnType<typeof neutronProvider> {
  return neutronProvider(neutronSettings.parse({ url, auth: { type: "none" }, podSubnet: "5", ...more }), "test");
}

test.each([
  ["of another network", { network_id: "b" }, {}],
  ["of another subnet", { fixed_ips: [{ subnet_id: "6", ip_address: "10.8.0.5" }] }, {}],
  ["without the requested address", {}, { ips: ["10.9.0.7/24"] }],
  ["without the requested MAC", {}, { mac: "02:00:00:00:00:07" }],
])("a port %s with the attachment's name is not the attachment's: it is tagged as an orphan", async (_, other, requested) => {
  listed = [{ ...own, ...other, id: "earlier" }];
  const made = await neutron().ensure({ ...request, requested });
  expect(made).toMatchObject({ ok: true, value: { providerId: "own" } });
  expect(requests).toContain("POST /ports");
  expect(requests).toContain("PUT /ports/earlier/tags/plexus-owner%3Atest");
});

test("the attachment's own port is found again, also one with the requested values", async () => {
  listed = [own];
  const requested = { ips: ["10.9.0.5/24"], mac: "02:00:00:00:00:05" };
  expect(await neutron().ensure({ ...request, requested })).toMatchObject({ ok: true, value: { providerId: "own" } });
  expect(requests).not.toContain("POST /ports");
});

test.each([
  ["to give ports back", "DELETE"],
  ["to tag ports", "PUT"],
])("a look at the pools that Neutron's failure keeps from going on ends at once: %s", async (_, method) => {
  const port = { ...own, name: "plexus:test:free", revision_number: 1, description: "", tags: [] };
  const provider = neutron({ ahead: [{ subnet: "5", min: 1, max: 40 }] });
  // The mark of the provider's own free ports.
  let mark = "";
  server.on("request", (incoming) => {
    incoming.on("data", (chunk: Buffer) => (mark ||= /"description":"([^"]+)"/.exec(chunk.toString())?.[1] ?? ""));
  });
  statusOf = (asked) => (asked === "POST /ports" ? 503 : 200);
  await provider.ahead?.keep();
  expect(mark).not.toBe("");
  requests = [];
  statusOf = (asked) => (asked.startsWith(method) ? 503 : 200);
  listed = Array.from({ length: 30 }, (_each, index) => ({
    ...port,
    id: `p${index}`,
    description: method === "PUT" ? mark : "earlier settings",
  }));
  expect(await provider.ahead?.keep()).toMatchObject({ ok: false, reason: "unavailable" });
  expect(requests.filter((each) => each.startsWith(method))).toHaveLength(1);
});
