// A pod renames the members of its bond, and gives their names to other links. The plugin is a stand-in for bond-cni: it finds members by their names, as bond-cni's
// DEL does, and makes a bridge in the bond's place, because few test machines' kernels have bonds.

import { chmodSync, existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { type Manifests, manifestsIn } from "../../lab/manifests.ts";
import { bridgeStep, missingForMixed, mixedInstallation } from "../../lab/mixed-network.ts";
import type { PodNamespace } from "../../lab/namespaces.ts";
import { type Attaching, openStage, type Stage } from "../../lab/stage.ts";

/** `members`: names of links; `devices`: whether they move between the node and the pod. */
const plugin = (log: string, members: readonly string[], devices: boolean): string => `#!/bin/sh
cat > /dev/null
echo "$CNI_COMMAND $CNI_NETNS" >> ${log}
pod() { nsenter --net="$CNI_NETNS" "$@"; }
case $CNI_COMMAND in
  ADD)
    for name in ${members.join(" ")}; do ${devices ? 'ip link set "$name" netns "$(basename "$CNI_NETNS")"' : 'pod ip link set "$name" up'} || exit 1; done
    pod ip link add "$CNI_IFNAME" type bridge
    printf '{"cniVersion":"1.0.0","interfaces":[{"name":"%s","sandbox":"%s"}]}' "$CNI_IFNAME" "$CNI_NETNS"
    ;;
  DEL)
    if [ -z "$CNI_NETNS" ] || ! pod ip link show "$CNI_IFNAME" > /dev/null 2>&1; then exit 0; fi
    for name in ${members.join(" ")}; do
      pod ip link set "$name" down || exit 1
      ${devices ? 'pod ip link set "$name" netns $$ || exit 1' : 'pod ip link set "$name" up'}
    done
    pod ip link delete "$CNI_IFNAME"
    ;;
  VERSION) echo '{"cniVersion":"1.0.0","supportedVersions":["1.0.0"]}' ;;
esac
`;

const unable = missingForMixed("members of a bond");

describe.skipIf(unable)("members of a native bond that the pod has renamed", () => {
  let stage: Stage;
  let manifests: Manifests;
  beforeEach(() => {
    stage = openStage(mixedInstallation);
    manifests = manifestsIn(join(stage.plexus.directory, "manifests"));
  });
  afterEach(() => stage.dispose());

  type Attached = Attaching & { readonly pod: PodNamespace };

  const log = (): string => join(stage.plexus.directory, "bond.log");
  const calls = (): readonly string[] => (existsSync(log()) ? readFileSync(log(), "utf8").trim().split("\n") : []);
  function installBond(members: readonly string[], devices: boolean): void {
    const path = join(stage.plexus.cniPath, "bond");
    writeFileSync(path, plugin(log(), members, devices));
    chmodSync(path, 0o755);
    const links = members.map((name) => ({ name }));
    manifests.network("bonded", [{ type: "bond", mode: "active-backup", miimon: "100", links, linksInContainer: !devices }]);
  }
  async function attached(selection: string): Promise<Attached> {
    manifests.pod("web", selection);
    const config = stage.network([bridgeStep()], { manifests: manifests.directory });
    const web = { config, containerId: "ctr-web", pod: stage.pod(), args: manifests.argsOf("web") };
    await stage.succeed("ADD", web);
    return web;
  }
  const run = ({ pod }: Attached, script: string): void =>
    expect(pod.exec(["sh", "-ec", script])).toMatchObject({ status: 0, stderr: "" });
  const linksOf = ({ pod }: Attached): readonly string[] => pod.links().map(({ name }) => name);
  const nodeLinks = (): readonly string[] => stage.node.links().map(({ name }) => name);

  test("FI-15: the node's devices come back under their names, and the pod's links with these names stay in the pod", async () => {
    for (const name of ["ens0", "ens1"]) stage.node.exec(["ip", "link", "add", name, "type", "veth", "peer", "name", `${name}p`]);
    installBond(["ens0", "ens1"], true);
    const web = await attached("bonded@bond0");
    expect(linksOf(web)).toEqual(expect.arrayContaining(["bond0", "ens0", "ens1"]));
    expect(nodeLinks()).not.toContain("ens0");
    run(
      web,
      "ip link set ens0 down; ip link set ens0 name mine; ip link add ens0 type bridge; ip address add 192.0.2.1/32 dev ens0",
    );
    await stage.succeed("DEL", web);
    expect(linksOf(web)).toEqual([expect.stringMatching(/^aside/)]);
    expect(web.pod.addresses().map(({ address }) => address)).toEqual(["192.0.2.1/32"]);
    const kinds = stage.node.exec(["ip", "-details", "link", "show", "ens0"]).stdout;
    expect([nodeLinks().filter((name) => /^ens\d$/.test(name)), kinds.includes("veth")]).toEqual([["ens0", "ens1"], true]);
    for (const name of ["ens0", "ens1"]) stage.node.exec(["ip", "link", "delete", name]);
  });

  test("FI-15: a bond over links of the pod is removed, its plugin gets no namespace, and the link with a member's name stays as it was", async () => {
    manifests.network("storage", [bridgeStep({ bridge: "br-storage", isDefaultGateway: false, ipam: undefined })]);
    installBond(["net1", "net2"], false);
    const web = await attached("storage,storage,bonded@bond0");
    run(
      web,
      "ip link set net1 down; ip link set net1 name 0a1b-nic; ip link add net1 type bridge; ip link set net1 up; ip route add 192.0.2.0/24 dev net1",
    );
    const answer = await stage.call("DEL", web);
    expect([answer.status, answer.stdout]).toEqual([0, ""]);
    expect(answer.stderr).toContain("members of the bond have other names now");
    expect(calls().filter((call) => call.startsWith("DEL"))).toEqual(["DEL"]);
    expect(linksOf(web)).toEqual(["net1"]);
    // A link that is set down loses its routes.
    expect(web.pod.exec(["ip", "route", "show", "dev", "net1"]).stdout).toContain("192.0.2.0/24");
  });
});
