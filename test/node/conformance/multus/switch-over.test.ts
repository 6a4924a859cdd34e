// Switching from Multus with running pods: Plexus detaches pods that Multus attached, using Multus' state (checklist
// sections 3 and 10).

import { copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, it } from "vitest";

import { isPermanent } from "../../../lab/stage.ts";
import { createPodNamespace, filesBelow, type PodNamespace } from "../../../lab/namespaces.ts";
import type { RecordedCall } from "../../../lab/recorder.ts";
import { iproute2, missing, privateNamespaces } from "../../../lab/requires.ts";
import { multusBinary, realMultus } from "../../../lab/multus/multus-binary.ts";
import { openRig, stdinOf, web, type Rig } from "../../../lab/multus/rig.ts";

const list = {
  cniVersion: "1.0.0",
  name: "cbr0",
  plugins: [{ type: "flannel", capabilities: { portMappings: true } }, { type: "tuning" }],
};
const single = { cniVersion: "0.4.0", name: "second", type: "macvlan", mode: "bridge" };

/** A plugin's call without the container's own values, so that the calls of two containers can be compared. */
function withoutContainerValues({ env, stdin }: RecordedCall): unknown {
  const { CNI_COMMAND, CNI_IFNAME, CNI_NETNS, CNI_ARGS } = env;
  const args = CNI_ARGS?.split(";")
    .toSorted()
    .filter((pair) => !pair.startsWith("K8S_POD_INFRA_CONTAINER_ID"));
  return { verb: CNI_COMMAND, ifname: CNI_IFNAME, netns: CNI_NETNS, args, stdin: JSON.parse(stdin) as unknown };
}

/** Files below a directory that belong to containers, not to the node. */
function containerFiles(directory: string): readonly string[] {
  return filesBelow(directory).filter((path) => !isPermanent(path));
}

describe.skipIf(missing("switching from Multus", privateNamespaces, iproute2, realMultus))("pods that Multus attached", () => {
  let rig: Rig;
  let pod: PodNamespace;
  beforeEach(() => {
    rig = openRig("flannel", "macvlan", "tuning");
    copyFileSync(multusBinary() ?? "", join(rig.plexus.cniPath, "multus"));
    pod = createPodNamespace();
    const result = {
      cniVersion: "1.0.0",
      interfaces: [{ name: "eth0", sandbox: pod.path }],
      ips: [{ address: "10.1.0.2/24", interface: 0 }],
    };
    rig.plugin("flannel").script("ADD", { stdout: JSON.stringify(result) });
  });
  afterEach(() => {
    pod.dispose();
    rig.dispose();
  });

  const runtimeConfig = { portMappings: [{ hostPort: 80, containerPort: 8080, protocol: "tcp" }] };
  const multusState = (): string => rig.plexus.state("multus");
  const configOf = (more: object = {}): Record<string, unknown> => {
    const { manifests: _, runDir: __, multusCniDir: ___, ...common } = rig.config({ delegates: [list, single], ...more });
    return { ...common, cniDir: multusState(), binDir: rig.plexus.cniPath, capabilities: { portMappings: true }, runtimeConfig };
  };
  /** Multus' configuration under Plexus' name, with the given cniDir. */
  const plexusConfig = (cniDir: string): Record<string, unknown> => ({
    ...configOf(),
    cniDir,
    runDir: join(rig.plexus.directory, "run"),
    multusCniDir: multusState(),
  });

  async function addWithMultus(containerId: string): Promise<void> {
    await rig.succeed("ADD", configOf(), { as: "multus", containerId, netns: pod.path });
    expect(rig.seen()).toEqual(["ADD flannel eth0", "ADD tuning eth0", "ADD macvlan net1"]);
  }

  it.each(["a separate directory", "Multus' directory"])(
    "get from Plexus, with %s, the same DEL as from Multus, and their state is removed",
    async (where) => {
      await addWithMultus("ctr-1");
      await rig.succeed("DEL", configOf(), { as: "multus", containerId: "ctr-1", netns: pod.path });
      const byMultus = rig.calls();
      expect(byMultus.map(({ env }) => env["CNI_IFNAME"])).toEqual(["net1", "eth0", "eth0"]);

      await addWithMultus("ctr-2");
      const cniDir = where === "Multus' directory" ? multusState() : rig.plexus.state("cni");
      const { stderr } = await rig.succeed("DEL", plexusConfig(cniDir), { containerId: "ctr-2", netns: pod.path });
      expect(stderr).toBe("");
      expect(rig.calls().map(withoutContainerValues)).toEqual(byMultus.map(withoutContainerValues));
      expect([containerFiles(multusState()), containerFiles(cniDir)]).toEqual([[], []]);
    },
  );

  it("are detached without their network namespace too, and a second DEL succeeds", async () => {
    await addWithMultus("ctr-1");
    const config = plexusConfig(rig.plexus.state("cni"));
    await rig.succeed("DEL", config, { netns: "" });
    expect(rig.calls().map((call) => [call.env["CNI_NETNS"], stdinOf(call)["runtimeConfig"]])).toEqual([
      ["", undefined],
      ["", undefined],
      ["", runtimeConfig],
    ]);
    await rig.succeed("DEL", config, { netns: "" });
  });

  it("are detached although Multus' list of delegates is truncated, or its cache is missing", async () => {
    const config = plexusConfig(rig.plexus.state("cni"));
    await addWithMultus("ctr-1");
    const scratch = join(multusState(), "ctr-1");
    writeFileSync(scratch, readFileSync(scratch).subarray(0, 100));
    const cut = await rig.succeed("DEL", config, { netns: pod.path });
    expect(cut.stderr).toContain("ignoring Multus' state");
    expect(rig.seen().toSorted()).toEqual(["DEL flannel eth0", "DEL macvlan net1", "DEL tuning eth0"]);

    await addWithMultus("ctr-2");
    rmSync(join(multusState(), "results"), { recursive: true });
    await rig.succeed("DEL", config, { containerId: "ctr-2", netns: pod.path });
    expect(rig.seen()).toEqual(["DEL macvlan net1", "DEL tuning eth0", "DEL flannel eth0"]);
    expect(readdirSync(multusState())).not.toContain("ctr-2");
  });

  it("are detached by the next DEL, from Plexus' journal, after a DEL that failed", async () => {
    await addWithMultus("ctr-1");
    const config = plexusConfig(rig.plexus.state("cni"));
    rig.plugin("macvlan").script("DEL", { exit: 1, stdout: '{"code":11,"msg":"later"}' }, 1);
    expect((await rig.call("DEL", config, { netns: pod.path })).json).toMatchObject({ code: 11 });
    expect(rig.seen()).toEqual(["DEL macvlan net1", "DEL tuning eth0", "DEL flannel eth0"]);
    rig.plugin("macvlan").script("DEL", { exit: 0, stdout: "" }, 1);
    await rig.succeed("DEL", config, { netns: pod.path });
    expect(rig.seen()).toEqual(["DEL macvlan net1"]);
    expect(containerFiles(rig.plexus.state("cni"))).toEqual([]);
  });

  it("are among the valid attachments that Plexus' GC passes to plugins", async () => {
    await addWithMultus("ctr-1");
    const version = { cniVersion: "1.1.0" };
    const config = { ...plexusConfig(rig.plexus.state("cni")), ...version, delegates: [{ ...list, ...version }, single] };
    const valid = [{ containerID: "ctr-1", ifname: "eth0" }];
    await rig.succeed("GC", { ...config, "cni.dev/valid-attachments": valid });
    const collected = rig.calls().filter(({ env }) => env["CNI_COMMAND"] === "GC");
    expect(collected.length).toBeGreaterThan(0);
    for (const call of collected) expect(stdinOf(call)["cni.dev/valid-attachments"]).toEqual(valid);
    expect(rig.status(web)).toBeUndefined();
  });
});
