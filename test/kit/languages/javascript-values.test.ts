// Values of JavaScript that the contract's types forbid: the message names the function, the member, its type and the remedy (issue 33).

import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { buildDelegate } from "../../../delegates/sdk/build/build-delegate.ts";
import { writeScaffold } from "../../../delegates/sdk/build/scaffold.ts";
import { prepared, type PreparedComponent } from "../../../delegates/sdk/component/run.ts";
import { vectorOf } from "../../../delegates/sdk/testing/vector.ts";
import { defaultLimits } from "../../../host/sandbox/limits.ts";

const source = `import { write } from "cni:delegate/log@1.1.0";
import { apply } from "cni:delegate/links@1.1.0";
import * as leases from "cni:delegate/leases@1.1.0";

const empty = { interfaces: [], ips: [], routes: [] };
const lo = { place: "pod", name: "lo" };
const acts = {
  missing: () => ({ interfaces: [], ips: [{ gateway: "10.1.0.1" }], routes: [] }),
  type: () => ({ ...empty, ips: [{ address: 10 }] }),
  list: () => ({ interfaces: [], ips: {}, routes: [] }),
  number: () => ({ ...empty, routes: [{ dst: "0.0.0.0/0", mtu: 1.5 }] }),
  nothing: () => undefined,
  async: async () => empty,
  code: () => { throw { code: "EINVAL" }; },
  text: () => { throw "no luck"; },
  nomsg: () => { throw { code: 7 }; },
  enum: () => write("loud", "x"),
  argument: () => leases.held({}, { containerId: "a", ifname: "b" }),
  tag: () => apply([{ tag: "add-bridge", val: { name: "br0" } }]),
  nested: () => apply([{ tag: "change-link", val: { link: { name: "eth0" }, alternativeNames: [] } }]),
  good: () => { apply([{ tag: "change-link", val: { link: lo, up: true, mtu: null, alternativeNames: [] } }]); return empty; },
  fault: () => { throw { code: 7, msg: "a fault", details: null }; },
  defect: () => { throw new RangeError("a defect"); },
};

export function add({ network }) {
  return acts[JSON.parse(network.config).act]();
}
export function del() {}
export function check() {}
export function gc() {}
export function status() {}
`;

let root: string;
let component: PreparedComponent;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "plexus-values-"));
  const dir = join(root, "mine");
  const home = { kind: "repository", sdk: "0.1.0" } as const;
  await writeScaffold(dir, { name: "mine", capabilities: ["links", "leases"], language: "js", home });
  await writeFile(join(dir, "src/index.js"), source);
  const outFile = join(dir, "build/mine.wasm");
  await buildDelegate({ dir, outFile });
  const made = prepared({ type: "mine", bytes: await readFile(outFile), granted: undefined, limits: defaultLimits });
  if (!made.ok) throw new Error(made.fault.msg);
  component = made.value;
});
afterAll(() => rm(root, { recursive: true, force: true }));

/** The answer and the log of ADD. */
function add(act: string): { readonly answer: unknown; readonly log: string } {
  const env = { CNI_CONTAINERID: "pod-1", CNI_NETNS: "/run/netns/pod-1", CNI_IFNAME: "eth0" };
  const stdin = { cniVersion: "1.1.0", name: "net", type: "mine", act };
  const run = component.call(vectorOf("run", JSON.stringify({ about: "A run.", verb: "ADD", env, stdin }), "run"));
  return { answer: JSON.parse(run.stdout), log: run.log.join("\n") };
}

const faultForm = "an error is { code: number, msg: string, details?: string }";
test.each([
  ["missing", "add answered ips[0].address: must be a string, is missing"],
  ["type", "add answered ips[0].address: must be a string, is the number 10"],
  ["list", "add answered ips: must be a list, is an object"],
  ["number", "add answered routes[0].mtu: must be a whole number from 0 to 4294967295, is the number 1.5"],
  ["nothing", "add answered: must be an object, is missing"],
  ["async", "add answered a Promise: the functions of a delegate are synchronous, so remove async"],
  ["code", `add threw code: must be a whole number from 0 to 4294967295, is the string "EINVAL"; ${faultForm}`],
  ["nomsg", `add threw msg: must be a string, is missing; ${faultForm}`],
  ["text", `add threw the string "no luck": throw an Error; ${faultForm}`],
  ["enum", 'log.write: level: must be one of "debug", "info", "warn", "error", is the string "loud"'],
  ["argument", "leases.held: pool.set: must be a whole number from 0 to 4294967295, is missing"],
  ["tag", 'links.apply: operations[0].tag: must be one of "ensure-bridge", "ensure-vlan-gateway",'],
  ["nested", 'links.apply: operations[0].val.link.place: must be one of "host", "pod", is missing'],
])("%s: the error names the member and its type", (act, text) => {
  expect(add(act).answer).toMatchObject({ code: 999, msg: expect.stringContaining(`a defect of the delegate: ${text}`) });
});

test("values that the contract allows pass", () => {
  expect(add("good").answer).toMatchObject({ cniVersion: "1.1.0" });
  expect(add("fault").answer).toMatchObject({ code: 7, msg: expect.stringContaining("a fault") });
  expect(add("defect").answer).toMatchObject({ code: 999, details: expect.stringMatching(/a defect[^]*src\/index\.js:23/) });
});

test("a wrong argument has its place in the author's file", () => {
  expect(add("enum").answer).toMatchObject({
    msg: expect.stringContaining("the types are in wit/1.1.0/delegate.d.ts of @plexus-cni/sdk"),
    details: expect.stringMatching(/^at enum \(\/src\/index\.js:17:\d+\)\n *at add \(\/src\/index\.js:27:\d+\)\n/),
  });
});
