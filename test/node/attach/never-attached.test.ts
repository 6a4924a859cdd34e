// Steps that never attached anything. A chain that cannot work is refused before its first step. A step whose ADD and DEL fail in the same
// way does not prevent the DEL of the chain's other steps. DEL without the namespace then succeeds and keeps no record.

import { copyFileSync, existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { filesBelow, leases } from "../../lab/namespaces.ts";
import { installRecorder, type RecorderPlugin } from "../../lab/recorder.ts";
import { manifestsIn } from "../../lab/manifests.ts";
import { bridgeStep, missingForMixed, mixedInstallation, shaperStep } from "../../lab/mixed-network.ts";
import { fullGrant, nothing, openStage, shown, type Attaching, type Stage } from "../../lab/stage.ts";

const broken = { stdout: '{"cniVersion":"1.0.0","code":105,"msg":"the backend is gone"}', exit: 1 };
const incompatible = { stdout: '{"cniVersion":"1.0.0","code":1,"msg":"incompatible CNI versions"}', exit: 1 };

const badSubnet = { type: "bridge", bridge: "br1", ipam: { type: "host-local", subnet: "not-a-subnet" } };
describe.skipIf(missingForMixed("steps that never attached"))("a step", () => {
  let stage: Stage;
  let recorder: RecorderPlugin;
  beforeEach(() => {
    stage = openStage({ ...mixedInstallation, components: ["ipam-host-local", "status-shaper", "tuning"] });
    recorder = installRecorder(stage.plexus.cniPath, "recorder");
  });
  afterEach(() => stage.dispose());

  const attaching = (config: object, more: Partial<Attaching> = {}): Attaching & { readonly pod: ReturnType<Stage["pod"]> } => ({
    config,
    containerId: "one",
    ...more,
    pod: stage.pod(),
  });
  const journal = (): readonly string[] => filesBelow(join(stage.plexus.state("cni"), "journal"));
  const verbs = (): readonly (string | undefined)[] => recorder.calls().map(({ env }) => env["CNI_COMMAND"]);

  /** A chain with the delegate `tuning`, which gets the grants in `tuning`. */
  /** Directories of this stage: other tests and users write to the reference plugin's own. */
  const tuningState = (): string => stage.plexus.runState("tuning");
  const tuningGrant = (directory = tuningState()): object => ({
    log: {},
    links: {},
    sysctl: { keys: ["net/core/somaxconn"] },
    state: { directories: [directory] },
  });
  const tunedNetwork = (dataDir: string, tuning: object): object => {
    const wasm = { prefer: ["tuning"], grants: { tuning, "ipam-host-local": fullGrant(stage.leases) } };
    return stage.network([bridgeStep(), { type: "tuning", sysctl: { "net.core.somaxconn": "500" }, dataDir }], { wasm });
  };

  /** A pod with a bridge as its default network, which selects a secondary network with these plugins. */
  function selecting(plugins: readonly object[]): ReturnType<typeof attaching> {
    const cluster = manifestsIn(join(stage.plexus.directory, "manifests"));
    cluster.definition("storage", { config: JSON.stringify({ cniVersion: "1.0.0", name: "storage", plugins }) });
    cluster.pod("web", "storage");
    const config = stage.network([bridgeStep()], { manifests: cluster.directory });
    return attaching(config, { args: cluster.argsOf("web") });
  }

  describe("that does not support the network's cniVersion", () => {
    test("as a component: refused before the first step", async () => {
      const each = attaching(stage.network([bridgeStep(), shaperStep], { cniVersion: "0.2.0" }));
      const added = await stage.call("ADD", each);
      expect([added.json?.["code"], added.json?.["msg"]]).toEqual([
        1,
        expect.stringMatching(
          /^network default: status-shaper: the network's cniVersion is "0\.2\.0", but the delegate supports 0\.3\.0/,
        ),
      ]);
      expect([stage.steps(), each.pod.links(), stage.left()]).toEqual([[], [], nothing]);
    });

    test("as a native plugin, by its VERSION: refused before the first step", async () => {
      recorder.script("VERSION", { stdout: '{"cniVersion":"1.0.0","supportedVersions":["0.3.0","1.0.0"]}' });
      const each = attaching(stage.network([bridgeStep(), { type: "recorder" }], { cniVersion: "0.2.0" }));
      const added = await stage.call("ADD", each);
      expect([added.json?.["code"], added.json?.["msg"]]).toEqual([
        1,
        `network default: recorder: the network's cniVersion is "0.2.0", plugin ${recorder.path} supports 0.3.0, 1.0.0`,
      ]);
      expect([verbs(), each.pod.links(), stage.left()]).toEqual([["VERSION"], [], nothing]);
    });

    test("does not get VERSION from 0.3.0 on, and is not refused if VERSION fails", async () => {
      const modern = attaching(stage.network([{ type: "recorder" }], { cniVersion: "0.3.0" }));
      await stage.succeed("ADD", modern);
      await stage.succeed("DEL", modern);
      recorder.script("VERSION", { stdout: "", exit: 1 });
      const old = attaching(stage.network([{ type: "recorder" }], { cniVersion: "0.1.0" }));
      await stage.succeed("ADD", old);
      await stage.succeed("DEL", old);
      expect(verbs()).toEqual(["ADD", "DEL", "VERSION", "ADD", "DEL"]);
    });

    test("does not prevent the DEL of the chain's other steps, and its failure is reported", async () => {
      const each = attaching(stage.network([bridgeStep(), { type: "recorder" }]));
      await stage.succeed("ADD", each);
      recorder.script("DEL", incompatible);
      const deleted = await stage.call("DEL", each);
      expect([deleted.json?.["code"], deleted.json?.["msg"]]).toEqual([
        1,
        expect.stringMatching(/type="recorder" failed \(delete\)/),
      ]);
      expect([each.pod.links(), leases(stage.leases), journal()]).toEqual([[], [], ["one@cluster@eth0"]]);
      rmSync(`${recorder.path}.script`, { recursive: true });
      await stage.succeed("DEL", each);
      expect(stage.left()).toEqual(nothing);
    });
  });

  describe("that lacks a grant", () => {
    test("as a component: the error first names the missing native plugin, then the missing grant", async () => {
      const each = attaching(stage.network([{ type: "status-shaper" }, { type: "tuned" }], {}));
      copyFileSync(join(stage.plexus.cniPath, "tuning.wasm"), join(stage.plexus.cniPath, "tuned.wasm"));
      const added = await stage.call("ADD", each);
      const { cniPath } = stage.plexus;
      expect([added.json?.["code"], added.json?.["msg"]]).toEqual([
        7,
        expect.stringMatching(
          new RegExp(
            `^network default: no native plugin "tuned" is in ${cniPath}; the component that was found lacks a grant: tuned: ${cniPath}/tuned.wasm: .*did not grant`,
            "u",
          ),
        ),
      ]);
      expect(stage.left()).toEqual(nothing);
    });

    test("for its state directory: ADD fails before a sysctl changes, and is rolled back", async () => {
      const each = attaching(tunedNetwork("/var/lib/elsewhere", tuningGrant()));
      const before = each.pod.exec(["cat", "/proc/sys/net/core/somaxconn"]).stdout;
      const added = await stage.call("ADD", each);
      expect([added.json?.["code"], added.json?.["msg"]]).toEqual([
        7,
        expect.stringMatching(
          /state: directory "\/var\/lib\/elsewhere" is not granted: wasm\.grants\.tuning\.state\.directories has/,
        ),
      ]);
      expect(each.pod.exec(["cat", "/proc/sys/net/core/somaxconn"]).stdout).toBe(before);
      expect([each.pod.links(), stage.left()]).toEqual([[], nothing]);
      await stage.call("DEL", each);
    });

    test.each([
      ["a capability", () => ({})],
      ["a part of a capability", () => tuningGrant("/run/cni/other")],
    ])("for %s that was granted at ADD: does not prevent the DEL of the chain's other steps", async (_, later) => {
      const each = attaching(tunedNetwork(tuningState(), tuningGrant()));
      await stage.succeed("ADD", each);
      const deleted = await stage.call("DEL", { ...each, config: tunedNetwork(tuningState(), later()) });
      expect([deleted.json?.["code"], deleted.json?.["msg"]]).toEqual([
        7,
        expect.stringMatching(/type="tuning" failed \(delete\)/),
      ]);
      expect([each.pod.links(), leases(stage.leases), journal()]).toEqual([[], [], ["one@cluster@eth0"]]);
      await stage.succeed("DEL", each);
      expect(stage.left()).toEqual(nothing);
    });
  });

  describe("that can't be started", () => {
    const garbage = Buffer.concat([Buffer.from([0, 0x61, 0x73, 0x6d, 0x0d, 0, 1, 0]), Buffer.from("garbage")]);
    const missingInterpreter = "#!/nonexistent/interpreter\n";

    test.each([
      ["a damaged component", "damaged", () => writeFileSync(join(stage.plexus.cniPath, "damaged.wasm"), garbage)],
      ["a component without its grants", "tuning", () => rmSync(join(stage.plexus.cniPath, "tuning"), { force: true })],
      [
        "a native plugin without its interpreter",
        "script",
        () => writeFileSync(join(stage.plexus.cniPath, "script"), missingInterpreter, { mode: 0o755 }),
      ],
    ])("as %s: its ADD is undone at once, and each DEL succeeds", async (_, type, install) => {
      install();
      for (const plugins of [[{ type }], [bridgeStep(), { type }], [{ type }, bridgeStep()]]) {
        const each = attaching(stage.network(plugins));
        const added = await stage.call("ADD", each);
        expect([added.status, added.json?.["details"]]).toEqual([1, expect.not.stringContaining("Undoing failed")]);
        expect([each.pod.links(), stage.left().leases, journal()]).toEqual([[], [], []]);
        for (const pod of [each.pod, ""])
          expect(await stage.call("DEL", { ...each, pod })).toMatchObject({ status: 0, stdout: "" });
        expect(journal()).toEqual([]);
      }
      expect(stage.left()).toEqual(nothing);
    });

    test("any more in DEL: the chain's other steps are undone, the DEL fails, and succeeds once the plugin is whole", async () => {
      const each = attaching(stage.network([bridgeStep(), { type: "recorder" }]));
      await stage.succeed("ADD", each);
      const whole = readFileSync(recorder.path);
      writeFileSync(recorder.path, missingInterpreter);
      expect((await stage.call("DEL", each)).json).toMatchObject({
        code: 5,
        msg: expect.stringMatching(/recorder could not be started: the interpreter that its first line or its ELF header names/),
      });
      expect([each.pod.links(), leases(stage.leases), journal()]).toEqual([[], [], ["one@cluster@eth0"]]);
      writeFileSync(recorder.path, whole);
      await stage.succeed("DEL", each);
      expect(stage.left()).toEqual(nothing);
    });
  });

  describe("whose ADD and DEL fail in the same way", () => {
    test("as the native bridge's with an invalid subnet: DEL fails while the namespace exists, then succeeds without a record", async () => {
      const each = selecting([badSubnet]);
      const added = await stage.call("ADD", each);
      expect([added.status, added.json?.["msg"]]).toEqual([1, expect.stringContaining("invalid CIDR address: not-a-subnet")]);
      expect([journal(), leases(stage.leases)]).toEqual([["one@cluster@eth0"], []]);
      expect((await stage.call("DEL", each)).json).toMatchObject({ msg: expect.stringContaining("invalid CIDR address") });
      each.pod.dispose();
      const deleted = await stage.call("DEL", each);
      expect([deleted.status, deleted.stdout, deleted.stderr]).toEqual([
        0,
        "",
        expect.stringMatching(
          /network shop\/storage was never attached to container one as net1: .*not-a-subnet.*DEL succeeds without a record/,
        ),
      ]);
      await expect.poll(() => stage.left()).toEqual(nothing);
    });

    test("is given up by the first DEL without a namespace", async () => {
      const each = selecting([{ type: "recorder" }]);
      recorder.script("ADD", broken);
      recorder.script("DEL", broken);
      expect((await stage.call("ADD", each)).status).toBe(1);
      const deleted = await stage.call("DEL", { ...each, pod: "" });
      expect([deleted.status, deleted.stderr]).toEqual([0, expect.stringContaining("never attached")]);
      expect(stage.left()).toEqual(nothing);
    });

    test("does not prevent the DEL of the chain's other steps", async () => {
      const each = selecting([bridgeStep({ bridge: "br1", isDefaultGateway: false }), { type: "recorder" }]);
      recorder.script("ADD", broken);
      recorder.script("DEL", broken);
      stage.steps();
      expect((await stage.call("ADD", each)).status).toBe(1);
      expect(shown(stage.steps()).slice(-5)).toEqual([
        "DEL recorder native failed",
        "DEL ipam-host-local wasm nested",
        "DEL bridge native",
        "DEL ipam-host-local wasm nested",
        "DEL bridge native",
      ]);
      expect([each.pod.links(), leases(stage.leases)]).toEqual([[], []]);
    });

    test.each([
      ["fails with another error in DEL", broken, { ...broken, stdout: broken.stdout.replace("gone", "slow") }],
      ["was killed in ADD and in DEL", { kill: 9 }, { kill: 9 }],
      ["may succeed later", tryAgainLater(), tryAgainLater()],
    ])("is not given up if it %s, because it may have attached something", async (_, inAdd, inDel) => {
      const each = selecting([{ type: "recorder" }]);
      recorder.script("ADD", inAdd);
      recorder.script("DEL", inDel);
      expect((await stage.call("ADD", each)).status).toBe(1);
      expect((await stage.call("DEL", { ...each, pod: "" })).status).toBe(1);
      expect(journal()).toEqual(["one@cluster@eth0"]);
    });

    test("is not given up if its ADD succeeded with an invalid result", async () => {
      const each = selecting([{ type: "recorder" }]);
      recorder.script("ADD", { stdout: "what?" });
      recorder.script("DEL", broken);
      expect((await stage.call("ADD", each)).status).toBe(1);
      expect((await stage.call("DEL", { ...each, pod: "" })).status).toBe(1);
      const entry = join(stage.plexus.state("cni"), "journal", "one@cluster@eth0");
      expect([existsSync(entry), readFileSync(entry, "utf8").includes("addFailed")]).toEqual([true, false]);
    });
  });
});

function tryAgainLater(): { readonly stdout: string; readonly exit: number } {
  return { stdout: '{"cniVersion":"1.0.0","code":11,"msg":"busy"}', exit: 1 };
}
