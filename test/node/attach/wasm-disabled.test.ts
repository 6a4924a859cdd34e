// The emergency switch `wasm.enabled: false`, through the installed binary in real network namespaces.

import { afterEach, beforeEach, describe, expect, test } from "vitest";

import { leases } from "../../lab/namespaces.ts";
import { bridgeStep, missingForMixed, mixedInstallation, shaperStep } from "../../lab/mixed-network.ts";
import { nothing, openStage, type Stage } from "../../lab/stage.ts";

describe.skipIf(missingForMixed("the emergency switch"))("components that are switched off", () => {
  let stage: Stage;
  beforeEach(() => {
    stage = openStage(mixedInstallation);
  });
  afterEach(() => stage.dispose());

  const pod = (containerId: string) => ({ containerId, pod: stage.pod() });
  const config = (enabled: boolean): object => {
    const grants = { "ipam-host-local": { leases: { directories: [stage.leases] }, resolver: {}, log: {} } };
    return stage.network([bridgeStep(), shaperStep], { wasm: { enabled, grants } });
  };
  const off = { code: 11, msg: expect.stringContaining("are switched off (wasm.enabled is false)") };

  test("E-23: an ADD with a component begins no step; the runtime's DEL after it is repeated until the switch is on again", async () => {
    const one = pod("one");
    expect(await stage.call("ADD", { ...one, config: config(false) })).toMatchObject({ status: 1, json: off });
    expect(stage.steps()).toEqual([]);
    expect(await stage.call("DEL", { ...one, config: config(false) })).toMatchObject({ status: 1, json: off });
    await stage.succeed("DEL", { ...one, config: config(true) });
    expect(stage.left()).toEqual(nothing);
  });

  test("E-23: a DEL of an earlier pod runs no component, is refused, and succeeds when the switch is on again", async () => {
    const one = pod("one");
    await stage.succeed("ADD", { ...one, config: config(true) });
    stage.steps();
    expect(await stage.call("DEL", { ...one, config: config(false) })).toMatchObject({ status: 1, json: off });
    expect(stage.steps().filter(({ kind, ok }) => kind === "wasm" && ok)).toEqual([]);
    expect(leases(stage.leases)).toEqual(["pods/10.10.0.2"]);
    await stage.succeed("DEL", { ...one, config: config(true) });
    expect(stage.left()).toEqual(nothing);
  });

  test("E-23: CHECK and GC fail with code 11, STATUS with code 50, and none of them runs a component", async () => {
    const one = pod("one");
    await stage.succeed("ADD", { ...one, config: config(true) });
    stage.steps();
    expect(await stage.call("CHECK", { ...one, config: config(false) })).toMatchObject({ status: 1, json: off });
    const newest = stage.network([shaperStep], { cniVersion: "1.1.0", wasm: { enabled: false } });
    expect(await stage.request({ verb: "STATUS", config: newest })).toMatchObject({ status: 1, json: { ...off, code: 50 } });
    const valid = [{ containerID: "one", ifname: "eth0" }];
    const gc = { verb: "GC", config: { ...newest, "cni.dev/valid-attachments": valid } };
    expect(await stage.request(gc)).toMatchObject({ status: 1, json: off });
    expect(stage.steps().filter(({ kind, ok }) => kind === "wasm" && ok)).toEqual([]);
    await stage.succeed("DEL", { ...one, config: config(true) });
    expect(stage.left()).toEqual(nothing);
  });

  test("E-23: a network of native plugins is attached", async () => {
    const native = stage.network([bridgeStep({ ipam: { type: "host-local", subnet: "10.10.0.0/24", dataDir: stage.leases } })], {
      wasm: { enabled: false },
    });
    const call = { ...pod("one"), config: native };
    await stage.succeed("ADD", call);
    await stage.succeed("DEL", call);
    expect(stage.left()).toEqual(nothing);
  });
});
