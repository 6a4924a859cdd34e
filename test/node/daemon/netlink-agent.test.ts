// An agent as in a pod: uid 0 with CAP_NET_ADMIN alone, in the node's network namespace, with /proc/sys read-only. It undoes what components did;
// calls of the runtime undo the rest.

import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import type { Finding } from "../../../host/node/reconcile/finding.ts";
import type { TestAgent } from "../../lab/agent.ts";
import { leases } from "../../lab/namespaces.ts";
import { installRecorder } from "../../lab/recorder.ts";
import { command, missing } from "../../lab/requires.ts";
import { wasmOnlyGrants } from "../../lab/wasm-only.ts";
import { bridgeStep, missingForMixed, mixedInstallation, mixedNetwork } from "../../lab/mixed-network.ts";
import { ReconcileNode } from "../../lab/reconcile-node.ts";
import type { Attaching, Stage } from "../../lab/stage.ts";

type Pod = ReturnType<Stage["pod"]>;
type Attached = Attaching & { readonly pod: Pod };

const noFiles = { leases: [], state: [], run: [] };
const unable = missing(
  "an agent with one capability",
  command("setpriv", "--version"),
  command("unshare", "--version"),
  command("nft", "--version"),
);

/** Findings as `kind why handling: note`. */
const shown = (findings: readonly Finding[]): readonly string[] =>
  findings.map(({ kind, why, handling, note }) =>
    [`${kind} ${why} ${handling}`, ...(note === undefined ? [] : [note])].join(": "),
  );

const waitsForNative = (types: string): string =>
  `attachment namespace-gone waiting: the agent runs no native plugins, and the DEL needs ${types}`;

describe.skipIf(missingForMixed("an agent with one capability") || unable)("an agent with CAP_NET_ADMIN alone", () => {
  let node: ReconcileNode;
  let stage: Stage;
  beforeEach(async () => {
    node = new ReconcileNode({ ...mixedInstallation, components: [...mixedInstallation.components, "bridge-adapter"] });
    ({ stage } = node);
    await node.start();
  });
  afterEach(() => node.dispose());

  /** Starts the agent with these capabilities, as setpriv(1) names them. */
  async function startConfined(capabilities = "+net_admin"): Promise<TestAgent> {
    const path = join(stage.plexus.directory, "confined");
    const inside = [
      "mount --bind /proc/sys /proc/sys",
      "mount -o remount,bind,ro /proc/sys",
      `exec setpriv --bounding-set=-all,${capabilities} --inh-caps=-all --no-new-privs "$@"`,
    ].join(" && ");
    // `slave` is what Kubernetes calls HostToContainer.
    writeFileSync(
      path,
      `#!/bin/sh\nexec nsenter --net=${stage.node.path} -- unshare --mount --propagation slave -- sh -c '${inside}' sh ${join(stage.plexus.cniPath, "plexus")} "$@"\n`,
      { mode: 0o755 },
    );
    return node.startAgent({}, path, ["--netlink-only"]);
  }

  const components = (): object =>
    stage.network(
      [
        {
          type: "bridge-adapter",
          bridge: "br0",
          isDefaultGateway: true,
          ipMasq: true,
          ipam: { type: "ipam-host-local", subnet: "10.10.0.0/24" },
        },
      ],
      { wasm: { grants: wasmOnlyGrants(["br0"], stage.leases) } },
    );
  async function attached(containerId: string, config: object): Promise<Attached> {
    const each = { config, containerId, pod: stage.pod() };
    await node.succeed("ADD", each);
    return each;
  }
  async function deleteNamespaces(...pods: readonly Pod[]): Promise<void> {
    const before = stage.left().links.length;
    for (const pod of pods) pod.dispose();
    await expect.poll(() => stage.left().links.length).toBe(before - pods.length);
  }

  test("has no other capability, and undoes an attachment of components: links, addresses, leases, firewall rules", async () => {
    const agent = await startConfined();
    expect(readFileSync(`/proc/${agent.pid}/status`, "utf8")).toMatch(/^CapEff:\s+0000000000001000$/m);
    const dead = await attached("dead", components());
    const live = await attached("live", components());
    expect(shown((await node.round()).findings)).toEqual([]);
    await deleteNamespaces(dead.pod);
    // A round sees that the namespace is gone, and a later one that it still is.
    await expect.poll(async () => shown((await node.round()).findings)).toEqual(["attachment namespace-gone cleaned"]);
    expect(leases(stage.leases)).toEqual(["pods/10.10.0.3"]);
    await node.succeed("CHECK", live);
    const rules = (): string => stage.node.exec(["nft", "list", "ruleset"]).stdout;
    expect([rules().includes("10.10.0.2"), rules().includes("10.10.0.3")]).toEqual([false, true]);
    node.reboot("live");
    expect(shown((await node.round()).findings)).toEqual(["attachment earlier-boot cleaned"]);
    expect(rules()).not.toContain("10.10.0.3");
    expect(node.left()).toEqual(noFiles);
  });

  test("is needed: without the capability the attachment waits for a call, whose shim undoes it", async () => {
    await startConfined("+net_bind_service");
    await attached("old", components());
    node.reboot();
    expect(shown((await node.round()).findings)).toEqual([
      expect.stringMatching(/^attachment earlier-boot failed: .*EPERM, operation not permitted$/),
    ]);
    expect(node.daemon.reconciler.waiting).toBe(1);
    const next = await attached("next", components());
    expect(node.daemon.reconciler.waiting).toBe(0);
    expect(leases(stage.leases)).toEqual(["pods/10.10.0.3"]);
    await node.succeed("DEL", next);
    expect(node.left()).toEqual(noFiles);
  });

  test("keeps attachments with native plugins, of which each ADD or DEL undoes one, and STATUS and CHECK none", async () => {
    await startConfined();
    const dead = [await attached("a", mixedNetwork(stage)), await attached("b", mixedNetwork(stage))];
    const live = await attached("live", mixedNetwork(stage));
    expect(shown((await node.round()).findings)).toEqual([]);
    await deleteNamespaces(...dead.map(({ pod }) => pod));
    const waits = waitsForNative("bridge, tuning");
    await expect.poll(async () => shown((await node.round()).findings)).toEqual([waits, waits]);
    expect(node.daemon.reconciler.sentence).toContain(
      "2 wait for a call of the runtime, because the agent runs no native plugins",
    );
    const status = { config: { ...live.config, cniVersion: "1.1.0" }, containerId: "", pod: "" };
    await node.call("STATUS", status);
    await node.succeed("CHECK", live);
    expect([node.daemon.reconciler.waiting, leases(stage.leases).length]).toEqual([2, 3]);
    const next = await attached("next", mixedNetwork(stage));
    expect([node.daemon.reconciler.waiting, leases(stage.leases).length]).toEqual([1, 3]);
    await node.succeed("DEL", next);
    expect([node.daemon.reconciler.waiting, leases(stage.leases)]).toEqual([0, ["pods/10.10.0.4"]]);
    await node.succeed("DEL", live);
    expect(await node.settle()).toEqual([]);
    expect(node.left()).toEqual(noFiles);
  });

  test("a native plugin that hangs delays one call by 2 s at most, then waits for the pause of failed findings", async () => {
    await startConfined();
    const recorder = installRecorder(stage.plexus.cniPath, "recorder");
    recorder.script("ADD", { stdout: '{"cniVersion":"1.0.0","ips":[{"address":"10.0.0.1/24"}]}' });
    const stuck = { config: stage.network([{ type: "recorder" }]), containerId: "stuck", pod: stage.pod() };
    await node.succeed("ADD", stuck);
    expect(shown((await node.round()).findings)).toEqual([]);
    stuck.pod.dispose();
    await expect.poll(async () => shown((await node.round()).findings)).toEqual([waitsForNative("recorder")]);
    // The plugin never ends: an ADD that waited for it would never be answered.
    recorder.hold("DEL");
    const other = { config: stage.network([bridgeStep()]), containerId: "other", pod: stage.pod() };
    const delayed = await node.succeed("ADD", other);
    expect(delayed.ms).toBeGreaterThan(1500);
    expect(shown((await node.round()).findings)).toEqual(["attachment namespace-gone paused"]);
    await node.succeed("DEL", other);
    expect(recorder.calls().filter(({ env }) => env["CNI_COMMAND"] === "DEL")).toHaveLength(1);
  });
});
