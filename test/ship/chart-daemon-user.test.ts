// The user that the chart gives to the daemon, and the sockets of root that this user gets by the daemon's command line.

import { describe, expect, test } from "vitest";
import { residentFeatures } from "../../features/list.ts";
import { rootSocketsOf } from "../../host/programs/plexusd/daemon-bounds.ts";
import { type DaemonOptions, readOptions } from "../../host/programs/plexusd/options.ts";
import { defaultUids } from "../../src/configuration/keys/sandbox-uids.ts";
import { chart, containerOf, type Manifest, objectsOf, podOf, render, runHelm } from "../lab/kube/chart.ts";
import { helm } from "../lab/kube/helm.ts";
import { missing } from "../lab/requires.ts";

const uid = 1_999_999_999;

/** The daemon's options as the chart writes them, read as plexusd reads them. */
async function optionsOf(...values: readonly string[]): Promise<DaemonOptions> {
  const { args = [] } = containerOf(podOf(render(...values.flatMap((value) => ["--set", value]))), "plexusd");
  const known = args.map((arg) => arg.replaceAll("$(HOST_IP)", "10.0.0.1"));
  const options = readOptions(known, await residentFeatures());
  if (options === "help" || "wrong" in options) throw new Error(JSON.stringify(options));
  return options;
}

const sockets = async (...values: readonly string[]): Promise<object> => rootSocketsOf(await optionsOf(...values));

/** The DaemonSets of a release with its hooks: that of the daemon, and that of the removal. */
function daemonSets(...args: readonly string[]): readonly Manifest[] {
  const { stdout, stderr } = runHelm("template", "plexus", chart, "--namespace", "kube-system", ...args);
  const found = objectsOf(stdout).filter(({ kind }) => kind === "DaemonSet");
  if (found.length === 0) throw new Error(stderr);
  return found;
}

describe.skipIf(missing("the daemon's user in the chart", helm))("the daemon's user in the chart", () => {
  test("is a user of its own by default, outside of those of sandbox processes, and the pod's containers are in its group", async () => {
    const options = await optionsOf();
    expect(options).toMatchObject({ uid, sharedDirectories: [], socketsOfRoot: [], sandboxUids: defaultUids });
    expect(uid < defaultUids.first || uid >= defaultUids.first + defaultUids.count).toBe(true);
    const token = podOf(render()).volumes.find(({ name }) => name === "token");
    // No sandbox process is in the group.
    expect(token).toMatchObject({ projected: { defaultMode: 0o440 } });
    const groups = daemonSets().map(({ metadata, spec }) => [
      metadata.name,
      (spec as { readonly template: { readonly spec: object } }).template.spec,
    ]);
    expect(groups).toMatchObject([
      ["plexus", { securityContext: { fsGroup: uid } }],
      ["plexus-uninstall", { securityContext: { fsGroup: uid } }],
    ]);
  });

  test("is root with daemon.uid 0, in the group of what an earlier daemon left, also without the capabilities", async () => {
    const values = [
      "daemon.uid=0",
      "externalPorts.ovs.socket=/run/openvswitch/db.sock",
      "daemon.shareDirectories={/var/lib/cni/more}",
    ];
    expect(await optionsOf(...values)).toMatchObject({ uid: undefined, sharedDirectories: [], socketsOfRoot: [] });
    expect(podOf(render("--set", "daemon.uid=0")).securityContext).toMatchObject({ fsGroup: uid });
    expect(await optionsOf("daemon.uid=0", "capabilities.plexusd={KILL}")).toMatchObject({ uid: undefined });
  });

  test("gets the sockets of root that values switch on, and no other", async () => {
    const kubelet = "/var/lib/kubelet/pod-resources/kubelet.sock";
    expect(await sockets()).toEqual({ connects: [kubelet], listens: [] });
    expect(await sockets("externalPorts.ovs.socket=/run/openvswitch/db.sock")).toEqual({
      connects: [kubelet, "/run/openvswitch/db.sock"],
      listens: [],
    });
    expect(await sockets("claims.enabled=true", "kubeletRoot=/srv/kubelet")).toEqual({
      connects: [kubelet],
      listens: ["/srv/kubelet/plugins_registry/plexus.dev-reg.sock"],
    });
    // The daemon's own directory is shared with its group.
    const feed = ["networkApi.enabled=true", "networkApi.feedNamespace=networks"];
    expect(await sockets(...feed)).toEqual({ connects: [kubelet], listens: [] });
    const elsewhere = "/run/networks/network.sock";
    expect(await sockets(...feed, "networkApi.directory=/run/networks")).toEqual({
      connects: [kubelet, elsewhere],
      listens: [elsewhere],
    });
  });

  test("shares the directories of leases that a value names", async () => {
    const values = ["daemon.uid=4711", "daemon.shareDirectories={/var/lib/cni/one,/var/lib/cni/two}"];
    expect(await optionsOf(...values)).toMatchObject({ uid: 4711, sharedDirectories: ["/var/lib/cni/one", "/var/lib/cni/two"] });
    expect(podOf(render("--set", "daemon.uid=4711")).securityContext).toMatchObject({ fsGroup: 4711 });
  });

  test.each([
    ["capabilities.plexusd={SETGID}", "daemon.uid needs capabilities.plexusd with SETUID"],
    ["capabilities.plexusd={SETUID}", "daemon.uid needs capabilities.plexusd with SETGID"],
    ["daemon.uid=-1", "daemon/uid"],
    ["daemon.uid=4294967295", "daemon/uid"],
    ["daemon.shareDirectories={leases}", "daemon/shareDirectories/0"],
  ])("refuses %s", (set, mistake) => {
    const { status, stderr } = runHelm("template", "plexus", chart, "--set", set);
    expect({ status, stderr }).toMatchObject({ status: 1, stderr: expect.stringContaining(mistake) });
  });
});
