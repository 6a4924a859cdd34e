// CHECK and STATUS as whole calls.

import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CallStage, type StagedAnswer } from "../testing/call-stage.ts";
import { attaching, failing } from "../testing/scripted-shim.ts";

let stage: CallStage;
beforeEach(() => {
  stage = new CallStage();
  stage.shim.install("bridge", attaching("10.0.0.2/24"));
  stage.shim.install("macvlan", attaching("10.1.0.2/24"));
  stage.shim.install("ipvlan", attaching("10.2.0.2/24"));
  stage.delegates = [
    { name: "pods", cniVersion: "1.1.0", plugins: [{ type: "bridge" }] },
    { name: "old", cniVersion: "0.3.1", plugins: [{ type: "ipvlan" }] },
    { name: "storage", cniVersion: "1.0.0", plugins: [{ type: "macvlan" }] },
  ];
});
afterEach(() => stage.dispose());

const steps = ({ log }: StagedAnswer): readonly string[] => log.filter((line) => /^[A-Z]/.test(line));

describe("CHECK", () => {
  test("runs every attachment's plugins in order with the attachment's result, and skips networks without CHECK", async () => {
    await stage.succeed({ verb: "ADD" });
    stage.shim.calls.length = 0;
    const checked = await stage.succeed({ verb: "CHECK" });
    expect([checked.stdout, steps(checked)]).toEqual(["", ["CHECK bridge eth0", "CHECK macvlan net2"]]);
    expect(checked.warnings).toEqual(["network delegates[1] as net1 is not checked: cniVersion 0.3.1 has no CHECK"]);
    expect(stage.shim.calls.map(({ configuration }) => Object(configuration["prevResult"])["ips"]?.[0]?.address)).toEqual([
      "10.0.0.2/24",
      "10.1.0.2/24",
    ]);
  });

  test("stops at the first failure with the plugin's code, and changes nothing", async () => {
    await stage.succeed({ verb: "ADD" });
    const before = stage.stateFiles();
    stage.shim.on("bridge", "CHECK", failing(105, "the link is down"));
    const checked = await stage.call({ verb: "CHECK" });
    expect([checked.json["code"], checked.json["msg"]]).toEqual([
      105,
      'network default as eth0: plugin type="bridge" failed (check): the link is down',
    ]);
    expect([steps(checked), stage.stateFiles()]).toEqual([["CHECK bridge eth0"], before]);
  });

  test("MO-14: passes no code 3 of a plugin on: the runtime would send no DEL for the pod's other attachments", async () => {
    await stage.succeed({ verb: "ADD" });
    stage.shim.on("macvlan", "CHECK", failing(3, "no such container"));
    const { json } = await stage.call({ verb: "CHECK" });
    expect([json["code"], json["msg"], json["details"]]).toEqual([
      999,
      expect.stringContaining("failed (check): no such container"),
      expect.stringContaining("The plugin's code is 3"),
    ]);
  });

  test("runs the default network's plugins only, if the configuration has check: default", async () => {
    await stage.succeed({ verb: "ADD" });
    expect(steps(await stage.succeed({ verb: "CHECK", config: { check: "default" } }))).toEqual(["CHECK bridge eth0"]);
  });

  test("FI-11: follows disableCheck of the current configuration, not of the one at ADD", async () => {
    const [pods = {}, , storage = {}] = stage.delegates;
    stage.delegates = [pods, { ...storage, disableCheck: true }];
    await stage.succeed({ verb: "ADD" });
    expect(steps(await stage.succeed({ verb: "CHECK" }))).toEqual(["CHECK bridge eth0"]);
    stage.delegates = [{ ...pods, disableCheck: true }, storage];
    expect(steps(await stage.succeed({ verb: "CHECK" }))).toEqual(["CHECK macvlan net1"]);
    expect(steps(await stage.succeed({ verb: "CHECK", config: { disableCheck: "true" } }))).toEqual([]);
    // A network that is no longer configured is checked as at ADD.
    stage.delegates = [{ ...pods, name: "renamed" }];
    expect(steps(await stage.succeed({ verb: "CHECK" }))).toEqual(["CHECK bridge eth0"]);
  });

  test("of a default network before 0.4.0 is refused", async () => {
    stage.delegates = [{ name: "old", cniVersion: "0.3.1", plugins: [{ type: "ipvlan" }] }];
    await stage.succeed({ verb: "ADD" });
    const checked = await stage.call({ verb: "CHECK" });
    expect([checked.json["code"], checked.json["msg"], steps(checked)]).toEqual([
      1,
      expect.stringContaining("does not support the CHECK command"),
      [],
    ]);
  });

  test("of a container that was never added is refused with code 3, and after an ADD that broke off with a code that asks for a DEL", async () => {
    const never = await stage.call({ verb: "CHECK" });
    expect([never.json["code"], never.json["msg"]]).toEqual([
      3,
      "container c1 is not attached to cluster as eth0: it was never added",
    ]);
    await stage.succeed({ verb: "ADD" });
    stage.edit("journal/c1@cluster@eth0", (text) => text.replace('{"closed":true}\n', ""));
    const broken = await stage.call({ verb: "CHECK" });
    expect([broken.json["code"], broken.json["msg"]]).toEqual([
      107,
      "container c1 is not attached to cluster as eth0: its ADD broke off",
    ]);
    expect(steps(broken)).toEqual([]);
  });

  test("with an unreadable entry is refused", async () => {
    await stage.succeed({ verb: "ADD" });
    stage.edit("journal/c1@cluster@eth0", () => "nonsense\n");
    expect((await stage.call({ verb: "CHECK" })).json["msg"]).toContain("journal/c1@cluster@eth0");
  });
});

describe("STATUS", () => {
  test("runs the default network's plugins only, without an attachment's variables, and for at most 5 s each", async () => {
    const answer = await stage.succeed({ verb: "STATUS" });
    expect([answer.stdout, steps(answer)]).toEqual(["", ["STATUS bridge"]]);
    const [call] = stage.shim.calls;
    expect([call?.containerId, call?.netns, call?.configuration["name"]]).toEqual(["", "", "pods"]);
    expect(call?.effect.deadlineMs).toBe(5000);
  });

  test.each([50, 51, 105])("keeps the plugin's code %i", async (code) => {
    stage.shim.on("bridge", "STATUS", failing(code, "no IPAM"));
    const answer = await stage.call({ verb: "STATUS" });
    expect([answer.json["code"], answer.json["msg"]]).toEqual([code, "no IPAM"]);
  });

  test("runs no plugins of a network before 1.1.0", async () => {
    stage.delegates = [{ name: "old", cniVersion: "1.0.0", plugins: [{ type: "bridge" }] }];
    expect(steps(await stage.succeed({ verb: "STATUS" }))).toEqual([]);
  });

  test("fails with code 50 if a plugin is missing", async () => {
    stage.shim.uninstall("bridge");
    const answer = await stage.call({ verb: "STATUS" });
    expect([answer.json["code"], answer.json["msg"]]).toEqual([
      50,
      expect.stringMatching(/^network default: failed to find plugin "bridge"/),
    ]);
  });

  test("fails with code 50 at once if the default network is not ready", async () => {
    const file = join(stage.directory, "ready");
    const config = { readinessindicatorfile: file };
    const answer = await stage.call({ verb: "STATUS", config });
    expect([answer.json["code"], answer.json["msg"]]).toEqual([
      50,
      `the default network isn't ready: its readiness file ${file} does not exist`,
    ]);
    writeFileSync(file, "");
    expect((await stage.call({ verb: "STATUS", config })).status).toBe(0);
  });

  test("fails with code 50 if the journal cannot be written", async () => {
    const cniDir = join(stage.directory, "file", "state");
    writeFileSync(join(stage.directory, "file"), "");
    const answer = await stage.call({ verb: "STATUS", config: { cniDir } });
    expect([answer.json["code"], answer.json["msg"], steps(answer)]).toEqual([
      50,
      expect.stringMatching(/^journal in .*can't be written: ENOTDIR$/),
      [],
    ]);
  });

  test("knows a default network of the API before the first ADD: the runtime starts no pod before STATUS succeeds", async () => {
    const list = { name: "pods", cniVersion: "1.1.0", plugins: [{ type: "bridge" }] };
    stage.manifests.definition("pods", { config: JSON.stringify(list) }, { namespace: "kube-system" });
    const config = { clusterNetwork: "pods", delegates: undefined, manifests: stage.manifests.directory };
    expect(steps(await stage.succeed({ verb: "STATUS", config }))).toEqual(["STATUS bridge"]);
    // The network is stored, so that the next STATUS needs no API.
    const away = { ...config, manifests: undefined };
    expect(steps(await stage.succeed({ verb: "STATUS", config: away }))).toEqual(["STATUS bridge"]);
  });

  test("fails with code 50 if the default network does not exist", async () => {
    const answer = await stage.call({ verb: "STATUS", config: { clusterNetwork: "missing", delegates: undefined } });
    expect(answer.json["code"]).toBe(50);
  });
});

/** Lets the stage's time pass while `use` waits. */
async function passing<T>(use: () => Promise<T>): Promise<T> {
  const timer = setInterval(() => (stage.aheadMs += 10), 1);
  return use().finally(() => clearInterval(timer));
}

describe("readiness", () => {
  const wait = { readinessTimeoutMs: 60, readinessDelTimeoutMs: 60 };

  test("makes an ADD wait for the configured time and then fail", async () => {
    const file = join(stage.directory, "ready");
    const added = await passing(() => stage.call({ verb: "ADD", config: { readinessindicatorfile: file, ...wait } }));
    expect([added.json["code"], added.json["msg"], steps(added)]).toEqual([
      11,
      `the default network isn't ready: its readiness file ${file} did not appear within 60 ms`,
      [],
    ]);
  });

  test("lets an ADD go on when the file appears", async () => {
    const file = join(stage.directory, "ready");
    const added = stage.call({ verb: "ADD", config: { readinessindicatorfile: file, ...wait } });
    setTimeout(() => writeFileSync(file, ""), 80);
    expect((await added).status).toBe(0);
  });

  test("makes a DEL wait for the configured time and then go on with a warning", async () => {
    await stage.succeed({ verb: "ADD" });
    const file = join(stage.directory, "ready");
    const deleted = await passing(() => stage.succeed({ verb: "DEL", config: { readinessindicatorfile: file, ...wait } }));
    expect(deleted.warnings).toEqual([
      `the default network isn't ready: its readiness file ${file} did not appear within 60 ms; this DEL goes on without waiting further`,
    ]);
    expect(steps(deleted)).toHaveLength(3);
  });
});
