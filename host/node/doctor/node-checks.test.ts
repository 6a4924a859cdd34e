// The checks on a directory that is laid out as a node, and what each lack changes.

import { chmodSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Severity } from "../../../src/lint/rules.ts";
import type { NodeCheck } from "./node-check.ts";
import { checkNode, type CheckedNode } from "./node-checks.ts";

let directory: string;
let node: CheckedNode;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "plexus-doctor-"));
  for (const name of ["plexusd.cjs", "engine/guest-process.cjs", "bin/node", "bin/plexus-sandbox"]) write(`home/${name}`, "");
  for (const name of ["plexus", "bridge"]) write(`cni/${name}`, "#!/bin/sh\n", 0o755);
  const delegates = [{ cniVersion: "1.0.0", name: "pods", plugins: [{ type: "bridge" }] }];
  write("net.d/10-plexus.conflist", JSON.stringify({ cniVersion: "1.0.0", name: "c", plugins: [{ type: "plexus", delegates }] }));
  mkdirSync(join(directory, "state"));
  write("status.sock", "", 0o600);
  node = {
    home: join(directory, "home"),
    nodeVersion: "26.1.0",
    cniPath: join(directory, "cni"),
    config: join(directory, "net.d"),
    stateDir: join(directory, "state"),
    statusSocket: join(directory, "status.sock"),
    silent: undefined,
    agents: 1,
    loadLibrary: () => undefined,
    kernelRemedy: "",
    featureProbes: async () => [],
  };
});
afterEach(() => rmSync(directory, { recursive: true, force: true }));

function write(name: string, text: string, mode = 0o644): void {
  mkdirSync(dirname(join(directory, name)), { recursive: true });
  writeFileSync(join(directory, name), text);
  chmodSync(join(directory, name), mode);
}

async function bad(change: Partial<CheckedNode> = {}): Promise<readonly NodeCheck[]> {
  return (await checkNode({ ...node, ...change })).filter(({ finding }) => finding !== null && finding.severity !== "note");
}

test("E-20: a good node passes every check", async () => {
  expect(await bad()).toEqual([]);
});

/** A file that findPlugin takes for a component. */
const component = "\0asm\x0d\0\x01\0";

function useNetworks(wasm: object, ...plugins: readonly object[]): void {
  const delegates = [{ cniVersion: "1.0.0", name: "pods", plugins }];
  const configuration = { cniVersion: "1.0.0", name: "c", plugins: [{ type: "plexus", wasm, delegates }] };
  write("net.d/10-plexus.conflist", JSON.stringify(configuration));
}

const nativePlugins = async (): Promise<NodeCheck | undefined> =>
  (await checkNode(node)).find(({ name }) => name === "native-plugins");

test("names the networks and the types that native plugins serve, and those without a component", async () => {
  write("cni/host-local", "", 0o755);
  write("cni/bridge.wasm", component);
  useNetworks({}, { type: "bridge", ipam: { type: "host-local" } });
  expect(await nativePlugins()).toMatchObject({
    found: "native plugins are used by pods: bridge, host-local (no component)",
    finding: { severity: "note", message: expect.stringContaining("host-local (no component): a native plugin runs as root.") },
  });
});

test("says that no native plugin is used, where components serve all types", async () => {
  for (const name of ["bridge", "host-local"]) write(`cni/${name}.wasm`, component);
  useNetworks({ prefer: true }, { type: "bridge", ipam: { type: "host-local" } });
  expect(await nativePlugins()).toMatchObject({
    found: "no native plugin is used by any network of this node",
    finding: null,
  });
});

test("warns of a native plugin where wasm.prefer asks for components only", async () => {
  useNetworks({ prefer: true }, { type: "bridge" });
  expect(await nativePlugins()).toMatchObject({
    found: "native plugins are used by pods: bridge (no component)",
    finding: { severity: "warning" },
  });
});

const lacks: readonly (readonly [name: string, severity: Severity, found: string, make: () => Partial<CheckedNode>])[] = [
  ["node-version", "error", "Node 20.1.0", () => ({ nodeVersion: "20.1.0" })],
  ["c-library", "error", "no such library", () => ({ loadLibrary: () => "no such library" })],
  ["programs", "error", "lacks plexusd.cjs", () => (rmSync(join(node.home, "plexusd.cjs")), {})],
  ["plugin-directories", "error", "/nonexistent: no such directory", () => ({ cniPath: `${node.cniPath}:/nonexistent` })],
  ["shim", "error", "no executable plexus", () => (chmodSync(join(node.cniPath, "plexus"), 0o644), {})],
  ["configuration", "error", 'failed to find plugin "bridge"', () => (rmSync(join(node.cniPath, "bridge")), {})],
  ["configuration", "error", "has no configuration of Plexus", () => ({ config: join(directory, "state") })],
  ["state-directory", "error", "is no directory", () => (rmSync(node.stateDir, { recursive: true }), write("state", ""), {})],
  ["state-directory", "warning", "does not exist yet", () => (rmSync(node.stateDir, { recursive: true }), {})],
  ["daemon", "warning", "no process listens", () => ({ silent: "no process listens on the socket" })],
  ["socket-rights", "error", "has mode 666", () => (chmodSync(node.statusSocket, 0o666), {})],
  ["socket-rights", "warning", "does not exist", () => (rmSync(node.statusSocket), {})],
  ["agent", "warning", "none is connected", () => ({ agents: 0 })],
  ["agent", "warning", "unknown", () => ({ agents: undefined })],
];

test.each(lacks)("E-20: %s is %s: %s, with a reason and a remedy", async (name, severity, found, make) => {
  const [only, ...more] = await bad(make());
  expect(more).toEqual([]);
  expect(only).toMatchObject({ name, found: expect.stringContaining(found), finding: { severity } });
  expect(only?.finding?.message).toMatch(/: \w.*\.$/);
  expect(only?.finding?.remedy).toMatch(/^.*\.$/);
});
