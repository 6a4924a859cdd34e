// The delegate `intruder` has every capability with narrow grants. It attempts operations beyond its grants on links, sysctls, addresses,
// plugins and directories. Each attempt must be refused with the name of the refused object, and neither the node nor a pod may change.

import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { isDeepStrictEqual } from "node:util";
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { installTestDelegate, testDelegate } from "../lab/delegates/built.ts";
import { type Attaching, nothing, openStage, type Stage } from "../lab/stage.ts";
import { startDaemon, type TestDaemon } from "../lab/daemon.ts";
import { missingOpenVswitch, type OpenVswitch, startOpenVswitch } from "../lab/neutron/open-vswitch.ts";
import { filesBelow, type PodNamespace } from "../lab/namespaces.ts";
import type { Answer } from "../lab/plexus.ts";
import { installRecorder, type RecorderPlugin } from "../lab/recorder.ts";
import { bridgeCommand, iproute2, linkType, missing, privateNamespaces } from "../lab/requires.ts";
import { endTable } from "../../features/policies/node/end-table.ts";
import { podTable } from "../../features/policies/node/pod-table.ts";
import { type Snapshot, snapshotOf } from "../lab/namespace-snapshot.ts";

const unable = missing("an intruder", privateNamespaces, iproute2, bridgeCommand, linkType("veth"), linkType("bridge"));

interface NodeState {
  readonly node: Snapshot;
  readonly pod: Snapshot;
  readonly neighbour: Snapshot;
  readonly files: readonly (readonly string[])[];
  readonly leases: readonly string[];
  /** The interfaces of Open vSwitch. */
  readonly ovs: string | undefined;
  readonly calls: readonly unknown[];
}

/** The policies at the node's end of the neighbour's veth. */
const victimEnd = endTable("/var/lib/cni/victim", "neighbour");

/** `empty`: grants without any object. `other`: grants of objects that the intruder does not attempt to use. */
type Grants = "empty" | "other";

describe.skipIf(unable).each([false, true])("a delegate that exceeds its grants, with a daemon: %j", (withDaemon) => {
  let stage: Stage;
  // The first build of the delegate takes long, so that it must not count as a test's time.
  beforeAll(() => testDelegate("intruder"));
  /** Without Open vSwitch on this machine there is nothing to protect: each attempt then fails, too. */
  let ovs: OpenVswitch | undefined;
  beforeAll(async () => {
    if (missingOpenVswitch() !== undefined) return;
    ovs = await startOpenVswitch();
    for (const bridge of ["victim-br", "own-br"]) ovs.vsctl("add-br", bridge);
    const marks = ["plexus-delegate=intruder", "plexus-network=victim", "plexus-attachment=two/eth0", "iface-id=victim-port"];
    const ids = marks.map((mark) => `external_ids:${mark}`);
    ovs.vsctl("add-port", "victim-br", "victim1", "--", "set", "interface", "victim1", ...ids);
  });
  afterAll(() => ovs?.dispose());
  let daemon: TestDaemon | undefined;
  let pod: PodNamespace;
  let neighbour: PodNamespace;
  let plugin: RecorderPlugin;
  beforeEach(async () => {
    stage = openStage({ components: ["ipam-host-local"] });
    await installTestDelegate("intruder", stage.plexus.cniPath);
    plugin = installRecorder(stage.plexus.cniPath, "victim");
    [pod, neighbour] = [stage.pod(), stage.pod()];
    makeTargets();
    mkdirSync(join(stage.plexus.directory, "victim"));
    writeFileSync(join(stage.plexus.directory, "victim", "one_eth0.json"), "{}");
    const socket = join(stage.plexus.directory, "daemon", "plexus.sock");
    daemon = withDaemon ? await startDaemon({ socket }) : undefined;
  });
  afterEach(async () => {
    await daemon?.stop();
    stage.dispose();
  });

  /**
   * Makes a bridge with another pod, possible parent links, a link in the pod, firewall rules, routes and neighbours. The victims' MAC is fixed: one MAC of 64
   * that the kernel chooses fits to the pattern of the grant `other`.
   */
  function makeTargets(): void {
    const script = `
      set -e
      ip link add victim0 type bridge && ip link add plexus0 type bridge
      ip link add victim1 address 02:00:00:00:00:11 type veth peer name other0 netns ${neighbour.name}
      ip link add victim2 type veth peer name victim3
      ip link set victim1 master victim0
      ip link add uplink0 type veth peer name uplink1
      ip address add 10.99.0.1/24 dev victim0 && ip address add fd99::1/64 dev victim0 nodad
      for link in lo victim0 plexus0 victim1 victim2 victim3 uplink0 uplink1; do
        [ $link = lo ] || ip link set $link addrgenmode none; ip link set $link up
      done
      ip neigh add 10.99.0.2 lladdr 02:00:00:00:00:02 dev victim0 nud permanent
      ip route add default via 10.99.0.2
      if command -v nft > /dev/null; then
        nft 'table ip victim { chain c { ip saddr 10.99.0.2 drop; }; }'
        nft 'table ${victimEnd.family} ${victimEnd.name} { chain from/net1 { type filter hook ingress device victim1 priority 0; ether type 0x88b5 drop; }; }'
      fi`;
    // The pods have policies, and the neighbour also at the node's end (features/policies/node/pod-table.ts): no capability may change their tables.
    const policies = `if command -v nft > /dev/null; then nft 'table inet ${podTable.name} { chain input { type filter hook input priority 0; iifname "net9" drop; }; }'; fi;`;
    const podScript =
      policies +
      "ip link add foreign0 type veth peer name foreign1; for link in foreign0 foreign1; do ip link set $link addrgenmode none; ip link set $link up; done";
    const otherScript =
      policies + "ip address add 10.99.0.2/24 dev other0 && ip link set other0 addrgenmode none && ip link set other0 up";
    for (const [inside, text] of [
      [stage.node, script],
      [pod, podScript],
      [neighbour, otherScript],
    ] as const) {
      expect(inside.exec(["sh", "-c", text])).toMatchObject({ status: 0, stderr: "" });
    }
  }

  function intruderPod(grants: Grants, tries: readonly string[]): Attaching {
    const empty = { links: {}, sysctl: {}, firewall: {}, delegation: {}, resolver: { files: [] }, routing: {}, filter: {} };
    const other = {
      links: {
        bridges: ["plexus*"],
        parents: ["victim2"],
        uplinks: ["uplink*"],
        podLinks: ["net*"],
        devices: ["own*", "mac:06:*"],
      },
      sysctl: { keys: ["net/ipv4/conf/IFNAME/rp_filter", "net/ipv4/conf/*/tag"] },
      firewall: { masquerade: true, hostPorts: ["30000-30010"] },
      delegation: { plugins: ["ipam-*"] },
      resolver: { files: ["/etc/hosts"] },
      filter: { bridges: ["plexus*"], adminChains: ["OWN-*"] },
      routing: { tables: ["1000"], priorities: ["2000-2999"] },
    };
    const directories = {
      ovs: { ...(grants === "empty" ? {} : { bridges: ["own-*"] }), socket: ovs?.socket ?? "/run/plexus-no-ovs.sock" },
      leases: { directories: [stage.leases] },
      state: { directories: [join(stage.plexus.directory, "own")] },
    };
    const grant = {
      log: {},
      announce: {},
      dhcp: {},
      shaping: {},
      flows: {},
      ...directories,
      ...(grants === "empty" ? empty : other),
    };
    const victim = join(stage.plexus.directory, "victim");
    const all = grants === "empty" ? ["plexus0", "victim2", "uplink0"] : [];
    const step = {
      type: "intruder",
      tries,
      hostLinks: ["victim0", "victim1", "lo", ...all],
      absent: ["absent0", "plexu", "*"],
      parents: grants === "empty" ? [] : ["victim2"],
      podLinks: ["foreign0", "absent0", "eth00"],
      keys: [
        "net/ipv4/ip_forward",
        "net/ipv4/conf/all/rp_filter",
        "net/ipv4/conf/foreign0/rp_filter",
        "net/ipv4/conf/eth0/../all/rp_filter",
        "net/ipv6/conf/all/forwarding",
        "net/core/somaxconn",
        "net/ipv4/conf/IFNAME/rp_filter",
        "net/../kernel/hostname",
        "kernel/hostname",
        "/proc/sys/net/ipv4/ip_forward",
        "net.ipv4.ip_forward",
        "net/ipv4",
      ],
      ...(grants === "empty" ? {} : { grantedKey: "net/ipv4/conf/foreign0/tag", grantedBridge: "own-br" }),
      ovsBridges: ["victim-br", "own-br", "absent-br", "*"],
      addresses: ["10.99.0.1", "10.99.0.2", "127.0.0.1", "192.0.2.1"],
      plugins: ["victim", "intruder", "plexus", "../victim", "", "*", "bridge"],
      directories: [victim, "/etc", "/", "victim", `${stage.leases}/../../victim`, "/proc/self/cwd"],
      files: ["/etc/shadow", "/etc/passwd", "/proc/self/environ", "shadow"],
    };
    // Hundreds of attempts take long on a busy machine.
    const more = { cniVersion: "1.1.0", wasm: { limits: { timeMs: 60_000 }, grants: { intruder: grant } } };
    return { config: stage.network([step], more), containerId: "one", pod };
  }

  /** The state that must not change. `base` is the state before, whose sysctls the answer is limited to. */
  function nodeState(base?: NodeState): NodeState {
    return {
      node: snapshotOf(stage.node, base?.node),
      pod: snapshotOf(pod, base?.pod),
      neighbour: snapshotOf(neighbour, base?.neighbour),
      files: filesBelow(join(stage.plexus.directory, "victim")).map((path) => [
        path,
        readFileSync(join(stage.plexus.directory, "victim", path), "utf8"),
      ]),
      leases: filesBelow(stage.leases),
      ovs: ovs?.vsctl("--format=csv", "list", "interface"),
      calls: plugin.calls(),
    };
  }

  /** Waits until all links are up and the state does not change: links come up asynchronously. */
  async function settledNodeState(): Promise<NodeState> {
    for (let [before, tries] = [nodeState(), 0]; ; tries++) {
      await sleep(300);
      const after = nodeState(before);
      const areUp = ["victim0", "victim1", "victim2", "uplink0"].every((name) =>
        after.node["ip -d -o link show"]?.some((line) =>
          line.includes(` ${name}@`) || line.includes(` ${name}:`) ? line.includes("state UP") : false,
        ),
      );
      if ((areUp && isDeepStrictEqual(before, after)) || tries === 400) return before;
      before = nodeState();
    }
  }

  function request(verb: string, attaching: Attaching): Promise<Answer> {
    const { config, containerId } = attaching;
    const env = daemon === undefined ? {} : { PLEXUS_SOCKET: daemon.socket };
    const of = verb === "GC" || verb === "STATUS" ? {} : { containerId, ifname: "eth0", netns: pod.path };
    return stage.request({ verb, config, env, ...of });
  }

  test.each(["empty", "other"] as const)(
    "H4 E-7 ADD, CHECK and DEL with %s grants: every attempt is refused, nothing changes",
    async (grants) => {
      const before = await settledNodeState();
      const attaching = intruderPod(grants, ["ADD"]);
      expectRefused(await request("ADD", attaching));
      expect(nodeState(before)).toEqual(before);
      expect(stage.files()).toEqual({ leases: nothing.leases, state: nothing.state, run: nothing.run });

      // This intruder starts its attempts after ADD.
      const delayed = intruderPod(grants, ["DEL", "CHECK"]);
      expect((await request("ADD", delayed)).stdout).toContain('"cniVersion":"1.1.0"');
      expectRefused(await request("CHECK", delayed));
      expectRefused(await request("DEL", delayed));
      expect(nodeState(before)).toEqual(before);
    },
  );

  test("H4 E-7 GC and STATUS: every attempt is refused, nothing changes", async () => {
    const before = await settledNodeState();
    const attaching = intruderPod("other", ["GC", "STATUS"]);
    expectRefused(await request("STATUS", attaching));
    expectRefused(await request("GC", { ...attaching, config: { ...attaching.config, "cni.dev/valid-attachments": [] } }));
    expect(nodeState(before)).toEqual(before);
  });
});

/** The intruder made hundreds of attempts. Its error's details would name the attempts that succeeded. */
function expectRefused({ status, json }: Answer): void {
  const { msg, details } = json ?? {};
  expect({ status, msg, details }).toEqual({
    status: 1,
    msg: expect.stringMatching(/tried (?:[3-9]\d\d|\d{4}) things/),
    details: expect.not.stringMatching(/was done|refused without naming/),
  });
}
