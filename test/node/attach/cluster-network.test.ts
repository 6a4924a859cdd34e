// The cluster's default network from files that a network agent (such as flannel's) writes, through the installed binary.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { callsInOrder, installRecorders, type RecorderPlugin } from "../../lab/recorder.ts";
import { manifestsIn } from "../../lab/manifests.ts";
import { missingForMixed, mixedInstallation } from "../../lab/mixed-network.ts";
import { nothing, openStage, type Attaching, type Stage } from "../../lab/stage.ts";

/** The `runtimeConfig` of every recorded call. */
function runtimeConfigs(recorder: RecorderPlugin): readonly unknown[] {
  return recorder.calls().map(({ stdin }) => (JSON.parse(stdin) as { readonly runtimeConfig?: unknown }).runtimeConfig);
}

describe.skipIf(missingForMixed("the cluster's network"))("the cluster's default network", () => {
  let stage: Stage;
  let recorders: Record<"flannel" | "calico" | "one", RecorderPlugin>;
  let directory: string;
  beforeEach(() => {
    stage = openStage(mixedInstallation);
    const { cniPath } = stage.plexus;
    recorders = installRecorders(cniPath, "flannel", "calico", "one");
    directory = join(stage.plexus.directory, "agents.d");
    mkdirSync(directory);
  });
  afterEach(() => stage.dispose());

  const attaching = (containerId: string, more: object = {}): Attaching => ({
    config: stage.host({ clusterNetwork: directory, ...more }),
    containerId,
    pod: stage.pod(),
  });
  const agentWrites = (plugins: readonly object[]): void => {
    writeFileSync(join(directory, "10-agent.conflist"), JSON.stringify({ cniVersion: "1.0.0", name: "agent", plugins }));
  };
  const executed = (): readonly string[] =>
    callsInOrder(Object.values(recorders)).map(({ env, plugin }) => `${env["CNI_COMMAND"]} ${plugin} ${env["CNI_CONTAINERID"]}`);

  test("N1-60, MO-21: is in a directory apart from the runtime's, and a change applies to the pods of later ADDs only", async () => {
    const [old, fresh] = [attaching("old"), attaching("fresh")];
    expect((await stage.call("ADD", old)).status).toBe(1);
    agentWrites([{ type: "flannel" }]);
    await stage.succeed("ADD", old);
    agentWrites([{ type: "calico" }]);
    await stage.succeed("ADD", fresh);
    for (const each of [old, fresh]) await stage.succeed("CHECK", each);
    for (const each of [old, fresh]) await stage.succeed("DEL", each);
    expect(executed()).toEqual([
      "ADD flannel old",
      "ADD calico fresh",
      "CHECK flannel old",
      "CHECK calico fresh",
      "DEL flannel old",
      "DEL calico fresh",
    ]);
    expect(stage.left()).toEqual(nothing);
  });

  test.each([
    ["agents.d", /clusterNetwork: directory .*agents\.d has no configuration/],
    ["absent.conflist", /clusterNetwork: there is no .*absent\.conflist/],
  ])(
    "a clusterNetwork of %s, which has no configuration, fails with NETWORK_UNKNOWN and does not blame the pod's annotation",
    async (name, msg) => {
      const answer = await stage.call("ADD", attaching("web", { clusterNetwork: join(stage.plexus.directory, name) }));
      expect(answer.json).toMatchObject({
        code: 7,
        msg: expect.stringMatching(msg),
        details: expect.stringMatching(/^(?!.*pod's annotation).*\[NETWORK_UNKNOWN\]$/),
      });
    },
  );

  test("MC-18, MC-19: gets the runtime's dns by the capability `dns`; a secondary network does not", async () => {
    const dns = { servers: ["10.96.0.10"], searches: ["shop.svc.cluster.local"], options: ["ndots:5"] };
    const capabilities = { dns: true };
    agentWrites([{ type: "flannel", capabilities }, { type: "calico" }]);
    const manifests = manifestsIn(join(stage.plexus.directory, "manifests"));
    manifests.network("one", [{ type: "one", capabilities }]);
    manifests.pod("web", "one");
    const more = { manifests: manifests.directory, capabilities, runtimeConfig: { dns } };
    const web = { ...attaching("web", more), args: manifests.argsOf("web") };
    await stage.succeed("ADD", web);
    await stage.succeed("DEL", { ...web, config: stage.host({ clusterNetwork: directory }) });
    expect(runtimeConfigs(recorders.flannel)).toEqual([{ dns }, { dns }]);
    expect([runtimeConfigs(recorders.calico), runtimeConfigs(recorders.one)]).toEqual([
      [undefined, undefined],
      [undefined, undefined],
    ]);
  });
});
