import { expect, test } from "vitest";
import type { StatusDocument } from "../../../telemetry/status-document.ts";
import { pageDataOf, type PageSources } from "./make-page-data.ts";

const attachment = {
  pod: "shop/cart-7",
  container: "c1",
  ifname: "eth0",
  network: "pods",
  source: "default",
  addresses: ["10.0.0.2/24"],
  state: "attached",
  since: undefined,
  failures: 0,
  why: undefined,
} as const;
const node = {
  stateDirectory: "/state",
  journal: { entries: 1, bytes: 1 },
  abandoned: { entries: 0, bytes: 0 },
  attachments: [attachment],
  networks: [],
  pools: [{ directory: "/leases/pods", used: 1, size: undefined }],
  problems: [],
};
const status: StatusDocument = {
  apiVersion: "plexus/v1",
  kind: "NodeStatus",
  time: "2026-11-24T00:00:00.000Z",
  daemon: null,
  nodes: [node, { ...node, stateDirectory: "/other", attachments: [] }],
  failures: [],
};
const sources: PageSources = {
  node: "n1",
  status,
  silent: "no socket",
  calls: { why: "no daemon" },
  recordings: [],
  explanation: { why: "unreadable" },
};

test("says what is not known and why, and names a pool of two state directories once", () => {
  expect(pageDataOf(sources)).toMatchObject({
    node: "n1",
    daemon: null,
    silence: "no socket",
    attachments: [{ pod: "shop/cart-7" }],
    pools: [{ directory: "/leases/pods", used: 1 }],
    calls: null,
    callsUnknown: "no daemon",
    plugins: null,
    pluginsUnknown: "unreadable",
  });
});

test("keeps at most 2000 attachments, those that need attention first, and bounds hostile texts", () => {
  const many = Array.from({ length: 5000 }, (_, index) => ({
    ...attachment,
    container: `c${index}`,
    failures: index === 4999 ? 1 : 0,
  }));
  const hostile = { ...attachment, pod: `a/\u001b[31m\u202e${"x".repeat(10_000)}` };
  const data = pageDataOf({ ...sources, status: { ...status, nodes: [{ ...node, attachments: [hostile, ...many] }] } });
  expect([data.attachments.length, data.moreAttachments, data.attachments[0]?.container]).toEqual([2000, 3001, "c4999"]);
  expect(data.attachments[1]?.pod).toMatch(/^a\/x{1000,1030}…$/);
});

test("networks that use a component with the same grants share one element", () => {
  const step = {
    type: "ipam-host-local",
    role: "ipam",
    kind: "component",
    path: "/bin/ipam-host-local.wasm",
    digest: "sha256:0",
    delegate: null,
    capabilities: [{ name: "leases", reason: "reserves", imported: true, granted: { directories: ["/leases"] } }],
    effective: ["leases"],
    resultChanges: null,
    limits: null,
    demand: null,
    missing: [],
    idle: [],
    toGrant: null,
    uncovered: [],
    rule: null,
    at: null,
    warnings: [],
    problem: null,
    steps: [],
  } as const;
  const native = { ...step, type: "bridge", role: "step", kind: "native", capabilities: [], steps: [step] } as const;
  const network = {
    source: "default",
    at: null,
    name: "pods",
    cniVersion: "1.0.0",
    definition: null,
    loads: true,
    problem: null,
    steps: [native],
  };
  const explained = {
    apiVersion: "plexus/v1",
    kind: "Explanation",
    hostConfiguration: null,
    cniPath: [],
    loads: true,
    networks: [network, { ...network, source: "shop/storage", name: "storage" }],
    warnings: [],
  } as const;
  const { plugins } = pageDataOf({ ...sources, explanation: { value: explained } });
  expect(plugins?.map(({ type, kind, networks }) => [type, kind, networks])).toEqual([
    ["ipam-host-local", "component", ["pods (default)", "storage (shop/storage)"]],
    ["bridge", "native", ["pods (default)", "storage (shop/storage)"]],
  ]);
  expect(plugins?.[0]?.capabilities).toEqual([
    { name: "leases", reason: "reserves", imported: true, granted: '{"directories":["/leases"]}' },
  ]);
});

const counters = (bytes: number) => ({ packets: 0, bytes, errors: 0, drops: 0 });
const both = (bytes: number) => ({ receive: counters(bytes), transmit: counters(bytes) });

test("WA-06: an attachment has the rates of its own link, and none where the daemon does not count", () => {
  const link = { pod: "shop/cart-7", ifname: "eth0", network: "pods", ...both(900), rates: both(9) };
  const traffic = [{ ...link, ifname: "net1", rates: both(1) }, link];
  expect(pageDataOf({ ...sources, traffic }).attachments).toMatchObject([{ traffic: both(9) }]);
  expect(pageDataOf({ ...sources, traffic: [] }).attachments[0]).not.toHaveProperty("traffic");
});
