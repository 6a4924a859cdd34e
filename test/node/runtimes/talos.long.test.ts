// The shim on a node like Talos: a read-only root without a libc, a shell or any other program, on which /opt, /etc/cni and /run alone can be written. The
// directories are those of `Overlays` in pkg/machinery/constants/constants.go of siderolabs/talos. The daemon runs outside, as in the chart's container.

import { spawnSync } from "node:child_process";
import { mkdirSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { startDaemon, type TestDaemon } from "../../lab/daemon.ts";
import { type PodNamespace } from "../../lab/namespaces.ts";
import { missingBuild } from "../../lab/plexus.ts";
import { missing, privateNamespaces } from "../../lab/requires.ts";
import { openStage, type Stage } from "../../lab/stage.ts";
import { wasmOnlyDelegates, wasmOnlyGrants } from "../../lab/wasm-only.ts";

/** Makes the node's root at $ROOT and executes the shim there, in the node's network namespace. */
const asOnTalos = `
mount -t tmpfs root "$ROOT"
mkdir -p "$ROOT/opt" "$ROOT/etc/cni" "$ROOT/run" "$ROOT/proc"
mount -t tmpfs opt "$ROOT/opt"
mount -t tmpfs cni "$ROOT/etc/cni"
mount -t tmpfs run "$ROOT/run"
mkdir -p "$ROOT/opt/cni/bin" "$ROOT/run/plexus"
cp "$PLUGINS"/plexus "$PLUGINS"/*.wasm "$ROOT/opt/cni/bin"
mount --bind "$DAEMON" "$ROOT/run/plexus"
mount --rbind /proc "$ROOT/proc"
mount -o remount,ro "$ROOT"
exec nsenter --net="$NODE" chroot "$ROOT" /opt/cni/bin/plexus
`;

const configOf = (stage: Stage): object =>
  stage.network([{ type: "bridge-adapter", bridge: "br0", ipam: { type: "ipam-host-local", subnet: "10.10.0.0/24" } }], {
    runDir: "/run/plexus",
    wasm: { grants: wasmOnlyGrants(["br0"], stage.leases) },
  });

describe.skipIf(missing("a node like Talos", privateNamespaces, () => missingBuild({ components: wasmOnlyDelegates })))(
  "on a node like Talos",
  () => {
    let stage: Stage;
    let daemon: TestDaemon | undefined;
    let pod: PodNamespace;
    const socket = (): string => join(stage.plexus.directory, "daemon", "plexus.sock");
    beforeAll(async () => {
      stage = openStage({ components: wasmOnlyDelegates });
      pod = stage.pod();
      mkdirSync(join(stage.plexus.directory, "root"));
      daemon = await startDaemon({ socket: socket(), args: ["--state-dir", stage.plexus.state("cni")] });
    });
    afterAll(async () => {
      await daemon?.stop();
      stage.dispose();
    });

    function call(verb: string) {
      const env = {
        PATH: process.env["PATH"],
        ROOT: join(stage.plexus.directory, "root"),
        PLUGINS: stage.plexus.cniPath,
        DAEMON: dirname(socket()),
        NODE: stage.node.path,
        CNI_COMMAND: verb,
        CNI_CONTAINERID: "a",
        // The pod's namespace lies below /proc for a process of the test, whatever the node's root is.
        CNI_NETNS: `/proc/${process.pid}/root${pod.path}`,
        CNI_IFNAME: "eth0",
        CNI_PATH: "/opt/cni/bin",
        PLEXUS_SOCKET: "/run/plexus/plexus.sock",
      };
      const input = JSON.stringify(configOf(stage));
      const { status, stdout, stderr } = spawnSync("unshare", ["--mount", "--propagation", "private", "sh", "-euc", asOnTalos], {
        env,
        input,
        encoding: "utf8",
      });
      return { status, stdout, stderr };
    }

    test("the daemon's components attach and detach a pod through the shim alone", () => {
      const added = call("ADD");
      expect({ ...added, stdout: added.status === 0 ? "" : added.stdout }).toEqual({ status: 0, stdout: "", stderr: "" });
      expect(JSON.parse(added.stdout)).toMatchObject({ ips: [{ address: "10.10.0.2/24" }] });
      expect(pod.addresses().map(({ link, address }) => `${link} ${address}`)).toEqual(["eth0 10.10.0.2/24"]);
      expect(call("DEL")).toEqual({ status: 0, stdout: "", stderr: "" });
      // The daemon keeps the configuration of the last call.
      expect(stage.left()).toMatchObject({ leases: [], links: [], run: [] });
    });

    test("without a daemon a call waits, and its error names the daemon: no engine is started on the node", async () => {
      await daemon?.stop();
      daemon = undefined;
      const refused = call("ADD");
      expect(refused.status).toBe(1);
      expect(JSON.parse(refused.stdout)).toMatchObject({ msg: expect.stringMatching(/no engine: .*no daemon listens on/u) });
      expect(pod.links()).toEqual([]);
    });
  },
);
