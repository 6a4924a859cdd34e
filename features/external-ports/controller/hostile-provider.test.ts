// Providers with hostile answers, which come from a server on the loopback device.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { withoutSecrets } from "../../../src/fault/without-secrets.ts";
import { httpProvider } from "./http-provider.ts";
import { NeutronClient } from "./neutron/client.ts";
import { neutronProvider } from "./neutron/provider.ts";
import { neutronSettings } from "./neutron/settings.ts";

/** An answer by the request's method and path. */
type Answer = (request: string, query: URLSearchParams) => { readonly status?: number; readonly body: string };

const subnet = { id: "5", network_id: "a", cidr: "10.9.0.0/24" };
const request = {
  key: "shop/u-0",
  pod: { namespace: "shop", name: "web", uid: "u" },
  nodeName: "n",
  parameters: {},
  requested: {},
};
let answer: Answer = () => ({ body: "{}" });
let server: Server;
let url = "";
const directory = mkdtempSync(join(tmpdir(), "plexus-hostile-provider-"));

beforeAll(async () => {
  server = createServer((incoming, response) => {
    const { pathname, searchParams } = new URL(incoming.url ?? "", "http://server");
    const { status = 200, body } = answer(`${incoming.method} ${pathname}`, searchParams);
    response.writeHead(status, { "content-type": "application/json" });
    response.end(body);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
});
afterAll(() => {
  server.close();
  server.closeAllConnections();
  rmSync(directory, { recursive: true, force: true });
});

function neutron(more: object = {}): ReturnType<typeof neutronProvider> {
  return neutronProvider(neutronSettings.parse({ url, auth: { type: "none" }, podSubnet: "5", ...more }), "test");
}

/** The message of an ensure on a node whose named port has these trunks. */
async function refusalOf(trunks: readonly object[]): Promise<string> {
  answer = (each) => {
    if (each.includes("/subnets/")) return { body: JSON.stringify({ subnet }) };
    if (each.includes("/networks/")) return { body: '{"network": {}}' };
    return { body: JSON.stringify(each.endsWith("/trunks") ? { trunks } : { ports: [{ id: "p" }] }) };
  };
  const made = await neutron({ driver: "nested-vlan" }).ensure(request);
  expect(made).toMatchObject({ ok: false, reason: "refused" });
  return made.ok ? "" : made.message;
}

test("a list of Neutron goes on after a page that the server's own limit has made short", async () => {
  const ports = Array.from({ length: 250 }, (_, index) => ({ id: String(index).padStart(3, "0") }));
  answer = (_, query) => {
    const from = query.has("marker") ? Number(query.get("marker")) + 1 : 0;
    const links = from + 100 < ports.length ? { ports_links: [{ rel: "next", href: "http://198.51.100.1/" }] } : {};
    return { body: JSON.stringify({ ports: ports.slice(from, from + 100), ...links }) };
  };
  const client = new NeutronClient({ url, auth: { type: "none" } });
  expect(await client.list("ports", [])).toEqual({ ok: true, value: ports });
});

test("a list of Neutron without an end is refused", async () => {
  const page = Array.from({ length: 20_000 }, (_, index) => ({ id: `${index}` }));
  let pages = 0;
  answer = () => {
    page[page.length - 1] = { id: `last of ${pages++}` };
    return { body: pages > 20 ? "{}" : JSON.stringify({ ports: page }) };
  };
  const listed = await new NeutronClient({ url, auth: { type: "none" } }).list("ports", []);
  expect(listed).toMatchObject({ ok: false, message: expect.stringContaining("more than 50000 ports") });
});

test("a list of Neutron whose pages together have more than 16 MiB is refused", async () => {
  const outcomes: unknown[] = [];
  for (const pages of [4, 5]) {
    answer = (_, query) => {
      const number = Number(query.get("marker") ?? "0") + 1;
      const links = number === pages ? [] : [{ rel: "next" }];
      return { body: JSON.stringify({ ports: [{ id: `${number}`, name: "x".repeat(4_000_000) }], ports_links: links }) };
    };
    const listed = await new NeutronClient({ url, auth: { type: "none" } }).list("ports", []);
    outcomes.push(listed.ok ? listed.value.length : listed.message);
  }
  const refusal = /^Neutron lists ports of more than 16777216 bytes on all pages together, .*\. Delete unused ports/;
  expect(outcomes).toEqual([4, expect.stringMatching(refusal)]);
});

test("an answer to one request has 1 MiB at most", async () => {
  answer = () => ({ body: JSON.stringify({ active: true, more: "x".repeat(1024 * 1024) }) });
  const active = await httpProvider(url, "test").active({ key: "shop/u-0", providerId: "p" });
  expect(active).toMatchObject({ ok: false, reason: "unavailable", message: expect.stringContaining("more than 1048576 bytes") });
});

test("a port whose ID is no text is not taken, and ends nothing", async () => {
  answer = (each) => {
    if (each.includes("/subnets/")) return { body: JSON.stringify({ subnet }) };
    return { body: JSON.stringify({ ports: each.startsWith("GET") ? [] : [{ id: { toString: 1, valueOf: 1 } }] }) };
  };
  const provider = neutron({ ahead: [{ subnet: "5", min: 1, max: 1 }] });
  expect(await provider.ahead?.keep()).toMatchObject({ ok: false, reason: "unavailable" });
  expect(await provider.ensure(request)).toMatchObject({ ok: false, reason: "unavailable" });
});

test("several trunks of a node are refused by a short, inert message, and a trunk whose ID is no text is not taken", async () => {
  const several = await refusalOf(
    Array.from({ length: 400 }, () => ({ id: `\u001b[2J${"t".repeat(900)}`, port_id: { toString: 1 } })),
  );
  expect(several).toMatch(
    /^Neutron has more than one trunk whose parent port has the name of node n: .* and others\. .* another name$/,
  );
  expect(several.length).toBeLessThan(1_000);
  expect(several).not.toContain("\u001b");
  expect(await refusalOf([{ id: { toString: 1, valueOf: 1 } }])).toMatch(/^Neutron has no trunk whose parent port/);
});

test("a driverType with the name of an object's own member is no alias", async () => {
  const made = await neutron().ensure({ ...request, parameters: { driverType: "constructor" } });
  expect(made).toMatchObject({ ok: false, reason: "invalid", message: expect.stringContaining('"constructor" is none of') });
});

test("a token of several lines is refused without being shown", async () => {
  const tokenFile = join(directory, "token");
  writeFileSync(tokenFile, "secret-one\nsecret-two\n");
  const made = await httpProvider(url, "test", tokenFile).ensure(request);
  expect(made).toMatchObject({ ok: false, reason: "unavailable", message: expect.stringContaining(tokenFile) });
  expect(JSON.stringify(made)).not.toContain("secret-");
});

test("a file with a secret that cannot be used is named in logs, too", async () => {
  const [absent, several] = [join(directory, "absent"), join(directory, "several")];
  writeFileSync(several, "one\ntwo\n");
  const auth = { type: "applicationCredential", url, id: "a", secretFile: absent };
  const providers = [
    neutronProvider(neutronSettings.parse({ url, podSubnet: "5", auth }), "test"),
    httpProvider(url, "test", absent),
    httpProvider(url, "test", several),
  ];
  for (const [index, file] of [absent, absent, several].entries()) {
    const made = await providers[index]?.ensure(request);
    const message = made?.ok === false ? made.message : "";
    expect(message).toContain(file);
    expect(withoutSecrets(message)).toBe(message);
  }
});

test("a refusal has no escape sequence, no control character and no half of a surrogate pair", async () => {
  answer = () => ({ status: 403, body: JSON.stringify({ message: `no\u001b[2J\n\u202eport${"x".repeat(487)}\u{1f600}` }) });
  const made = await httpProvider(url, "test").ensure(request);
  const message = made.ok ? "" : made.message;
  expect(message).toMatch(/^the provider answers HTTP 403: no portx+�$/u);
  expect(message.isWellFormed()).toBe(true);
});
