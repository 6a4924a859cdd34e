// The selection annotation, from its elements to the configuration of plugins (NPWG sections 3.4 and 4), through the installed binary.

import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import type { Answer } from "../../lab/plexus.ts";
import { callsInOrder, installRecorder, type RecordedCall, type RecorderPlugin } from "../../lab/recorder.ts";
import { manifestsIn, type Manifests } from "../../lab/manifests.ts";
import { missingForMixed, mixedInstallation } from "../../lab/mixed-network.ts";
import { nothing, openStage, type Attaching, type Stage } from "../../lab/stage.ts";

type Json = Readonly<Record<string, unknown>>;

const names = ["main", "one", "two", "three"] as const;
type Name = (typeof names)[number];
/** The address in a recorder's default answer. */
const address = "10.99.0.2";
const mac = "02:00:00:00:00:01";

function stdinOf(call: RecordedCall | undefined): Json {
  return JSON.parse(call?.stdin ?? "null") as Json;
}

/** The `args` of a definition's plugin. */
function definitionArgs(text: string): object {
  return { args: { cni: { own: text, color: "red" }, other: 1 } };
}

function tupleOf({ plugin, env, stdin }: RecordedCall): string {
  return [plugin, env["CNI_CONTAINERID"], String((JSON.parse(stdin) as Json)["name"]), env["CNI_IFNAME"]].join(" ");
}

describe.skipIf(missingForMixed("selection"))("a pod's selection", () => {
  let stage: Stage;
  let manifests: Manifests;
  let recorders: Record<Name, RecorderPlugin>;
  beforeEach(() => {
    stage = openStage(mixedInstallation);
    manifests = manifestsIn(join(stage.plexus.directory, "manifests"));
    const installed = names.map((name) => [name, installRecorder(stage.plexus.cniPath, name)] as const);
    recorders = Object.fromEntries(installed) as Record<Name, RecorderPlugin>;
    for (const name of names.slice(1)) manifests.network(name, [{ type: name }]);
  });
  afterEach(() => stage.dispose());

  const capable = (name: Name, ...capabilities: readonly string[]): void => {
    manifests.network(name, [{ type: name, capabilities: Object.fromEntries(capabilities.map((each) => [each, true])) }]);
  };
  const confDir = (): string => join(stage.plexus.directory, "conf");
  const attaching = (name: string, more: object = {}): Attaching => ({
    config: stage.network([{ type: "main" }], { manifests: manifests.directory, confDir: confDir(), ...more }),
    containerId: `ctr-${name}`,
    pod: stage.pod(),
    args: manifests.argsOf(name),
  });
  const onDisk = (file: string, configuration: object): void => {
    mkdirSync(confDir(), { recursive: true });
    writeFileSync(join(confDir(), file), JSON.stringify(configuration));
  };
  const executed = (): readonly string[] =>
    callsInOrder(Object.values(recorders)).map(({ env, plugin }) => `${env["CNI_COMMAND"]} ${plugin} ${env["CNI_IFNAME"]}`);
  /** Attaches the pod `web` with this selection. */
  const add = async (selection: string | readonly object[], more: object = {}): Promise<Answer> => {
    manifests.pod("web", selection);
    return stage.call("ADD", attaching("web", more));
  };
  const expectAdded = async (selection: string | readonly object[], more: object = {}): Promise<Answer> => {
    const answer = await add(selection, more);
    expect([answer.status, answer.stdout, answer.stderr].join("\n")).toMatch(/^0\n/);
    return answer;
  };
  const expectRefused = async (selection: string | readonly object[], message: RegExp, more: object = {}): Promise<void> => {
    const answer = await add(selection, more);
    expect([answer.status, answer.json]).toMatchObject([1, { code: 7, msg: expect.stringMatching(message) }]);
    expect([executed(), stage.left(), manifests.statusOf("web")]).toEqual([[], nothing, undefined]);
  };

  describe("names a definition", () => {
    test("N1-05, N1-14: whose config is a single configuration, a list, or a configuration without a name, which gets the definition's name", async () => {
      manifests.definition("single", { config: '{"cniVersion":"0.3.0","name":"single","type":"one"}' });
      manifests.definition("list", { config: '{"cniVersion":"0.4.0","name":"list","plugins":[{"type":"two"}]}' });
      manifests.definition("a-bridge-network", { config: '{"cniVersion":"0.3.0","type":"three"}' });
      await expectAdded("single,list,a-bridge-network");
      expect(stdinOf(recorders.one.calls()[0])).toEqual({ cniVersion: "0.3.0", name: "single", type: "one" });
      expect(stdinOf(recorders.two.calls()[0])).toEqual({ cniVersion: "0.4.0", name: "list", type: "two" });
      // The example of the specification (3.4.2.1).
      expect(stdinOf(recorders.three.calls()[0])).toEqual({ cniVersion: "0.3.0", name: "a-bridge-network", type: "three" });
    });

    test("N1-04, N1-10, N1-11: without a config, which is read from the node's files: first a list, otherwise a single configuration", async () => {
      manifests.definition("disk");
      onDisk("00-single.conf", { cniVersion: "1.0.0", name: "disk", type: "one" });
      await expectAdded("disk");
      expect(executed()).toEqual(["ADD main eth0", "ADD one net1"]);
      onDisk("99-list.configlist", { cniVersion: "1.0.0", name: "disk", plugins: [{ type: "two" }] });
      manifests.pod("later", "disk");
      await stage.succeed("ADD", attaching("later"));
      expect(executed().slice(2)).toEqual(["ADD main eth0", "ADD two net1"]);
    });

    test("N1-09: whose config takes precedence over a file of the same name", async () => {
      onDisk("00-one.conflist", { cniVersion: "1.0.0", name: "one", plugins: [{ type: "two" }] });
      await expectAdded("one");
      expect(executed()).toEqual(["ADD main eth0", "ADD one net1"]);
    });

    test("N1-12: without any configuration, which fails ADD before a plugin runs", async () => {
      manifests.definition("nowhere", {});
      onDisk("00-other.conflist", { cniVersion: "1.0.0", name: "other", plugins: [{ type: "two" }] });
      await expectRefused("one,nowhere", /shop\/nowhere/);
    });

    test("N1-15: whose configuration has another name, which works with a warning", async () => {
      manifests.definition("mine", { config: '{"cniVersion":"1.0.0","name":"yours","type":"one"}' });
      expect((await expectAdded("mine")).stderr).toMatch(/warning: .*shop\/mine.*"yours"/);
      expect(stdinOf(recorders.one.calls()[0])).toMatchObject({ name: "yours" });
      expect(manifests.statusOf("web")).toMatchObject([{}, { name: "shop/mine" }]);
    });

    test("N1-06, N11-02: and ignores annotations of other implementations on the definition and the pod", async () => {
      manifests.network("one", [{ type: "one" }], { "openstack.org/kuryr-config": '{"subnetId":"x"}' });
      manifests.pod("web", "one", { "openstack.org/kuryr-vif": "{", "example.com/networks": "two" });
      await stage.succeed("ADD", attaching("web"));
      expect(executed()).toEqual(["ADD main eth0", "ADD one net1"]);
    });

    test("N1-22: of the pod's namespace if the element names none, whatever the previous element names", async () => {
      manifests.definition("one", { config: '{"cniVersion":"1.0.0","name":"foreign","type":"two"}' }, { namespace: "other" });
      await expectAdded([{ name: "one", namespace: "other" }, { name: "one", namespace: "" }, { name: "one" }]);
      expect(executed()).toEqual(["ADD main eth0", "ADD two net1", "ADD one net2", "ADD one net3"]);
    });

    test("N1-20: with an unknown reserved key, which causes a warning; keys with a period are ignored", async () => {
      const answer = await expectAdded([{ name: "one", colour: "blue", "example.com/mine": { a: 1 } }]);
      expect(answer.stderr).toMatch(/warning: element 0: .*"colour"/);
      expect(answer.stderr).not.toMatch(/example\.com/);
    });
  });

  describe("makes attachments", () => {
    test("N1-33: to one network twice, with two ADDs, two interface names and two status entries", async () => {
      await expectAdded("one,one");
      expect(executed()).toEqual(["ADD main eth0", "ADD one net1", "ADD one net2"]);
      expect(manifests.statusOf("web")).toMatchObject([
        { default: true },
        { name: "shop/one", interface: "net1", default: false },
        { name: "shop/one", interface: "net2", default: false },
      ]);
    });

    test("N1-34: whose container ID, network and interface stay the same although definitions and annotation change", async () => {
      manifests.pod("web", "one,two,three");
      const web = attaching("web");
      await stage.succeed("ADD", web);
      manifests.pod("web", "three");
      manifests.network("one", [{ type: "two" }]);
      manifests.definition("two", { config: '{"cniVersion":"1.0.0","name":"renamed","type":"two"}' });
      await stage.succeed("CHECK", web);
      await stage.succeed("DEL", web);
      const all = callsInOrder(Object.values(recorders));
      const tuples = (verb: string): readonly string[] => all.filter(({ env }) => env["CNI_COMMAND"] === verb).map(tupleOf);
      expect(tuples("ADD")).toEqual([
        "main ctr-web pods eth0",
        "one ctr-web one net1",
        "two ctr-web two net2",
        "three ctr-web three net3",
      ]);
      expect(tuples("CHECK")).toEqual(tuples("ADD"));
      expect(tuples("DEL")).toEqual(tuples("ADD").toReversed());
      expect(stage.left()).toEqual(nothing);
    });

    test("N1-31, N1-35: whose interface names differ from existing links in the pod's namespace", async () => {
      manifests.pod("web", "one,two");
      const pod = stage.pod();
      expect(pod.exec(["ip", "link", "add", "net1", "type", "veth", "peer", "name", "moved0"]).status).toBe(0);
      const web = { ...attaching("web"), pod };
      await stage.succeed("ADD", web);
      expect(executed()).toEqual(["ADD main eth0", "ADD one net2", "ADD two net3"]);
      await stage.succeed("DEL", web);

      for (const recorder of Object.values(recorders)) recorder.clear();
      manifests.pod("web", "one@moved0");
      const again = await stage.call("ADD", web);
      expect([again.status, again.json]).toMatchObject([
        1,
        { code: 7, msg: expect.stringMatching(/network shop\/one .*"moved0", which a link that is already in the pod/) },
      ]);
      expect([executed(), stage.left()]).toEqual([[], nothing]);
    });

    test("N1-35: whose generated names skip requested names", async () => {
      await expectAdded("one@net2,two,three@net3");
      expect(executed()).toEqual(["ADD main eth0", "ADD one net2", "ADD two net4", "ADD three net3"]);
    });
  });

  describe("requests", () => {
    const answering = (name: Name, link: object, ips: readonly string[] = [`${address}/24`]): void => {
      const result = { cniVersion: "1.0.0", interfaces: [link], ips: ips.map((each) => ({ address: each, interface: 0 })) };
      recorders[name].script("ADD", { stdout: JSON.stringify(result) });
    };

    test("N1-24, N1-27: ips and mac, which reach args.cni of every plugin if none has the capability", async () => {
      manifests.network("one", [{ type: "one" }, { type: "two" }]);
      for (const name of ["one", "two"] as const) answering(name, { name: "net1", mac, sandbox: "/any" });
      await expectAdded([{ name: "one", ips: [address], mac }]);
      for (const name of ["one", "two"] as const) {
        expect(stdinOf(recorders[name].calls()[0])).toMatchObject({ args: { cni: { ips: [address], mac } } });
        expect(stdinOf(recorders[name].calls()[0])).not.toHaveProperty("runtimeConfig");
      }
    });

    test("N1-28: a mac, and a result with another MAC fails ADD and is undone", async () => {
      capable("one", "mac");
      answering("one", { name: "net1", mac: "02:00:00:00:00:99", sandbox: "/any" });
      const answer = await add([{ name: "one", mac }]);
      expect([answer.status, answer.json]).toMatchObject([
        1,
        { code: 7, msg: expect.stringMatching(/shop\/one.*02:00:00:00:00:99/) },
      ]);
      expect(executed()).toEqual(["ADD main eth0", "ADD one net1", "DEL one net1", "DEL main eth0"]);
      expect([manifests.statusOf("web"), stage.left()]).toEqual([undefined, nothing]);
    });

    test("D-02: a mac that the definition excludes from verification, and any result is accepted", async () => {
      manifests.network("one", [{ type: "one", capabilities: { mac: true } }], { "plexus.dev/verify": "ips" });
      answering("one", { name: "net1", mac: "02:00:00:00:00:99", sandbox: "/any" });
      await expectAdded([{ name: "one", mac }]);
    });

    const requestRows: readonly (readonly [id: string, element: object, capability: string, passed: unknown])[] = [
      ["N11-03, N11-04", { ips: [`${address}/24`, address] }, "ips", [`${address}/24`, address]],
      ["N11-06", { mac }, "mac", mac],
      [
        "N11-08, N11-09",
        {
          portMappings: [
            { hostPort: 8080, containerPort: 80, protocol: "UDP" },
            { hostPort: 1, containerPort: 65535 },
          ],
        },
        "portMappings",
        [
          { hostPort: 8080, containerPort: 80, protocol: "udp" },
          { hostPort: 1, containerPort: 65535, protocol: "tcp" },
        ],
      ],
      [
        "N11-10, N11-11",
        { bandwidth: { egressRate: 8_000_000, ingressRate: 1_000_000, ingressBurst: 800_000 } },
        "bandwidth",
        { ingressRate: 1_000_000, ingressBurst: 800_000, egressRate: 8_000_000, egressBurst: 800_000 },
      ],
      ["N12-02", { "infiniband-guid": "24:8a:07:03:00:8d:ae:2f" }, "infinibandGUID", "24:8a:07:03:00:8d:ae:2f"],
    ];
    test.each(requestRows)(
      "%s: %j, which only the chain's plugin with the capability %s gets",
      async (_, element, capability, passed) => {
        manifests.network("one", [{ type: "one", capabilities: { [capability]: true } }, { type: "two" }]);
        for (const name of ["one", "two"] as const) answering(name, { name: "net1", mac, sandbox: "/any" });
        await expectAdded([{ name: "one", ...element }], { profile: "strict" });
        expect(stdinOf(recorders.one.calls()[0])["runtimeConfig"]).toEqual({ [capability]: passed });
        expect(stdinOf(recorders.two.calls()[0])).not.toHaveProperty("runtimeConfig");
        expect(stdinOf(recorders.two.calls()[0])).not.toHaveProperty("args");
      },
    );

    test.each([
      ["N11-05", requestRows[0]],
      ["N11-06", requestRows[1]],
      ["N11-09", requestRows[2]],
      ["N11-11", requestRows[3]],
      ["N12-02", requestRows[4]],
    ] as const)("%s: a value without a capable plugin, and no plugin is executed", async (_, row) => {
      const [, element, capability] = row ?? ["", {}, ""];
      manifests.network("two", [{ type: "two", capabilities: { [capability]: false, other: true } }]);
      await expectRefused([{ name: "one" }, { name: "two", ...element }], new RegExp(`shop/two.*"${capability}": true`), {
        profile: "strict",
      });
    });

    test("N11-07: cni-args, which every plugin gets and which override the definition's", async () => {
      manifests.network("one", [
        { type: "one", ...definitionArgs("a") },
        { type: "two", ...definitionArgs("b") },
      ]);
      await expectAdded([{ name: "one", "cni-args": { color: "blue", big: 1 } }]);
      expect(stdinOf(recorders.one.calls()[0])["args"]).toEqual({ cni: { own: "a", color: "blue", big: 1 }, other: 1 });
      expect(stdinOf(recorders.two.calls()[0])["args"]).toEqual({ cni: { own: "b", color: "blue", big: 1 }, other: 1 });
    });

    test("N11-18, MC-17: nothing of the runtime's capability arguments, which only the default network gets", async () => {
      const runtimeConfig = {
        portMappings: [{ hostPort: 8080, containerPort: 80 }],
        bandwidth: { ingressRate: 1 },
        "x.y": { z: 1 },
      };
      const capabilities = { portMappings: true, bandwidth: true, "x.y": true };
      manifests.network("one", [{ type: "one", capabilities }]);
      manifests.pod("web", "one");
      const config = stage.network([{ type: "main", capabilities }], { manifests: manifests.directory, runtimeConfig });
      await stage.succeed("ADD", { ...attaching("web"), config });
      expect(stdinOf(recorders.main.calls()[0])["runtimeConfig"]).toEqual(runtimeConfig);
      expect(stdinOf(recorders.one.calls()[0])).not.toHaveProperty("runtimeConfig");
    });

    test("N13-01, D-09: an IPAM claim, which plugins get in args.cni, and in runtimeConfig with the capability", async () => {
      capable("two", "ipam-claim-reference");
      await expectAdded([
        { name: "one", "ipam-claim-reference": "vm-a.one" },
        { name: "two", "ipam-claim-reference": "vm-a.two" },
      ]);
      expect(stdinOf(recorders.one.calls()[0])).toMatchObject({ args: { cni: { "ipam-claim-reference": "vm-a.one" } } });
      expect(stdinOf(recorders.one.calls()[0])).not.toHaveProperty("runtimeConfig");
      expect(stdinOf(recorders.two.calls()[0])).toMatchObject({
        args: { cni: { "ipam-claim-reference": "vm-a.two" } },
        runtimeConfig: { "ipam-claim-reference": "vm-a.two" },
      });
    });

    test.each(["strict", "compat"])("N13-02: ips and an IPAM claim together, which fails ADD, profile %s", async (profile) => {
      capable("one", "ips", "ipam-claim-reference");
      await expectRefused([{ name: "one", ips: [address], "ipam-claim-reference": "vm-a" }], /"ipam-claim-reference".*"ips"/, {
        profile,
      });
    });

    const invalid: readonly (readonly [id: string, element: object])[] = [
      ["N1-23", { ips: ["1.2.3.4/99"] }],
      ["N1-26, N12-01", { mac: "02:23:45:67:89" }],
      ["N1-30", { interface: "a:b" }],
      ["N11-08", { portMappings: [{ hostPort: 0, containerPort: 80 }] }],
      ["N11-10", { bandwidth: { ingressBurst: 1 } }],
      ["N11-12", { "default-route": ["gateway"] }],
      ["N12-02", { "infiniband-guid": "24:8a:07:03:00:8d:ae" }],
    ];
    test.each(invalid)(
      "%s: %j, and with the profile strict the whole annotation is ignored with a warning",
      async (_, element) => {
        const answer = await expectAdded([{ name: "one" }, { name: "two", ...element }], { profile: "strict" });
        expect(answer.stderr).toMatch(/warning: the annotation is ignored.*element 1: /);
        expect(executed()).toEqual(["ADD main eth0"]);
      },
    );

    test.each(invalid)("%s: %j, and with the profile compat ADD fails", async (_, element) => {
      await expectRefused([{ name: "one" }, { name: "two", ...element }], /element 1: /);
    });

    test("N11-13: the default route twice, which is invalid with the profile strict", async () => {
      const both = [
        { name: "one", "default-route": ["10.99.0.1"] },
        { name: "two", "default-route": ["fd00::1"] },
      ];
      await expectAdded(both, { profile: "strict" });
      expect(executed()).toEqual(["ADD main eth0"]);
    });

    test("D-01: an invalid value, and invalidAnnotation overrides the profile's behaviour", async () => {
      await expectRefused([{ name: "one", ips: [] }], /"ips"/, { profile: "strict", invalidAnnotation: "fail" });
      await expectAdded([{ name: "one", ips: [] }], { profile: "compat", invalidAnnotation: "ignore" });
      expect(executed()).toEqual(["ADD main eth0"]);
    });
  });
});
