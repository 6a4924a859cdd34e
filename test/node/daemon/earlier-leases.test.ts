// Leases that an earlier ADD left and whose attachment no round ever saw (FI-16): the DEL came before the daemon's start, during its restart, or
// between two rounds, or the journal was lost. A repeated DEL frees such a lease, and so does the next boot. The report names all others.

import { existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, utimesSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { bridgeStep, missingForMixed } from "../../lab/mixed-network.ts";
import { leases } from "../../lab/namespaces.ts";
import { ReconcileNode, shownFindings } from "../../lab/reconcile-node.ts";
import { missing, referencePlugin, referencePlugins } from "../../lab/requires.ts";
import type { Attaching, Stage } from "../../lab/stage.ts";

const missingDevices = missing("leases that host-device left earlier", referencePlugins("host-device"));

/** A container ID as containerd, CRI-O and podman make them. */
const containerId = "4f5e".repeat(16);

describe.skipIf(missingForMixed("leases of an earlier ADD"))("a lease that an earlier ADD left", () => {
  let node: ReconcileNode;
  let stage: Stage;
  beforeEach(async () => {
    node = new ReconcileNode();
    ({ stage } = node);
    await node.start();
  });
  afterEach(() => node.dispose());

  const hostLocal = (): object => ({ type: "host-local", subnet: "10.10.0.0/24", dataDir: stage.leases });
  const native = (): object => stage.network([bridgeStep({ ipam: hostLocal() })]);

  /** Writes a lease of an attachment that no journal has. An hour old, so that it is older than each ADD of the test. */
  function lease(address: string, content = `${containerId}\r\neth0`): string {
    const path = join(stage.leases, "pods", address);
    mkdirSync(join(stage.leases, "pods"), { recursive: true });
    writeFileSync(path, content);
    const anHourAgo = Date.now() / 1000 - 3600;
    utimesSync(path, anHourAgo, anHourAgo);
    return path;
  }

  /** An ADD and a DEL between two rounds: the daemon never lists the journal while it has the attachment. */
  async function attachBetweenRounds(): Promise<void> {
    const each: Attaching = { config: native(), containerId: "short", pod: stage.pod() };
    await node.succeed("ADD", each);
    await node.succeed("DEL", each);
  }

  /** Makes the daemon's record name an earlier boot for the lease, and the lease older than this boot. */
  function reboot(path: string, owner = `${containerId} eth0`): void {
    utimesSync(path, 978_307_200, 978_307_200);
    writeFileSync(join(node.state, "unknown-leases"), `11111111-2222-3333-4444-555555555555 978307200000 ${owner} ${path}\n`);
  }

  /** Attaches a pod with host-device. Journal and cache lose the attachment, as if an earlier DEL had skipped the IPAM plugin. */
  async function attached(): Promise<Attaching & { readonly pod: ReturnType<Stage["pod"]> }> {
    symlinkSync(referencePlugin("host-device") ?? "", join(stage.plexus.cniPath, "host-device"));
    stage.node.exec(["ip", "link", "add", "dev0", "type", "veth", "peer", "name", "dev1"]);
    const config = stage.network([{ type: "host-device", device: "dev0", ipam: hostLocal() }]);
    const each = { config, containerId, pod: stage.pod() };
    await node.succeed("ADD", each);
    expect(leases(stage.leases)).toEqual(["pods/10.10.0.2"]);
    for (const part of ["journal", "results"]) rmSync(join(node.state, part), { recursive: true, force: true });
    return each;
  }

  test("FI-16: is reported with its owner and a remedy, in a directory whose attachments came and went between two rounds", async () => {
    await node.round();
    await attachBetweenRounds();
    const path = lease("10.10.0.77");
    // A restart: nothing in the daemon's memory names the directory.
    await node.start();
    const [finding, ...others] = await node.settle();
    expect([finding, others]).toMatchObject([{ kind: "lease", id: path, why: "not-ours", handling: "reported" }, []]);
    expect(finding?.note).toBe(
      `container ${containerId}, eth0 has it. If no runtime of this node knows the container, remove the file; the next boot frees it, too`,
    );
  });

  test("FI-16: whose owner is no runtime's container ID is reported, and no boot frees it", async () => {
    await attachBetweenRounds();
    const path = lease("10.10.0.77", "reserved");
    const [finding] = await node.settle();
    expect(finding?.note).toBe("its owner is reserved. If nothing needs the address, remove the file");
    reboot(path, "reserved ");
    await node.start();
    expect(shownFindings(await node.settle())).toEqual(["lease not-ours reported"]);
    expect(existsSync(path)).toBe(true);
  });

  test("FI-16: is freed in the next boot, without an agent, and a lease that is written anew is kept", async () => {
    await attachBetweenRounds();
    const path = lease("10.10.0.77");
    expect(shownFindings(await node.settle())).toEqual(["lease not-ours reported"]);
    // Another round of the same boot changes nothing.
    await node.start();
    expect(shownFindings(await node.settle())).toEqual(["lease not-ours reported"]);
    reboot(path);
    // The container of another runtime attached again in this boot, with the same address.
    writeFileSync(path, `${containerId}\r\neth0`);
    await node.start();
    expect(shownFindings(await node.settle())).toEqual(["lease not-ours reported"]);
    reboot(path);
    await node.start({ dryRun: true });
    expect(shownFindings((await node.round()).findings)).toEqual(["lease earlier-boot dry-run"]);
    await node.start();
    expect(shownFindings((await node.round()).findings)).toEqual(["lease earlier-boot cleaned"]);
    expect([leases(stage.leases), await node.settle()]).toEqual([[], []]);
  });

  test("FI-16: is kept in another boot while the clock says that it was written in this one", async () => {
    await attachBetweenRounds();
    const path = lease("10.10.0.77");
    await node.settle();
    // A container manager may show a boot ID of its own, so the lease's time must agree with it.
    const record = join(node.state, "unknown-leases");
    const now = Date.now() / 1000;
    utimesSync(path, now, now);
    await node.settle();
    writeFileSync(record, readFileSync(record, "utf8").replace(/^\S+/u, "11111111-2222-3333-4444-555555555555"));
    await node.start();
    expect(shownFindings(await node.settle())).toEqual(["lease not-ours reported"]);
    expect(existsSync(path)).toBe(true);
  });

  describe.skipIf(missingDevices)("of host-device, with the attachment lost to the journal", () => {
    test("FI-16: is freed by a repeated DEL with an empty CNI_NETNS, for all interfaces of the container, and no other lease", async () => {
      const each = await attached();
      lease("10.10.0.8", `${containerId}\r\nnet1`);
      const others = [lease("10.10.0.9", "other\r\neth0"), lease("10.10.0.10", `${containerId}0\r\neth0`)];
      each.pod.dispose();
      await node.start();
      expect((await node.call("DEL", { ...each, pod: "" })).status).toBe(0);
      expect(leases(stage.leases)).toEqual(["pods/10.10.0.10", "pods/10.10.0.9"]);
      expect(others.every((path) => existsSync(path))).toBe(true);
      // The next DEL has nothing left to do.
      await node.succeed("DEL", { ...each, pod: "" });
    });

    test("FI-16: is kept by a DEL whose namespace lives, unless the plugin frees it", async () => {
      const each = await attached();
      lease("10.10.0.8", `${containerId}\r\nnet1`);
      await node.call("DEL", each);
      expect(leases(stage.leases)).toContain("pods/10.10.0.8");
    });
  });
});
