// Resolution of a plugin's type to a native plugin or a component, refusal of components without grants, and delegates as plugins.

import { accessSync, constants, copyFileSync, mkdirSync, renameSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { leases } from "../../lab/namespaces.ts";
import type { Answer } from "../../lab/plexus.ts";
import { installRecorder } from "../../lab/recorder.ts";
import { missing, type Requirement } from "../../lab/requires.ts";
import { bridgeStep, missingForMixed, mixedInstallation, shaperStep } from "../../lab/mixed-network.ts";
import { fullGrant, nothing, openStage, shown, type Attaching, type Stage } from "../../lab/stage.ts";

/** A network of a runtime without a Plexus configuration. */
const foreign = { cniVersion: "1.0.0", name: "direct", type: "x" };

/** Without a host configuration the leases are in native host-local's directory, which an unprivileged user may not write. */
const hostLocalDirectory: Requirement = () => {
  try {
    accessSync("/var/lib/cni", constants.W_OK);
    return undefined;
  } catch {
    return "/var/lib/cni is not writable";
  }
};

describe.skipIf(missingForMixed("type resolution"))("a type", () => {
  let stage: Stage;
  beforeEach(() => {
    stage = openStage(mixedInstallation);
  });
  afterEach(() => stage.dispose());

  /** Runs ADD and DEL of a chain `first`, `status-shaper`, and answers the kind of plugin that `status-shaper` was. */
  async function shaperSteps(more: object, cniPath: string): Promise<readonly string[]> {
    const config = stage.network([{ type: "first" }, shaperStep], more);
    const attaching = { config, containerId: "kinds", pod: stage.pod(), cniPath };
    await stage.succeed("ADD", attaching);
    await stage.succeed("DEL", attaching);
    expect(stage.left()).toEqual(nothing);
    return shown(stage.steps()).filter((step) => step.includes("status-shaper"));
  }

  /** Calls the delegate like any CNI plugin, without a Plexus configuration. */
  const direct = (verb: string, more: object = {}): Promise<Answer> =>
    stage.request({
      as: "ipam-host-local",
      verb,
      containerId: "direct",
      netns: "/run/netns/direct",
      ifname: "eth0",
      config: { ...foreign, ipam: { type: "ipam-host-local", subnet: "10.14.0.0/24" }, ...more },
    });

  describe("E-1: with a native binary and a component", () => {
    const native = ["ADD status-shaper native", "DEL status-shaper native"];
    const wasm = ["ADD status-shaper wasm", "DEL status-shaper wasm"];

    test.each([
      { title: "selects the native binary of the same directory", wasm: {}, expected: native },
      { title: "selects the component if wasm.prefer is true", wasm: { prefer: true }, expected: wasm },
      { title: "selects the component if wasm.prefer lists it", wasm: { prefer: ["status-shaper"] }, expected: wasm },
      { title: "selects the native binary if wasm.prefer lists other types", wasm: { prefer: ["first"] }, expected: native },
      { title: "selects the native binary if wasm.prefer is false", wasm: { prefer: false }, expected: native },
    ])("$title", async ({ wasm: settings, expected }) => {
      const recorder = installRecorder(stage.plexus.cniPath, "status-shaper");
      installRecorder(stage.plexus.cniPath, "first");
      expect(await shaperSteps({ wasm: settings }, stage.plexus.cniPath)).toEqual(expected);
      expect(recorder.calls()).toHaveLength(expected === native ? 2 : 0);
    });

    test.each([
      {
        title: "selects the component in an earlier directory of CNI_PATH",
        order: ["with-component", "with-native"],
        expected: wasm,
      },
      {
        title: "selects the binary in an earlier directory of CNI_PATH",
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
      expect(await shaperSteps({}, path.join(":"))).toEqual(expected);
      // wasm.prefer decides within one directory only; the order of directories comes first.
      expect(await shaperSteps({ wasm: { prefer: true } }, path.join(":"))).toEqual(expected);
    });

    test("selects the native binary in a nested call too, unless an earlier directory has the component", async () => {
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

  describe("is resolved in every call", () => {
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

    test("to a component that was added in an earlier directory, and to the binary after the component was removed", async () => {
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
      // The components are added between ADD and DEL.
      copyFileSync(component, join(front, "status-shaper.wasm"));
      copyFileSync(component, join(front, "first.wasm"));
      await stage.succeed("DEL", attaching);
      expect(shown(stage.steps())).toEqual(["DEL status-shaper wasm", "DEL first wasm"]);
      // status-shaper refuses to be a chain's first step; this error proves that the component was executed.
      const added = await stage.call("ADD", attaching);
      expect([added.status, added.json]).toMatchObject([
        1,
        { msg: expect.stringContaining("status-shaper must follow other plugins") },
      ]);
      expect(shown(stage.steps())[0]).toBe("ADD first wasm failed");
      expect(stage.left()).toEqual(nothing);
    });

    test("and ADD with a missing plugin executes no step of the chain", async () => {
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

    test("and DEL with a missing plugin fails, and succeeds after the plugin was restored", async () => {
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

  test("without a plugin fails with code 7 and names the searched directories", async () => {
    const attaching = { config: stage.network([{ type: "no-such-plugin" }]), containerId: "absent", pod: stage.pod() };
    const added = await stage.call("ADD", attaching);
    expect([added.status, added.json]).toMatchObject([
      1,
      { code: 7, msg: expect.stringContaining(`looked for no-such-plugin and no-such-plugin.wasm in ${stage.plexus.cniPath}`) },
    ]);
    expect(attaching.pod.links()).toEqual([]);
  });

  describe("with a component that lacks a grant", () => {
    const refusal = {
      code: 7,
      msg: expect.stringMatching(/ipam-host-local imports leases .*did not grant \(granted: log, resolver; /),
    };

    test.each([
      {
        title: "is refused with the delegate's name as a step",
        plugins: [{ type: "ipam-host-local", ipam: { subnet: "10.10.0.0/24" } }],
      },
      { title: "is refused with the delegate's name as a native plugin's IPAM", plugins: [bridgeStep()] },
    ])("$title, and nothing is attached", async ({ plugins }) => {
      const attaching = {
        config: stage.network(plugins, { wasm: { grants: { "ipam-host-local": { log: {}, resolver: {} } } } }),
        containerId: "refused",
        pod: stage.pod(),
      };
      const added = await stage.call("ADD", attaching);
      expect([added.status, added.json]).toMatchObject([1, refusal]);
      expect([attaching.pod.links(), stage.left().links, leases(stage.leases)]).toEqual([[], [], []]);
      // With the grant, DEL removes the journal entry.
      await stage.succeed("DEL", { ...attaching, config: stage.network(plugins) });
      expect(stage.left()).toEqual(nothing);
    });

    test("a lease directory without a grant is refused with its path", async () => {
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

    test("a delegate does not get the grants of another delegate", async () => {
      const grants = { "status-shaper": fullGrant(stage.leases), "ipam-host-local": { log: {}, resolver: {} } };
      const attaching: Attaching = {
        config: stage.network([bridgeStep(), shaperStep], { wasm: { grants } }),
        containerId: "borrowed",
        pod: stage.pod(),
      };
      expect((await stage.call("ADD", attaching)).json).toMatchObject(refusal);
    });
  });

  describe.skipIf(missing("a delegate as a CNI plugin", hostLocalDirectory))("that is a link to the shim", () => {
    beforeEach(() => symlinkSync("plexus", join(stage.plexus.cniPath, "ipam-host-local")));
    afterEach(() => rmSync("/var/lib/cni/networks/direct", { recursive: true, force: true }));

    test("works as a CNI plugin of any runtime, with leases in host-local's directory", async () => {
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

    test("answers VERSION with the delegate's versions, and errors in the specification's form", async () => {
      const versions = await direct("VERSION");
      expect([versions.status, versions.json]).toMatchObject([
        0,
        { cniVersion: expect.any(String), supportedVersions: expect.arrayContaining(["0.3.1", "1.0.0", "1.1.0"]) },
      ]);
      const refused = await direct("ADD", { ipam: { subnet: "10.14.0.0/33" } });
      expect([refused.status, refused.json]).toMatchObject([
        1,
        { cniVersion: "1.0.0", code: 7, msg: expect.stringMatching(/subnet/) },
      ]);
    });

    test("works as IPAM of a native plugin that the runtime executed", async () => {
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
