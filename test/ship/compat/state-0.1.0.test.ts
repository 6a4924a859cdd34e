// An update of Plexus takes over a node whose state was written by Plexus 0.1.0 (commit 3deb2f5): the journal entry of an attached pod,
// and an entry whose DEL was given up, in the directory that 0.1.0 called `left-behind`.

import { cpSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { NodeStateReader } from "../../../host/node/state/node-state-reader.ts";
import { bridgeStep, missingForMixed, mixedInstallation } from "../../lab/mixed-network.ts";
import { openStage, type Stage } from "../../lab/stage.ts";
import { filesBelow } from "../../lab/namespaces.ts";
import { installRecorder, type RecorderPlugin } from "../../lab/recorder.ts";

const written = fileURLToPath(new URL("state-0.1.0", import.meta.url));
const kept = "journal/kept@cluster@eth0";
const stuck = "left-behind/1@stuck@cluster@eth0";

/** Puts the state where this stage looks for it, with the paths and the boot id of this machine. */
function takeOver(stage: Stage): void {
  const state = stage.plexus.state("cni");
  for (const name of ["journal", "left-behind", "results"]) cpSync(join(written, name), join(state, name), { recursive: true });
  cpSync(join(written, "leases"), stage.leases, { recursive: true });
  const bootId = readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim();
  for (const name of [kept, stuck]) {
    const text = readFileSync(join(state, name), "utf8");
    writeFileSync(join(state, name), text.replaceAll("@CNI_PATH@", stage.plexus.cniPath).replaceAll("@BOOT_ID@", bootId));
  }
}

describe.skipIf(missingForMixed("taking over the state of 0.1.0"))("the state that Plexus 0.1.0 wrote", () => {
  let stage: Stage;
  let recorder: RecorderPlugin;
  beforeEach(() => {
    stage = openStage(mixedInstallation);
    recorder = installRecorder(stage.plexus.cniPath, "recorder");
    takeOver(stage);
  });
  afterEach(() => stage.dispose());

  const config = (): object => stage.network([bridgeStep(), { type: "recorder" }], { del: { tries: 3, seconds: 3600 } });

  test("is shown by plexusctl and the daemon's status: attached pods and abandoned attachments", async () => {
    const state = await new NodeStateReader(stage.plexus.state("cni"), stage.leases).read();
    expect(state.attachments.map(({ container, state: each }) => [container, each])).toEqual([
      ["kept", "attached"],
      ["stuck", "abandoned"],
    ]);
    expect([state.journal.entries, state.abandoned.entries, state.problems]).toEqual([1, 1, []]);
  });

  test("DEL of a pod that 0.1.0 attached undoes it from the journal: its plugins, its lease, its entry", async () => {
    await stage.succeed("DEL", { config: config(), containerId: "kept", pod: "" });
    const [call] = recorder.calls();
    expect([call?.env["CNI_COMMAND"], call?.env["CNI_CONTAINERID"]]).toEqual(["DEL", "kept"]);
    expect(JSON.parse(call?.stdin ?? "")).toMatchObject({ prevResult: { ips: [{ address: "10.10.0.2/24" }] } });
    expect(stage.left()).toMatchObject({ leases: ["pods/10.10.0.3"], state: [stuck] });
  });

  test("a DEL of the container, and GC, try again to undo an attachment that 0.1.0 gave up", async () => {
    recorder.script("DEL", { stdout: '{"cniVersion":"1.0.0","code":105,"msg":"the backend is gone"}', exit: 1 });
    const tried = await stage.call("DEL", { config: config(), containerId: "stuck", pod: "" });
    expect([tried.status, tried.stderr]).toEqual([0, expect.stringMatching(/still abandoned: .*left-behind\/1@stuck/)]);
    recorder.script("DEL", { stdout: "", exit: 0 });
    const collected = await stage.request({
      verb: "GC",
      config: { ...config(), cniVersion: "1.1.0", "cni.dev/valid-attachments": [{ containerID: "kept", ifname: "eth0" }] },
    });
    expect(collected.status).toBe(0);
    expect(existsSync(join(stage.plexus.state("cni"), stuck))).toBe(false);
    expect(filesBelow(stage.plexus.state("cni"))).toContain(kept);
    expect(stage.left().leases).toEqual(["pods/10.10.0.2"]);
  });

  test("an attachment that is given up now is kept in `abandoned`, beside the records of 0.1.0", async () => {
    recorder.script("DEL", { stdout: '{"cniVersion":"1.0.0","code":105,"msg":"the backend is gone"}', exit: 1 });
    const once = stage.network([bridgeStep(), { type: "recorder" }], { del: { tries: 1, seconds: 3600 } });
    await stage.call("DEL", { config: once, containerId: "kept", pod: "" });
    expect(stage.left().state).toEqual(["abandoned/1@kept@cluster@eth0", stuck]);
  });
});
