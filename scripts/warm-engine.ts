// Makes the one-shot engine's code cache: runs calls of every verb through the built shim, engine and delegates, and stores the functions
// that V8 compiled. Needs no privileges: the chains consist of delegates and of a shell script that calls its IPAM plugin like `bridge`.

import { spawnSync, type SpawnSyncReturns } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, statSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, resolve } from "node:path";

import { buildShim, type BuiltProgram } from "../host/shim/build.ts";
import { encodeFrame, frameTypes } from "../host/sandbox/process/frames.ts";
import { guestProgram } from "../host/sandbox/process/sandbox-process.ts";
import { cacheDirectory } from "../host/node/install/code-cache-names.ts";
import { guestBootstrap, oneShotBootstrap } from "./one-shot-scripts.ts";

/** The build whose code cache is made. */
export interface WarmEngineInit {
  /** The build's directory, with `plexus`, `engine/` and `delegates/`. */
  readonly outDir: string;
}

/** Code 11 of the CNI specification: "Try again later". */
const tryAgainLater = '"code":11,';
const maxRepetitions = 5;

/**
 * Runs the calls one after another; each adds to the cache. Rejects if a call ends with an unexpected status. */
export async function warmEngine({ outDir }: WarmEngineInit): Promise<void> {
  const built = resolve(outDir);
  mkdirSync(join(built, "engine", cacheDirectory), { recursive: true });
  warmGuest(join(built, "engine"));
  const directory = mkdtempSync(join(tmpdir(), "plexus-warm-"));
  try {
    const home = join(directory, "home");
    const cni = join(directory, "cni");
    const manifests = join(directory, "manifests");
    const leases = join(directory, "leases");
    for (const each of [join(home, "bin"), cni, manifests, leases]) mkdirSync(each, { recursive: true });
    const shim = await unprivilegedShim(join(built, "cache", "warm-engine"));
    symlinkSync(process.execPath, join(home, "bin", "node"));
    symlinkSync(join(built, "bin", "plexus-sandbox"), join(home, "bin", "plexus-sandbox"));
    symlinkSync(join(built, "engine"), join(home, "engine"));
    writeFileSync(
      join(home, "plexusd.cjs"),
      oneShotBootstrap({ directory: JSON.stringify(join(built, "engine")), record: true }),
    );
    for (const name of ["ipam-host-local", "status-shaper"])
      symlinkSync(join(built, "delegates", `${name}.wasm`), join(cni, `${name}.wasm`));
    writeFileSync(join(cni, "main"), mainPlugin, { mode: 0o755 });
    writeManifests(manifests);
    const grants = { "ipam-host-local": { log: {}, leases: { directories: [leases] }, resolver: {} } };
    const ownUid = [built, realpathSync(process.execPath)].every(isOpenToAll) ? {} : { sandboxUids: "same" };
    const wasm = { grants, ...ownUid };
    const config = {
      cniVersion: "1.0.0",
      name: "warm",
      type: "plexus",
      cniDir: join(directory, "state"),
      runDir: join(directory, "run"),
      manifests,
      definitions: { rules: [{ namespaces: ["shop"], native: { main: {} }, grants }] },
      wasm,
      delegates: [network("pods", 0)],
    };
    const call = (verb: string, pod: string, more: object = {}, expected = 0): void => {
      const env = {
        PATH: process.env["PATH"] ?? "/usr/bin:/bin",
        PLEXUS_HOME: home,
        PLEXUS_SOCKET: join(directory, "none"),
        CNI_COMMAND: verb,
        CNI_PATH: cni,
        CNI_CONTAINERID: pod,
        CNI_NETNS: "/proc/self/ns/net",
        CNI_IFNAME: "eth0",
        CNI_ARGS: `IgnoreUnknown=1;K8S_POD_NAMESPACE=shop;K8S_POD_NAME=${pod};K8S_POD_UID=uid-of-${pod}`,
      };
      const input = JSON.stringify({ ...config, ...more });
      const once = (): SpawnSyncReturns<string> => spawnSync(shim.path, [], { env, input, encoding: "utf8", timeout: 600_000 });
      let ended = once();
      // A busy machine may start no sandbox process in time; such an answer says that the call can be repeated.
      for (let repeated = 0; repeated < maxRepetitions && ended.stdout.includes(tryAgainLater); repeated++) ended = once();
      if (ended.status !== expected)
        throw new Error(
          `the engine's code cache cannot be made: ${verb} of ${pod} ended with ${ended.status}: ${ended.stdout}${ended.stderr}`,
        );
    };
    call("VERSION", "web");
    call("ADD", "web");
    call("ADD", "nowhere", {}, 1);
    call("CHECK", "web");
    call("DEL", "web");
    // The code of the isolation that is not the default.
    for (const verb of ["ADD", "DEL"]) call(verb, "web", { wasm: { ...wasm, isolation: "in-process" } });
    call("STATUS", "web", { cniVersion: "1.1.0" });
    call("GC", "web", { cniVersion: "1.1.0", "cni.dev/valid-attachments": [] });
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Lets a sandbox process examine a component, outside of a jail and of Node's permission model, which would refuse to write the cache. */
function warmGuest(directory: string): void {
  const program = join(directory, "guest-record.cjs");
  writeFileSync(program, guestBootstrap({ directory: "__dirname", record: true }));
  const { command } = guestProgram({ node: process.execPath, entry: program, readable: directory });
  const [node, ...args] = command.filter((each) => !each.startsWith("--permission") && !each.startsWith("--allow-fs-read"));
  const input = encodeFrame(frameTypes.WARM, 0, {});
  const { status, stderr } = spawnSync(node ?? "", [...args, "256", "10000"], { input, env: {}, encoding: "buffer" });
  rmSync(program);
  if (status !== 0) throw new Error(`the sandbox process' code cache cannot be made: ${stderr}`);
}

/**
 * The shim for a builder without privileges, which can mount no tmpfs for nested calls. It stays in the directory, so that the next build need not
 * compile the shim again.
 */
async function unprivilegedShim(directory: string): Promise<BuiltProgram> {
  const nestedCalls = join(directory, "nested-calls");
  mkdirSync(nestedCalls, { recursive: true });
  return buildShim({ outDir: directory, definitions: [`NESTED_CALLS_PLACE="${nestedCalls}"`] });
}

/** Whether any uid may pass all directories above `path`. Uids of sandbox processes may not enter a clone in /root, for example. */
function isOpenToAll(path: string): boolean {
  const above = dirname(path);
  return (statSync(above).mode & 0o001) !== 0 && (above === path || isOpenToAll(above));
}

/** A native plugin that calls its `ipam.type` with its own stdin, and returns the IPAM plugin's result. */
const mainPlugin = `#!/bin/sh
exec "\${CNI_PATH%%:*}/ipam-host-local"
`;

/** A network configuration list with a native step, its nested call, and a WASM step. */
function network(name: string, n: number): object {
  const ipam = { type: "ipam-host-local", subnet: `10.${n}.0.0/24` };
  return {
    cniVersion: "1.0.0",
    name,
    plugins: [
      { type: "main", ipam },
      { type: "status-shaper", dns: { nameservers: ["10.0.0.1"] } },
    ],
  };
}

function writeManifests(directory: string): void {
  const pod = (name: string, selection: string): void =>
    writeFileSync(
      join(directory, `pod-${name}.json`),
      JSON.stringify({
        apiVersion: "v1",
        kind: "Pod",
        metadata: { name, namespace: "shop", uid: `uid-of-${name}`, annotations: { "k8s.v1.cni.cncf.io/networks": selection } },
      }),
    );
  pod("web", '[{"name": "storage", "interface": "data0"}, {"name": "uplink"}]');
  pod("nowhere", "storage, shop/nowhere@net7");
  for (const [index, name] of ["storage", "uplink"].entries()) {
    const metadata = { name, namespace: "shop" };
    const spec = { config: JSON.stringify(network(name, index + 1)) };
    const definition = { apiVersion: "k8s.cni.cncf.io/v1", kind: "NetworkAttachmentDefinition", metadata, spec };
    writeFileSync(join(directory, `network-${name}.json`), JSON.stringify(definition));
  }
}
