// CRI-O's handling of network configurations beside the file that plexusd writes: which file is its default network, DEL by cached configurations, and GC for each
// list of the directory. CRI-O is played by test/lab/surroundings/crio/ocicni.ts, over Go's libcni.

import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { ConfigurationDaemon } from "../../lab/configuration-daemon.ts";
import { missingForMixed, mixedInstallation } from "../../lab/mixed-network.ts";
import { callsInOrder, installRecorder, type RecorderPlugin } from "../../lab/recorder.ts";
import { missing } from "../../lab/requires.ts";
import { openStage, type Stage } from "../../lab/stage.ts";
import { type CrioPod, Ocicni } from "../../lab/surroundings/crio/ocicni.ts";
import { missingOracle } from "../conformance/libcni/oracle.ts";

const within = { interval: 50, timeout: 120_000 };

describe.skipIf(missingForMixed("Plexus beside CRI-O") || missing("Plexus beside CRI-O", missingOracle))("beside CRI-O", () => {
  let stage: Stage;
  let daemon: ConfigurationDaemon;
  let recorders: readonly RecorderPlugin[];
  let crio: Ocicni;
  beforeEach(async () => {
    stage = openStage(mixedInstallation);
    daemon = new ConfigurationDaemon(stage, { readinessTimeoutMs: 500 });
    recorders = ["flannel", "calico"].map((name) => installRecorder(daemon.binDir, name));
    crio = new Ocicni({
      networkDir: daemon.directory,
      pluginDirs: [daemon.binDir],
      cacheDir: join(stage.plexus.directory, "crio-cache"),
      env: { PLEXUS_SOCKET: join(stage.plexus.directory, "daemon", "plexus.sock"), PLEXUS_HOME: "/nowhere" },
    });
    daemon.put("10-flannel.conflist", "flannel");
    await daemon.start();
    await vi.waitUntil(() => defaultFile() === daemon.written, within);
  });
  afterEach(async () => {
    await daemon.stop();
    stage.dispose();
  });

  const defaultFile = (): string | undefined => [...crio.networks().values()][0];
  /** The file in which the daemon keeps its configuration for its own work. */
  const keptFile = (): string => join(stage.plexus.directory, "state", "cni", "configurations", daemon.list().name);
  const pod = (id: string): CrioPod => ({ id, netns: stage.pod().path });
  const executed = (): readonly string[] =>
    callsInOrder([...recorders])
      .filter(({ env }) => env["CNI_COMMAND"] !== "VERSION")
      .map(({ env, plugin }) => [env["CNI_COMMAND"], plugin, env["CNI_CONTAINERID"]].filter(Boolean).join(" "));

  test("the default network is Plexus' list; STATUS, ADD, CHECK and DEL reach the network's plugins once", () => {
    expect(crio.status()).toEqual({});
    const a = pod("a");
    expect(crio.setUpPod(a).error).toBeUndefined();
    expect(crio.checkPod(a)).toEqual({});
    expect(crio.tearDownPod(a)).toEqual({});
    expect(executed()).toEqual(["ADD flannel a", "CHECK flannel a", "DEL flannel a"]);
  });

  test("a pod of a replaced default network is deleted by its own plugins: CRI-O sends the cached configuration", async () => {
    const [a, b] = [pod("a"), pod("b")];
    expect(crio.setUpPod(a).error).toBeUndefined();
    rmSync(join(daemon.directory, "10-flannel.conflist"));
    daemon.put("10-calico.conflist", "calico");
    await expect.poll(() => daemon.list().plugins[0]?.["clusterNetwork"], within).toContain("10-calico.conflist");
    expect(crio.setUpPod(b).error).toBeUndefined();
    const file = keptFile();
    for (const each of [b, a]) expect(crio.tearDownPod(each)).toEqual({});
    expect(executed()).toEqual(["ADD flannel a", "ADD calico b", "DEL calico b", "DEL flannel a"]);
    // A daemon that ends writes what it has not yet written.
    await daemon.stop();
    expect(readFileSync(file, "utf8")).toContain("10-calico.conflist");
  });

  test("GC for each list of the directory deletes no living pod, and deletes the pod that CRI-O lost", () => {
    const [living, lost] = [pod("living"), pod("lost")];
    for (const each of [living, lost]) expect(crio.setUpPod(each).error).toBeUndefined();
    expect(crio.collectGarbage([living])).toEqual({});
    const deleted = executed().filter((call) => call.startsWith("DEL"));
    expect(deleted).toEqual(["DEL flannel lost"]);
    expect(crio.checkPod(living)).toEqual({});
  });

  test("without the shim CRI-O takes the network's own list at once, and Plexus' again once the shim is back", async () => {
    const [direct, plexus] = [pod("direct"), pod("plexus")];
    const [shim, away] = [join(daemon.binDir, "plexus"), join(daemon.binDir, "away")];
    renameSync(shim, away);
    expect(defaultFile()).toBe(join(daemon.directory, "10-flannel.conflist"));
    expect(crio.setUpPod(direct).error).toBeUndefined();
    await expect.poll(() => existsSync(daemon.written), within).toBe(false);
    renameSync(away, shim);
    await expect.poll(() => defaultFile(), within).toBe(daemon.written);
    expect(crio.setUpPod(plexus).error).toBeUndefined();
    for (const each of [direct, plexus]) expect(crio.tearDownPod(each)).toEqual({});
    expect(executed()).toEqual(["ADD flannel direct", "ADD flannel plexus", "DEL flannel direct", "DEL flannel plexus"]);
  });

  test("a broken file before Plexus' is passed over by both", () => {
    writeFileSync(join(daemon.directory, "00-broken.conflist"), "{");
    expect(defaultFile()).toBe(daemon.written);
    expect(crio.setUpPod(pod("a")).error).toBeUndefined();
    expect(executed()).toEqual(["ADD flannel a"]);
  });
});
