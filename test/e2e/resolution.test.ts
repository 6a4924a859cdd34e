// How a type finds its plugin, what a component may use, and a delegate that is a plugin of its own.

import { accessSync, constants, copyFileSync, mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { leases } from "../harness/namespaces.ts";
import type { Answer } from "../harness/plexus.ts";
import { installRecorder } from "../harness/recorder.ts";
import { missing, type Requirement } from "../harness/requires.ts";
import { bridgeStep, missingForMixed, mixedInstallation, shaperStep } from "./mixed-network.ts";
import { fullGrant, nothing, openStage, shown, type Attaching, type Stage } from "./stage.ts";

/** A network of a runtime that knows nothing of Plexus. */
const foreign = { cniVersion: "1.0.0", name: "direct", type: "x" };

/** Without a host configuration leases go where native host-local has them; without root that may not be ours. */
const hostLocalDirectory: Requirement = () => {
  try {
    accessSync("/var/lib/cni", constants.W_OK);
    return undefined;
  } catch {
    return "/var/lib/cni can't be written";
  }
};

describe.skipIf(missingForMixed("type resolution"))("a type", () => {
  let stage: Stage;
  beforeEach(() => {
    stage = openStage(mixedInstallation);
  });
  afterEach(() => stage.dispose());

  /** Runs `first`, then `status-shaper`, and answers as what the latter ran. */
  async function kindOfShaper(more: object, cniPath: string): Promise<readonly string[]> {
    const config = stage.network([{ type: "first" }, shaperStep], more);
    const attaching = { config, containerId: "kinds", pod: stage.pod(), cniPath };
    await stage.succeed("ADD", attaching);
    await stage.succeed("DEL", attaching);
    expect(stage.left()).toEqual(nothing);
    return shown(stage.steps()).filter((step) => step.includes("status-shaper"));
  }

  /** Calls the delegate as any runtime calls any plugin: no configuration of Plexus is anywhere. */
  const direct = (verb: string, more: object = {}): Promise<Answer> =>
    stage.request({
      as: "ipam-host-local",
      verb,
      containerId: "direct",
      netns: "/run/netns/direct",
      ifname: "eth0",
      config: { ...foreign, ipam: { type: "ipam-host-local", subnet: "10.14.0.0/24" }, ...more },
    });

  describe("that names a native binary and a component", () => {
    const native = ["ADD status-shaper native", "DEL status-shaper native"];
    const wasm = ["ADD status-shaper wasm", "DEL status-shaper wasm"];

    test.each([
      { title: "in one directory is the native binary", wasm: {}, expected: native },
      { title: "is the component where wasm.prefer is true", wasm: { prefer: true }, expected: wasm },
      { title: "is the component where wasm.prefer lists it", wasm: { prefer: ["status-shaper"] }, expected: wasm },
      { title: "is native where wasm.prefer lists others", wasm: { prefer: ["first"] }, expected: native },
      { title: "is native where wasm.prefer is false", wasm: { prefer: false }, expected: native },
    ])("$title", async ({ wasm: settings, expected }) => {
      const recorder = installRecorder(stage.plexus.cniPath, "status-shaper");
      installRecorder(stage.plexus.cniPath, "first");
      expect(await kindOfShaper({ wasm: settings }, stage.plexus.cniPath)).toEqual(expected);
      expect(recorder.calls()).toHaveLength(expected === native ? 2 : 0);
    });

    test.each([
      {
        title: "is what the earlier directory of CNI_PATH has, the component",
        order: ["with-component", "with-native"],
        expected: wasm,
      },
      {
        title: "is what the earlier directory of CNI_PATH has, the binary",
        order: ["with-native", "with-component"],
        expected: native,
      },
    ])("$title", async ({ order, expected }) => {
      const { directory, cniPath } = stage.plexus;
      const path = order.map((name) => join(directory, name));
      for (const each of path) mkdirSync(each);
      installRecorder(join(directory, "with-native"), "status-shaper");
      installRecorder(join(directory, "with-native"), "first");
      copyFileSync(join(cniPath, "status-shaper.wasm"), join(directory, "with-component", "status-shaper.wasm"));
      rmSync(join(cniPath, "status-shaper.wasm"));
      expect(await kindOfShaper({}, path.join(":"))).toEqual(expected);
      // The directory's order counts before the preference: that one is for two in the same directory.
      expect(await kindOfShaper({ wasm: { prefer: true } }, path.join(":"))).toEqual(expected);
    });

    test("nested is the native binary too, unless another directory with the component comes first", async () => {
      const recorder = installRecorder(stage.plexus.cniPath, "ipam-host-local");
      recorder.script("ADD", { stdout: '{"cniVersion":"1.0.0","ips":[{"address":"10.10.0.77/24","gateway":"10.10.0.1"}]}' });
      const attaching = { config: stage.network([bridgeStep()]), containerId: "nested", pod: stage.pod() };
      const added = await stage.succeed("ADD", attaching);
      expect(added.json).toMatchObject({ ips: [{ address: "10.10.0.77/24" }] });
      await stage.succeed("DEL", attaching);
      expect(shown(stage.steps())).toEqual(["ADD bridge native", "DEL bridge native"]);

      const first = join(stage.plexus.directory, "first");
      mkdirSync(first);
      copyFileSync(join(stage.plexus.cniPath, "ipam-host-local.wasm"), join(first, "ipam-host-local.wasm"));
      const other = { ...attaching, cniPath: `${first}:${stage.plexus.cniPath}` };
      await stage.succeed("ADD", other);
      expect(shown(stage.steps())).toEqual(["ADD ipam-host-local wasm nested", "ADD bridge native"]);
      await stage.succeed("DEL", other);
      expect(stage.left()).toEqual(nothing);
    });
  });

  describe("that earlier calls found is looked up anew", () => {
    let attaching: Attaching & { readonly cniPath: string };
    let front = "";
    let component = "";
    let calls: () => number;
    beforeEach(async () => {
      const { directory, cniPath } = stage.plexus;
      front = join(directory, "front");
      mkdirSync(front);
      const recorders = ["first", "status-shaper"].map((type) => installRecorder(cniPath, type));
      calls = () => recorders.flatMap((each) => each.calls()).length;
      const config = stage.network([{ type: "first" }, shaperStep]);
      attaching = { config, containerId: "again", pod: stage.pod(), cniPath: `${front}:${cniPath}` };
      component = join(cniPath, "status-shaper.wasm");
      for (const verb of ["ADD", "DEL"]) await stage.succeed(verb, attaching);
    });

    test("and is the component that comes before it now, and the binary again without that", async () => {
      expect(shown(stage.steps())).toEqual([
        "ADD first native",
        "ADD status-shaper native",
        "DEL status-shaper native",
        "DEL first native",
      ]);
      copyFileSync(component, join(front, "status-shaper.wasm"));
      for (const verb of ["ADD", "DEL"]) await stage.succeed(verb, attaching);
      expect(shown(stage.steps())).toEqual([
        "ADD first native",
        "ADD status-shaper wasm",
        "DEL status-shaper wasm",
        "DEL first native",
      ]);
      rmSync(join(front, "status-shaper.wasm"));
      await stage.succeed("ADD", attaching);
      expect(shown(stage.steps())).toEqual(["ADD first native", "ADD status-shaper native"]);
      // Between ADD and DEL.
      copyFileSync(component, join(front, "status-shaper.wasm"));
      copyFileSync(component, join(front, "first.wasm"));
      await stage.succeed("DEL", attaching);
      expect(shown(stage.steps())).toEqual(["DEL status-shaper wasm", "DEL first wasm"]);
      // This component can't be a chain's first: that it says so shows that it was the one to run.
      const added = await stage.call("ADD", attaching);
      expect([added.status, added.json]).toMatchObject([1, { msg: expect.stringContaining("chained behind others") }]);
      expect(shown(stage.steps())[0]).toBe("ADD first wasm failed");
      expect(stage.left()).toEqual(nothing);
    });

    test("and nothing is begun where it is gone, whichever of them", async () => {
      const before = calls();
      rmSync(component);
      for (const type of ["status-shaper", "first"]) {
        const binary = join(stage.plexus.cniPath, type);
        renameSync(binary, `${binary}.away`);
        const added = await stage.call("ADD", attaching);
        expect([added.status, added.json]).toMatchObject([1, { code: 7, msg: expect.stringContaining(`plugin "${type}"`) }]);
        expect([calls(), stage.left()]).toEqual([before, nothing]);
        renameSync(`${binary}.away`, binary);
      }
      for (const verb of ["ADD", "DEL"]) await stage.succeed(verb, attaching);
      expect([calls(), stage.left()]).toEqual([before + 4, nothing]);
    });

    test("and a DEL whose plugin is gone says so, and succeeds when it is back", async () => {
      await stage.succeed("ADD", attaching);
      rmSync(component);
      const binary = join(stage.plexus.cniPath, "status-shaper");
      renameSync(binary, `${binary}.away`);
      const deleted = await stage.call("DEL", attaching);
      expect([deleted.status, deleted.json]).toMatchObject([
        1,
        { msg: expect.stringContaining('failed to find plugin "status-shaper"') },
      ]);
      renameSync(`${binary}.away`, binary);
      await stage.succeed("DEL", attaching);
      expect(stage.left()).toEqual(nothing);
    });
  });

  test("that no directory has fails with code 7 and says where it was looked for", async () => {
    const attaching = { config: stage.network([{ type: "no-such-plugin" }]), containerId: "absent", pod: stage.pod() };
    const added = await stage.call("ADD", attaching);
    expect([added.status, added.json]).toMatchObject([
      1,
      { code: 7, msg: expect.stringContaining(`looked for no-such-plugin and no-such-plugin.wasm in ${stage.plexus.cniPath}`) },
    ]);
    expect(attaching.pod.links()).toEqual([]);
  });

  describe("that is a component whose capabilities are not all granted", () => {
    const refusal = {
      code: 7,
      msg: expect.stringMatching(/ipam-host-local imports leases .*did not grant \(granted: log, resolver; /),
    };

    test.each([
      { title: "is refused by name as a step", plugins: [{ type: "ipam-host-local", ipam: { subnet: "10.10.0.0/24" } }] },
      { title: "is refused by name as a native plugin's IPAM", plugins: [bridgeStep()] },
    ])("$title, and nothing is attached", async ({ plugins }) => {
      const attaching = {
        config: stage.network(plugins, { wasm: { grants: { "ipam-host-local": { log: {}, resolver: {} } } } }),
        containerId: "refused",
        pod: stage.pod(),
      };
      const added = await stage.call("ADD", attaching);
      expect([added.status, added.json]).toMatchObject([1, refusal]);
      expect([attaching.pod.links(), stage.left().links, leases(stage.leases)]).toEqual([[], [], []]);
      // Once the administrator grants it, DEL cleans up what the journal kept for it.
      await stage.succeed("DEL", { ...attaching, config: stage.network(plugins) });
      expect(stage.left()).toEqual(nothing);
    });

    test("a directory for leases that isn't granted is refused by its path", async () => {
      const elsewhere = join(stage.plexus.directory, "elsewhere");
      const ipam = { type: "ipam-host-local", subnet: "10.10.0.0/24", dataDir: elsewhere };
      const attaching = { config: stage.network([bridgeStep({ ipam })]), containerId: "elsewhere", pod: stage.pod() };
      const added = await stage.call("ADD", attaching);
      expect([added.status, added.json]).toMatchObject([1, { code: 7, msg: expect.stringContaining(elsewhere) }]);
      expect([attaching.pod.links(), stage.left().links, leases(elsewhere)]).toEqual([[], [], []]);
      const wasm = {
        grants: { "ipam-host-local": { log: {}, resolver: {}, leases: { directories: [stage.leases, elsewhere] } } },
      };
      await stage.succeed("DEL", { ...attaching, config: stage.network([bridgeStep({ ipam })], { wasm }) });
      expect(stage.left()).toEqual(nothing);
    });

    test("others' grants are not its own", async () => {
      const grants = { "status-shaper": fullGrant(stage.leases), "ipam-host-local": { log: {}, resolver: {} } };
      const attaching: Attaching = {
        config: stage.network([bridgeStep(), shaperStep], { wasm: { grants } }),
        containerId: "borrowed",
        pod: stage.pod(),
      };
      expect((await stage.call("ADD", attaching)).json).toMatchObject(refusal);
    });
  });

  describe.skipIf(missing("a delegate of its own", hostLocalDirectory))("that is a link to the hands", () => {
    beforeEach(() => symlinkSync("plexus", join(stage.plexus.cniPath, "ipam-host-local")));
    afterEach(() => rmSync("/var/lib/cni/networks/direct", { recursive: true, force: true }));

    test("is a CNI plugin for any runtime, in host-local's own directory", async () => {
      const added = await direct("ADD");
      expect([added.status, added.json]).toMatchObject([
        0,
        { cniVersion: "1.0.0", ips: [{ address: "10.14.0.2/24", gateway: "10.14.0.1" }] },
      ]);
      expect(leases("/var/lib/cni/networks/direct")).toEqual(["10.14.0.2"]);
      expect((await direct("CHECK")).status).toBe(0);
      const again = await direct("ADD");
      expect([again.status, again.json?.["msg"]]).toEqual([1, expect.stringMatching(/duplicate|already/)]);
      expect([(await direct("DEL")).status, (await direct("DEL")).status]).toEqual([0, 0]);
      expect(leases("/var/lib/cni/networks/direct")).toEqual([]);
      expect((await direct("CHECK")).status).toBe(1);
    });

    test("answers VERSION with the delegate's versions, and errors as the specification has them", async () => {
      const versions = await direct("VERSION");
      expect([versions.status, versions.json]).toMatchObject([
        0,
        { cniVersion: expect.any(String), supportedVersions: expect.arrayContaining(["0.3.1", "1.0.0", "1.1.0"]) },
      ]);
      const wrong = await direct("ADD", { ipam: { subnet: "10.14.0.0/33" } });
      expect([wrong.status, wrong.json]).toMatchObject([
        1,
        { cniVersion: "1.0.0", code: 7, msg: expect.stringMatching(/subnet/) },
      ]);
    });

    test("is called by a native plugin that plexus didn't start", async () => {
      const pod = stage.pod();
      const config = { ...foreign, ...bridgeStep({ ipam: { type: "ipam-host-local", subnet: "10.14.0.0/24" } }) };
      const run = (verb: string): Promise<Answer> =>
        stage.request({ as: "bridge", verb, containerId: "foreign", netns: pod.path, ifname: "eth0", config });
      const added = await run("ADD");
      expect([added.status, added.json]).toMatchObject([0, { ips: [{ address: "10.14.0.2/24" }] }]);
      expect((await run("DEL")).status).toBe(0);
      expect([pod.links(), leases("/var/lib/cni/networks/direct"), stage.left()]).toEqual([[], [], nothing]);
    });
  });
});
