// Compares the delegate sriov with the plugin of sriov-cni, which an administrator has built in PLEXUS_FIELD_PLUGINS, on one real virtual function: its settings,
// the pod's link, results, refusals, DEL. `npm run vm -- test/node/conformance/plugins/virtual-function.test.ts` runs it with an emulated adapter (igb).

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { fieldPlugin, fieldPluginIsThere } from "../../../lab/field-plugins.ts";
import { createPodNamespace, type PodNamespace } from "../../../lab/namespaces.ts";
import type { Answer } from "../../../lab/plexus.ts";
import { iproute2, missing, privateNamespaces } from "../../../lab/requires.ts";
import { openStage, type Stage } from "../../../lab/stage.ts";
import {
  firstFunction,
  type FunctionLinks,
  functionSettings,
  moveFunction,
  resetFunction,
  settingsWithoutOwnMac,
  virtualFunction,
} from "../../../lab/virtual-functions.ts";
import { type Kind, kinds, patience } from "./side-by-side.ts";
import { accepted, type FunctionConfiguration, onlyOfComponent, refused } from "./virtual-function-configurations.ts";

const unable = missing(
  "the delegate sriov compared with sriov-cni",
  privateNamespaces,
  iproute2,
  virtualFunction,
  fieldPluginIsThere("sriov"),
);

/** A configuration's outcome with one plugin. */
interface Outcome {
  readonly added: Answer;
  /** After the ADD: the function's settings at its physical function, and the pod's links, addresses and routes. */
  readonly settings: unknown;
  readonly inPod: unknown;
  readonly checked: number;
  readonly deleted: readonly number[];
  /** After the second DEL. */
  readonly left: unknown;
}

/** A refusal's code; undefined where the native plugin's is 999, skel's code for an error without a code. */
const comparableCode = ({ added }: Outcome, native: Outcome): unknown =>
  native.added.json?.["code"] === 999 ? undefined : added.json?.["code"];

const settingsIn = (state: unknown): unknown =>
  typeof state === "object" && state !== null ? Reflect.get(state, "settings") : undefined;

/** The result with NETNS for the pod's path. */
const resultOf = ({ added }: Outcome): unknown =>
  JSON.parse(JSON.stringify(added.json ?? {}).replaceAll(/\/run\/netns\/[^"]+/gu, "NETNS"));

const stateOf = (pod: PodNamespace): unknown => ({
  links: pod.links(),
  addresses: pod.addresses(),
  // The kernel makes the route of the link's own addresses when the carrier comes.
  routes: [pod.routes(4), pod.routes(6).filter((route) => route !== "fe80::/64")],
});

describe.skipIf(unable)("DE-SRIOV-01 to DE-SRIOV-13: sriov beside sriov-cni", () => {
  const vf = firstFunction() ?? { pci: "", physicalPci: "" };
  let stage: Stage;
  let links: FunctionLinks;
  let entrance: string;
  let before: unknown;
  const outcomes = new Map<string, Readonly<Record<Kind, Outcome>>>();

  beforeAll(async () => {
    stage = openStage({ components: ["sriov", "ipam-host-local"], native: ["sriov"], findNative: fieldPlugin });
    links = await moveFunction(vf, stage.node);
    // sriov-cni finds the physical function's link in /sys, which must be the one of the node's namespace.
    entrance = join(stage.plexus.directory, "enter-with-sys");
    writeFileSync(entrance, `#!/bin/sh\nexec ip netns exec ${stage.node.name} ${stage.plexus.cniPath}/plexus\n`, { mode: 0o755 });
    before = stateOfNode();
    for (const each of [...accepted, ...refused]) {
      // One after the other: there is one function.
      const native = await run(each, "native");
      outcomes.set(each.name, { native, wasm: await run(each, "wasm") });
    }
    // 52 attachments, one after the other, in an emulated machine.
  }, 3 * patience);
  // The kernel returns the links to the machine's first namespace with the end of the node's.
  afterAll(() => stage?.dispose());

  function stateOfNode(): unknown {
    const onNode = stage.node.links();
    const mac = onNode.find(({ name }) => name === links.link)?.mac ?? "";
    return { settings: settingsWithoutOwnMac(functionSettings(stage.node, links.physical), mac), links: onNode };
  }

  function configOf(
    { step, runtimeConfig, hasDevice, cniVersion = "1.0.0" }: FunctionConfiguration,
    kind: Kind,
    leases: string,
  ): object {
    const grants = {
      "ipam-host-local": { log: {}, leases: { directories: [`${stage.leases}/`] }, resolver: {} },
      sriov: {
        log: {},
        delegation: { plugins: ["ipam-host-local"] },
        links: {
          devices: ["driver:igbvf", "pci:*"],
          vfVlans: ["0-4094"],
          vfTrust: true,
          deviceRecords: stage.plexus.state("devices"),
        },
      },
    };
    // Generous, because an emulated machine is slow and the test measures no time.
    const limits = { timeMs: 60_000, admissionMs: 60_000 };
    // sriov-cni reads no runtimeConfig.deviceID: meta-plugins write the device's address into the plugin's own key.
    // Leases of their own: IPAM would give the second plugin the next address.
    const ipam = step.ipam === undefined ? {} : { ipam: { ...step.ipam, dataDir: join(stage.leases, leases) } };
    const plugin = { type: "sriov", ...(hasDevice === false ? {} : { deviceID: vf.pci }), ...step, ...ipam };
    return stage.network([plugin], {
      cniVersion,
      wasm: { grants, limits, prefer: kind === "wasm" ? ["sriov"] : [] },
      ...(runtimeConfig === undefined ? {} : { runtimeConfig }),
    });
  }

  async function run(each: FunctionConfiguration, kind: Kind): Promise<Outcome> {
    const pod = createPodNamespace();
    const config = configOf(each, kind, pod.name);
    const call = (verb: string): Promise<Answer> =>
      stage.plexus.callThrough(entrance, {
        verb,
        config,
        containerId: pod.name,
        ifname: "net1",
        netns: pod.path,
        ...(each.args === undefined ? {} : { args: each.args }),
      });
    const added = await call("ADD");
    const settings = functionSettings(stage.node, links.physical);
    const inPod = stateOf(pod);
    const checked = added.status === 0 && (each.cniVersion ?? "1.0.0") >= "0.4.0" ? (await call("CHECK")).status : 0;
    const deleted = [(await call("DEL")).status, (await call("DEL")).status];
    const left = stateOfNode();
    pod.dispose();
    // A difference would otherwise spoil the later configurations.
    await resetFunction(vf, stage.node, links);
    return { added, settings, inPod, checked, deleted, left };
  }

  const ofBoth = ({ name }: FunctionConfiguration): Readonly<Record<Kind, Outcome>> => {
    const both = outcomes.get(name);
    if (both === undefined) throw new Error(`${name} was not run`);
    return both;
  };

  test.each(accepted)("has the same effect and result: $name", (each) => {
    const { native, wasm } = ofBoth(each);
    expect([native, wasm].map(({ added }) => (added.status === 0 ? "" : added.stdout))).toEqual(["", ""]);
    expect(resultOf(wasm)).toEqual(resultOf(native));
    expect(wasm.settings).toEqual(native.settings);
    expect(wasm.inPod).toEqual(native.inPod);
    expect([native.checked, wasm.checked]).toEqual([0, 0]);
  });

  test.each(accepted)("each DEL restores the function, and a second one succeeds: $name", (each) => {
    for (const kind of kinds) expect([kind, ofBoth(each)[kind].deleted]).toEqual([kind, [0, 0]]);
    expect(ofBoth(each).wasm.left).toEqual(before);
    expect(ofBoth(each).native.left).toEqual(before);
  });

  test.each(refused)("refuses what sriov-cni refuses, and leaves the function as it was: $name", (each) => {
    const { native, wasm } = ofBoth(each);
    expect([native.added.status, wasm.added.status]).toEqual([1, 1]);
    expect(comparableCode(wasm, native)).toEqual(comparableCode(native, native));
    expect(wasm.settings).toEqual(settingsIn(before));
    expect(wasm.left).toEqual(before);
    expect([native.deleted, wasm.deleted]).toEqual([
      [0, 0],
      [0, 0],
    ]);
  });

  test("DE-SRIOV-06: sets a MAC without trust, which sriov-cni cannot on igb", async () => {
    const native = await run(onlyOfComponent, "native");
    expect([native.added.status, native.added.json?.["msg"]]).toEqual([1, expect.stringContaining("cannot assign")]);
    const wasm = await run(onlyOfComponent, "wasm");
    expect([wasm.added.status, wasm.settings]).toMatchObject([0, { address: onlyOfComponent.step["mac"] }]);
    expect([wasm.checked, wasm.deleted, wasm.left]).toEqual([0, [0, 0], before]);
  });

  test("the switches take words: sriov-cni reads any other text as off, and the component refuses it", async () => {
    const other: FunctionConfiguration = { name: "another word", step: { spoofchk: "yes" } };
    expect([(await run(other, "native")).added.status, (await run(other, "wasm")).added.status]).toEqual([0, 1]);
    expect(stateOfNode()).toEqual(before);
  });
});
