// plexusctl doctor beside ip(8), on a node's configuration: the parts of the kernel that networks and features need, and the credentials of a daemon that is a
// user of its own.

import { execFileSync, spawnSync } from "node:child_process";
import { chmodSync, chownSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { canBecome } from "../../../host/sandbox/launcher/jail.ts";
import { createPodNamespace } from "../../lab/namespaces.ts";
import { dist, type Installation, installPlexus, missingBuild } from "../../lab/plexus.ts";
import { command, iproute2, missing, privateNamespaces, type Requirement } from "../../lab/requires.ts";

const uid = 1_999_999_999;
const ownUid: Requirement = () => (canBecome({ first: uid, count: 2 }) ? undefined : "this user namespace does not map the uid");

const kubeconfig = JSON.stringify({
  apiVersion: "v1",
  kind: "Config",
  "current-context": "c",
  clusters: [{ name: "c", cluster: { server: "https://127.0.0.1:1" } }],
  users: [{ name: "u", user: { tokenFile: "token" } }],
  contexts: [{ name: "c", context: { cluster: "c", user: "u" } }],
});

interface Check {
  readonly name: string;
  readonly found: string;
  readonly finding: { readonly severity: string; readonly message: string; readonly remedy: string } | null;
}

describe.skipIf(missing("plexusctl doctor on a node's files", missingBuild, privateNamespaces))(
  "plexusctl doctor on a node's files",
  () => {
    let plexus: Installation;
    const at = (...names: readonly string[]): string => join(plexus.directory, ...names);
    beforeAll(() => {
      plexus = installPlexus({ components: ["portmap", "bandwidth"] });
      // As /etc: every user passes through.
      chmodSync(plexus.directory, 0o755);
    });
    afterAll(() => plexus.dispose());

    /** The checks by name, on a node with these networks. `through`: a program that executes doctor with fewer rights. */
    function checks(
      host: object,
      networks: readonly (readonly object[])[],
      ...through: readonly string[]
    ): ReadonlyMap<string, Check> {
      const delegates = networks.map((plugins, index) => ({ cniVersion: "1.0.0", name: `n${index}`, plugins }));
      const config = at("10-plexus.conf");
      writeFileSync(config, JSON.stringify({ cniVersion: "1.0.0", name: "node", type: "plexus", delegates, ...host }));
      const places = [`--status-socket=${at("status.sock")}`, `--state-dir=${at("state")}`, `--cni-path=${plexus.cniPath}`];
      const doctor = [process.execPath, join(dist, "plexusctl.cjs"), "doctor", "-o", "json", `--config=${config}`, ...places];
      const [program = "", ...words] = [...through, ...doctor];
      const { stdout, stderr } = spawnSync(program, words);
      expect(stderr.toString()).toBe("");
      const found: readonly Check[] = JSON.parse(stdout.toString()).checks;
      return new Map(found.map((each) => [each.name, each]));
    }

    const lay = (owner: number, mode: number): void => {
      for (const name of ["plexus.kubeconfig", "token"]) {
        writeFileSync(at("credentials", name), name === "token" ? "secret" : kubeconfig);
        chownSync(at("credentials", name), 0, owner);
        chmodSync(at("credentials", name), mode);
      }
    };
    const check = (): Check | undefined =>
      checks({ kubeconfig: at("credentials", "plexus.kubeconfig") }, [[{ type: "status-shaper" }]]).get("kubeconfig");

    /** The kinds that ip(8) can make in a pod's namespace on this kernel. */
    const kinds: Readonly<Record<string, readonly (readonly string[])[]>> = {
      dummy: [["add", "l0", "type", "dummy"]],
      vrf: [["add", "l0", "type", "vrf", "table", "10"]],
      bond: [["add", "l0", "type", "bond"]],
      bridge: [["add", "l0", "type", "bridge"]],
      macvlan: [
        ["add", "p0", "type", "veth", "peer", "p1"],
        ["add", "l0", "link", "p0", "type", "macvlan", "mode", "bridge"],
      ],
      ipvlan: [
        ["add", "p0", "type", "veth", "peer", "p1"],
        ["add", "l0", "link", "p0", "type", "ipvlan"],
      ],
      vlan: [
        ["add", "p0", "type", "veth", "peer", "p1"],
        ["add", "l0", "link", "p0", "type", "vlan", "id", "2"],
      ],
    };

    test.skipIf(missing("doctor beside ip", iproute2))(
      "E-20: doctor finds the kinds of links that ip can make on this kernel, and no other",
      () => {
        const found = checks({}, [Object.keys(kinds).map((type) => ({ type }))]);
        const byIp: Record<string, boolean> = {};
        for (const [kind, commands] of Object.entries(kinds)) {
          const pod = createPodNamespace();
          byIp[kind] = commands.every((words) => pod.exec(["ip", "link", ...words]).status === 0);
          pod.dispose();
        }
        const byDoctor = Object.keys(kinds).map((kind) => [kind, found.get(`kernel-${kind}`)?.finding === null]);
        expect(Object.fromEntries(byDoctor)).toEqual(byIp);
        for (const kind of Object.keys(kinds).filter((each) => byIp[each] === false))
          expect(found.get(`kernel-${kind}`)?.finding).toMatchObject({
            severity: "error",
            message: expect.stringMatching(/the kernel refuses what is needed by network n0: .*: ENOTSUP/u),
            remedy: expect.stringContaining("Load the kernel's module"),
          });
      },
    );

    test("E-20: doctor writes the tables of policies, Services, host ports and bounds, and leaves the node's namespace alone", () => {
      const links = execFileSync("ip", ["-o", "link"], { encoding: "utf8" });
      const rules = spawnSync("nft", ["list", "ruleset"], { encoding: "utf8" }).stdout;
      const cluster = { kubeconfig: at("plexus.kubeconfig"), policies: { enforceAt: "node" }, services: true };
      writeFileSync(at("plexus.kubeconfig"), kubeconfig);
      const steps = [
        { type: "ptp", ipam: { type: "host-local", subnet: "fd00:1::/64" } },
        { type: "portmap" },
        { type: "bandwidth" },
      ];
      const found = checks(cluster, [steps]);
      const tried = [...found.values()].filter(({ name }) => name.startsWith("kernel-"));
      expect(tried.map(({ name }) => name)).toEqual([
        "kernel-policies",
        "kernel-services",
        "kernel-veth",
        "kernel-firewall",
        "kernel-shaping",
        "kernel-ipv6",
      ]);
      // This kernel has nftables, as the tests of policies show. Its other parts differ by machine.
      expect(tried.filter(({ name }) => name !== "kernel-shaping").map(({ finding }) => finding)).toEqual([
        null,
        null,
        null,
        null,
        null,
      ]);
      expect(execFileSync("ip", ["-o", "link"], { encoding: "utf8" })).toBe(links);
      expect(spawnSync("nft", ["list", "ruleset"], { encoding: "utf8" }).stdout).toBe(rules);
    });

    test.skipIf(missing("doctor with fewer rights", command("setpriv", "--version")))(
      "E-20: without CAP_SYS_ADMIN a note says what was not tried, and where to run doctor",
      () => {
        const withoutRights = ["setpriv", "--bounding-set=-sys_admin", "--inh-caps=-sys_admin"];
        const found = checks({}, [[{ type: "ptp" }]], ...withoutRights).get("kernel-veth");
        expect(found?.found).toContain("not tried for network n0: a network namespace is refused (EPERM");
        expect(found?.finding).toMatchObject({ severity: "note", remedy: expect.stringContaining("as root on the node") });
      },
    );

    describe.skipIf(missing("doctor and the daemon's user", ownUid))("with a daemon that is a user of its own", () => {
      beforeAll(() => {
        mkdirSync(at("credentials"));
        chmodSync(at("credentials"), 0o755);
        writeFileSync(at("status.sock"), "");
        chownSync(at("status.sock"), uid, uid);
      });

      test("E-20: a kubeconfig for the daemon's group passes", () => {
        lay(uid, 0o640);
        expect(check()).toEqual({
          name: "kubeconfig",
          found: expect.stringContaining(`readable by the daemon's user ${uid}`),
          finding: null,
        });
      });

      test.each([
        ["that only root reads", () => lay(0, 0o600), "EACCES"],
        [
          "whose token only root reads",
          () => (lay(uid, 0o640), chmodSync(at("credentials", "token"), 0o600)),
          "token of kubeconfig",
        ],
        ["in a directory that only root passes", () => (lay(uid, 0o640), chmodSync(at("credentials"), 0o700)), "EACCES"],
      ])("E-20: a kubeconfig %s is an error with the group and the mode to set", (_, make, why) => {
        make();
        const finding = check()?.finding;
        chmodSync(at("credentials"), 0o755);
        expect(finding).toMatchObject({ severity: "error", message: expect.stringContaining(why) });
        expect(finding?.remedy).toContain(`group ${uid} and the mode 0640`);
      });
    });
  },
);
