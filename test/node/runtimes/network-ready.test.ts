// The condition NetworkReady of a real container runtime, which depends on Plexus' configuration and STATUS.

import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { installRecorder } from "../../lab/recorder.ts";
import { openCriNode, type CriNode } from "../../lab/containerd/cri-node.ts";
import { callingStatus, distributions, installation, missingRuntime, type Runtime } from "../../lab/containerd/runtimes.ts";

let node: CriNode;
const open = async (runtime: Runtime): Promise<void> => {
  node = await openCriNode(runtime.path(), installation);
};
/** A configuration whose default network's file does not exist yet, as after a node's start. */
const withAbsentNetwork = (cniVersion: string): object =>
  node.stage.host({ cniVersion, clusterNetwork: join(node.stage.plexus.directory, "late.conflist") });

describe.skipIf(missingRuntime("NetworkReady", callingStatus))(`in ${callingStatus.name}`, () => {
  beforeEach(async () => open(callingStatus));
  afterEach(async () => node.dispose());

  test("RT-04 MO-13 NetworkReady has the result of STATUS", async () => {
    const plugin = installRecorder(node.stage.plexus.cniPath, "watched");
    plugin.script("STATUS", { stdout: '{"cniVersion":"1.1.0","code":50,"msg":"the switch is down"}', exit: 1 });
    const delegates = [{ cniVersion: "1.1.0", name: "pods", plugins: [{ type: "watched" }] }];
    await node.configure(node.stage.host({ cniVersion: "1.1.0", delegates }), "1.1.0");
    expect(await node.networkReady()).toMatchObject({
      status: false,
      reason: "NetworkPluginNotReady",
      message: expect.stringMatching(/the switch is down/),
    });
    plugin.script("STATUS", { stdout: "", exit: 0 });
    expect(await node.networkReady()).toMatchObject({ status: true });
    expect(plugin.calls().every(({ env }) => env["CNI_COMMAND"] === "STATUS")).toBe(true);

    await node.configure(withAbsentNetwork("1.1.0"), "1.1.0");
    expect(await node.networkReady()).toMatchObject({ status: false, message: expect.stringMatching(/late\.conflist/) });
  });
});

describe.skipIf(missingRuntime("NetworkReady", distributions))(`in ${distributions.name}`, () => {
  beforeEach(async () => open(distributions));
  afterEach(async () => node.dispose());

  test("RT-04 without STATUS NetworkReady depends on the configuration file only; RunPodSandbox fails with the reason", async () => {
    await node.configure(withAbsentNetwork("1.0.0"));
    expect(await node.networkReady()).toMatchObject({ status: true });
    await expect(node.run("early")).rejects.toThrow(/late\.conflist/);
  });
});
