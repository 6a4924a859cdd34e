// A daemon with a uid of its own (`--uid`) beside sockets that root alone may use: the kubelet's pod-resources service, OVSDB, the kubelet's directory of drivers, and the
// directory of a CRI Network API.

import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { kubeletDirectory } from "../../../host/cluster/kubelet/kubelet-paths.ts";
import { canBecome } from "../../../host/sandbox/launcher/jail.ts";
import { deviceInfoDirectory } from "../../../src/npwg/device-info.ts";
import { startDaemon, type TestDaemon } from "../../lab/daemon.ts";
import { kubeletClient } from "../../lab/kube/kubelet-client.ts";
import { startKubelet } from "../../lab/kubelet.ts";
import { manifestsIn } from "../../lab/manifests.ts";
import { missingForMixed } from "../../lab/mixed-network.ts";
import { missingOpenVswitch, startOpenVswitch } from "../../lab/neutron/open-vswitch.ts";
import type { Answer } from "../../lab/plexus.ts";
import { installRecorder } from "../../lab/recorder.ts";
import { missing, type Requirement } from "../../lab/requires.ts";
import { type Attaching, openStage, type Stage } from "../../lab/stage.ts";
import { connectRaw } from "./network-api/raw-client.ts";

const uid = 1_999_999_999;
const ownUid: Requirement = () => (canBecome({ first: uid, count: 2 }) ? undefined : "this user namespace does not map the uid");

describe.skipIf(missingForMixed("root's sockets") || missing("root's sockets", ownUid))(
  "a daemon with a uid of its own beside root's sockets",
  () => {
    let stage: Stage;
    const daemons: TestDaemon[] = [];
    beforeEach(() => {
      stage = openStage({ native: ["host-local"], components: ["ipam-host-local", "ovs"] });
      chmodSync(stage.plexus.directory, 0o755);
      for (const path of [stage.plexus.state("cni"), stage.leases]) mkdirSync(path, { recursive: true });
    });
    afterEach(async () => {
      await Promise.all(daemons.splice(0).map(({ stop }) => stop()));
      stage.dispose();
    });

    const socketOf = (): string => join(stage.plexus.directory, "daemon", "plexus.sock");
    /** A directory that root alone may use. */
    function ofRoot(name: string): string {
      const path = join(stage.plexus.directory, name);
      mkdirSync(path, { mode: 0o700 });
      return path;
    }

    /** `mounts`: what the daemon alone sees at a path, as the chart's container does. Root has the capabilities of that container. */
    async function daemon(
      args: readonly string[],
      {
        mounts = [],
        socket = socketOf(),
      }: { readonly mounts?: readonly (readonly [string, string])[]; readonly socket?: string } = {},
    ): Promise<TestDaemon> {
      const emptied = [kubeletDirectory, deviceInfoDirectory].map(
        (path) => `mkdir -p '${path}' && mount -t tmpfs tmpfs '${path}' && `,
      );
      const mounted = mounts.map(([from, to]) => `mkdir -p '${to}' && mount --bind '${from}' '${to}' && `);
      const rights = 'exec setpriv --bounding-set=-all,+setuid,+setgid --inh-caps=-all --no-new-privs "$@"';
      const script = [...emptied, ...mounted, rights].join("");
      const started = await startDaemon({
        socket,
        args: ["--state-dir", stage.plexus.state("cni"), "--share-dir", stage.leases, "--uid", String(uid), ...args],
        through: ["/usr/bin/unshare", "--mount", "--propagation", "private", "--", "/bin/sh", "-c", script, "sh"],
      });
      daemons.push(started);
      expect(readFileSync(`/proc/${started.pid}/status`, "utf8")).toMatch(new RegExp(`^Uid:(?:\\t${uid}){4}$`, "mu"));
      return started;
    }

    const served = (verb: string, { config, containerId, pod, args }: Attaching): Promise<Answer> =>
      stage.request({
        verb,
        config,
        containerId,
        ifname: "eth0",
        netns: typeof pod === "string" ? pod : pod.path,
        env: { PLEXUS_SOCKET: socketOf(), PLEXUS_HOME: "/nowhere" },
        ...(args === undefined ? {} : { args }),
      });

    test("MA-03: gives a pod the devices that the kubelet allocated, whose service's directory is closed for other users", async () => {
      const directory = ofRoot("pod-resources");
      const kubelet = await startKubelet(join(directory, "kubelet.sock"), () => [
        {
          name: "web",
          namespace: "shop",
          containers: [{ name: "a", devices: [{ resourceName: "example.com/nic", deviceIds: ["0000:18:0a.7"] }] }],
        },
      ]);
      chmodSync(directory, 0o750);
      const manifests = manifestsIn(join(stage.plexus.directory, "manifests"));
      const [main, sriov] = ["main", "sriov"].map((name) => installRecorder(stage.plexus.cniPath, name));
      manifests.network("nic", [{ type: "sriov", capabilities: { deviceID: true } }], {
        "k8s.v1.cni.cncf.io/resourceName": "example.com/nic",
      });
      manifests.pod("web", "nic");
      const { stderr } = await daemon(["--share-dir", manifests.directory], {
        mounts: [[directory, join(kubeletDirectory, "pod-resources")]],
      });
      const web: Attaching = {
        config: stage.network([{ type: "main" }], { manifests: manifests.directory, trace: undefined }),
        containerId: "ctr-web",
        pod: stage.pod(),
        args: manifests.argsOf("web"),
      };
      try {
        expect(await served("ADD", web)).toMatchObject({ status: 0, stderr: "" });
        expect(sriov?.calls().map(({ stdin }) => JSON.parse(stdin))).toMatchObject([{ deviceID: "0000:18:0a.7" }]);
        expect(main?.calls()).toHaveLength(1);
        expect(await served("DEL", web)).toMatchObject({ status: 0, stderr: "" });
        kubelet.stop();
        rmSync(kubelet.socket, { force: true });
        // Without the service no device is known, as for a daemon of root.
        expect(await served("ADD", { ...web, containerId: "ctr-later", pod: stage.pod() })).toMatchObject({
          status: 0,
          stderr: expect.stringContaining("allocated no further device of example.com/nic"),
        });
      } finally {
        kubelet.stop();
      }
      expect(stderr()).not.toMatch(/EACCES|EPERM/u);
    });

    test.skipIf(missing("OVSDB beside a daemon with a uid of its own", missingOpenVswitch))(
      "DE-OVS-01: makes a pod's port by OVSDB's socket, which the command line names, and none without that name",
      async () => {
        const ovs = await startOpenVswitch();
        try {
          ovs.vsctl("add-br", "br-int", "--", "set", "bridge", "br-int", "datapath_type=dummy");
          await ovs.startVswitchd();
          chmodSync(ovs.directory, 0o750);
          chmodSync(ovs.socket, 0o600);
          const ipam = { type: "ipam-host-local", subnet: "10.7.0.0/24", dataDir: stage.leases };
          const grants = {
            ovs: {
              links: {},
              ovs: { bridges: ["br-int"], vlans: ["0-4095"], socket: ovs.socket },
              delegation: { plugins: [ipam.type] },
              log: {},
            },
            [ipam.type]: { leases: { directories: [stage.leases] }, resolver: {}, log: {} },
          };
          const network = [{ type: "ovs", bridge: "br-int", ipam }];
          const config = stage.network(network, { cniVersion: "1.1.0", wasm: { grants }, trace: undefined });
          const ports = (): readonly string[] => ovs.vsctl("list-ports", "br-int").split("\n").filter(Boolean);
          const one: Attaching = { config, containerId: "pod-1", pod: stage.pod() };
          const unnamed = await daemon([]);
          expect(await served("ADD", one)).toMatchObject({ status: 1, json: { msg: expect.stringContaining("EACCES") } });
          await unnamed.stop();
          daemons.splice(0);
          const { stderr } = await daemon(["--connect-to", ovs.socket]);
          expect(await served("ADD", one)).toMatchObject({ status: 0, stderr: "" });
          expect(ports()).toHaveLength(1);
          expect(await served("CHECK", one)).toMatchObject({ status: 0 });
          expect(await served("DEL", one)).toMatchObject({ status: 0 });
          expect(ports()).toEqual([]);
          expect(stderr()).not.toMatch(/EACCES|EPERM/u);
        } finally {
          await ovs.dispose();
        }
      },
    );

    test("DR-01: registers the driver of resource claims in the kubelet's directory, and takes its socket away when it stops", async () => {
      const registry = ofRoot("plugins_registry");
      const devices = join(stage.plexus.directory, "claims.json");
      writeFileSync(devices, JSON.stringify({ devices: [] }));
      const socket = join(registry, "plexus.dev-reg.sock");
      const cdi = ofRoot("cdi");
      const claims = ["--claims-devices", devices, "--claims-kubelet-dir", registry, "--node-name", "node-a"];
      const started = await daemon([...claims, "--claims-cdi-dir", cdi, "--write-to", stage.leases, "--write-to", cdi]);
      const { uid: owner, mode } = statSync(socket);
      expect([owner, mode & 0o777]).toEqual([0, 0o600]);
      expect([statSync(registry).mode & 0o7777, statSync(cdi).mode & 0o7777]).toEqual([0o700, 0o2770]);
      const kubelet = kubeletClient(socket);
      expect(await kubelet.call("GetInfo", {})).toMatchObject({ name: "plexus.dev", endpoint: socket });
      kubelet.close();
      const another = daemon(claims, { socket: join(stage.plexus.directory, "another", "plexus.sock") });
      await expect(another).rejects.toThrow(`${socket}: a daemon already listens on this socket`);
      expect(await started.stop()).toBe(0);
      daemons.splice(0);
      expect(existsSync(socket)).toBe(false);
      expect(started.stderr()).not.toMatch(/EACCES|EPERM/u);
    });

    test("CR-01: serves the CRI Network API in a directory that another program has, and replaces the socket of a killed daemon", async () => {
      const directory = ofRoot("network-api");
      const socket = join(directory, "network.sock");
      const args = ["--network-socket", socket, "--network-dir", ofRoot("net.d")];
      const first = await daemon(args);
      first.signal("SIGKILL");
      await first.ended;
      daemons.splice(0);
      expect(existsSync(socket)).toBe(true);
      await daemon(args);
      const client = connectRaw(socket);
      expect(await client.call("ListPodNetwork", { without_status: true })).toMatchObject({ networks: [] });
      client.close();
      expect(statSync(socket)).toMatchObject({ uid: 0 });
    });
  },
);
