// The administrator's rules for steps, through whole calls: failure policies, and the division of an ADD's time.

import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { CallStage, type StagedAnswer, type StagedCall } from "../testing/call-stage.ts";
import { attaching, failing } from "../testing/scripted-shim.ts";

let stage: CallStage;
beforeEach(() => {
  stage = new CallStage();
  for (const type of ["bridge", "tuning", "portmap"]) stage.shim.install(type, attaching("10.0.0.2/24"));
  stage.delegates = [
    { name: "pods", cniVersion: "1.1.0", plugins: [{ type: "bridge" }, { type: "tuning" }, { type: "portmap" }] },
  ];
});
afterEach(() => stage.dispose());

const policy = (failure: string, more: object = {}): void => {
  stage.config = { steps: { tuning: { failure, ...more }, bridge: { failure, ...more } } };
};
const steps = ({ log }: StagedAnswer): readonly string[] => log.filter((line) => /^[A-Z]/.test(line));
const warned = ({ warnings }: StagedAnswer): string => warnings.join("\n");
const call = (verb: StagedCall["verb"]): Promise<StagedAnswer> => stage.call({ verb });

describe("a step that fails", () => {
  const add = ["ADD bridge eth0", "ADD tuning eth0"];
  const undone = ["DEL portmap eth0", "DEL tuning eth0", "DEL bridge eth0"];
  test.each([
    ["closed", "ADD", 1, [...add, ...undone]],
    ["open", "ADD", 0, [...add, "DEL tuning eth0", "ADD portmap eth0"]],
    ["retry", "ADD", 1, [...add, "DEL tuning eth0", "ADD tuning eth0", ...undone]],
    ["closed", "DEL", 1, ["DEL portmap eth0", "DEL tuning eth0"]],
    ["open", "DEL", 1, undone],
    ["retry", "DEL", 1, ["DEL portmap eth0", "DEL tuning eth0", "DEL tuning eth0"]],
    ["closed", "CHECK", 1, ["CHECK bridge eth0", "CHECK tuning eth0"]],
    ["open", "CHECK", 0, ["CHECK bridge eth0", "CHECK tuning eth0", "CHECK portmap eth0"]],
    ["retry", "CHECK", 1, ["CHECK bridge eth0", "CHECK tuning eth0", "CHECK tuning eth0"]],
    ["closed", "STATUS", 1, ["STATUS bridge", "STATUS tuning"]],
    ["open", "STATUS", 0, ["STATUS bridge", "STATUS tuning", "STATUS portmap"]],
    ["retry", "STATUS", 1, ["STATUS bridge", "STATUS tuning"]],
    ["closed", "GC", 1, ["GC bridge", "GC tuning", "GC portmap"]],
    ["open", "GC", 1, ["GC bridge", "GC tuning", "GC portmap"]],
    ["retry", "GC", 1, ["GC bridge", "GC tuning", "GC portmap"]],
  ] as const)("E-11: with policy %s in %s: status %d", async (failure, verb, status, ran) => {
    policy(failure, failure === "retry" ? { retries: 1 } : {});
    if (verb === "DEL" || verb === "CHECK") await stage.succeed({ verb: "ADD" });
    stage.shim.on("tuning", verb, failing(11, "the backend is busy"));
    const answer = await stage.call({ verb, config: verb === "GC" ? { "cni.dev/valid-attachments": [] } : {} });
    expect([answer.status, steps(answer)]).toEqual([status, ran]);
    expect(answer.json["code"]).toBe(status === 1 ? 11 : undefined);
    expect(JSON.stringify([answer.json["msg"], ...answer.warnings])).toContain("backend is busy");
  });

  test("E-11: an open step changes neither the result of the chain nor the previous result of the next step", async () => {
    policy("open");
    stage.shim.on("tuning", "ADD", failing(7, "no such key"));
    const added = await call("ADD");
    expect(added.json).toMatchObject({ ips: [{ address: "10.0.0.2/24" }] });
    const [bridge, , portmap] = stage.shim.calls.filter(({ verb }) => verb === "ADD");
    expect(bridge?.configuration["prevResult"]).toBeUndefined();
    expect(portmap?.configuration["prevResult"]).toMatchObject({ ips: [{ address: "10.0.0.2/24" }] });
    expect(warned(added)).toContain(
      'network pods as eth0: ADD of plugin type="tuning" failed and was passed over (failure policy "open"): no such key',
    );
    expect(stage.entry()).toContainEqual({ passedOver: 0, step: 1, cleaned: true, code: 7, msg: "no such key" });
  });

  test("E-11: open does not hold for the first plugin of a list, and the error says why", async () => {
    policy("open");
    stage.shim.on("bridge", "ADD", failing(105, "no such master"));
    const added = await call("ADD");
    expect(added.json).toMatchObject({ code: 105, msg: expect.stringContaining("no such master") });
    expect(added.json["details"]).toContain('"open" of bridge does not hold for the first plugin of a list');
    expect(stage.stateFiles()).toEqual([]);
  });

  test("E-11: a step that ADD passed over is not checked, and its DEL runs again and may fail", async () => {
    policy("open");
    stage.shim.on("tuning", "ADD", failing(7, "no such key"));
    await call("ADD");
    const checked = await call("CHECK");
    expect([checked.status, steps(checked)]).toEqual([0, ["CHECK bridge eth0", "CHECK portmap eth0"]]);
    expect(warned(checked)).toContain("plugin tuning is not checked: its ADD failed and was passed over");
    stage.shim.on("tuning", "DEL", failing(7, "no such key"));
    const deleted = await call("DEL");
    expect([deleted.status, steps(deleted)]).toEqual([0, undone]);
    expect(stage.stateFiles()).toEqual([]);
  });

  test("E-11: a passed-over step whose undo failed fails the DEL until its own DEL succeeds, and stops no other step", async () => {
    policy("open");
    stage.shim.on("tuning", "ADD", failing(7, "no such key"));
    stage.shim.on("tuning", "DEL", failing(120, "the backup is unreadable"));
    const added = await call("ADD");
    expect(added.status).toBe(0);
    expect(warned(added)).toContain("Its DEL failed too; the attachment's DEL tries again: the backup is unreadable");
    // The policy may be another one by now.
    stage.config = {};
    const deleted = await call("DEL");
    expect([deleted.status, steps(deleted)]).toEqual([1, undone]);
    stage.shim.removeScript("tuning", "DEL");
    expect((await call("DEL")).status).toBe(0);
    expect(stage.stateFiles()).toEqual([]);
  });

  test("E-11: a later failure undoes the passed-over step once more, with all others", async () => {
    policy("open");
    stage.shim.on("tuning", "ADD", failing(7, "no such key"));
    stage.shim.on("portmap", "ADD", failing(7, "port in use"));
    const added = await call("ADD");
    expect([added.status, steps(added)]).toEqual([1, [...add, "DEL tuning eth0", "ADD portmap eth0", ...undone]]);
    expect(stage.stateFiles()).toEqual([]);
  });

  test("E-11: a step that succeeds at a further try has its result in the chain", async () => {
    policy("retry");
    let tries = 0;
    stage.shim.on("tuning", "ADD", (step) =>
      ++tries < 3
        ? failing(11, "busy")(step)
        : { stdout: JSON.stringify({ ...Object(step.configuration["prevResult"]), dns: { domain: "x" } }) },
    );
    const added = await call("ADD");
    expect([added.status, added.json["dns"]]).toEqual([0, { domain: "x" }]);
    expect(tries).toBe(3);
    expect(warned(added)).toContain("failed with code 11 and is tried again (try 3): busy");
  });

  test("E-11: a failed ADD is not tried again if its undo fails, or if no time is left", async () => {
    policy("retry");
    stage.shim.on("tuning", "ADD", failing(11, "busy"));
    stage.shim.on("tuning", "DEL", failing(120, "unreadable"));
    expect(steps(await call("ADD")).filter((line) => line === "ADD tuning eth0")).toHaveLength(1);
    stage.shim.removeScript("tuning", "DEL");
    await call("DEL");
    stage.shim.on("tuning", "ADD", (step) => {
      stage.aheadMs += 900;
      return failing(11, "busy")(step);
    });
    const late = await stage.call({ verb: "ADD", config: { callTimeoutMs: 2000 } });
    expect(late.json).toMatchObject({ code: 11, msg: expect.stringContaining("busy") });
    expect(steps(late).filter((line) => line === "ADD tuning eth0")).toHaveLength(1);
  });

  test("E-11: a failed ADD is not tried again if its undo used up the time, so the plugin's own error stays", async () => {
    policy("retry");
    stage.shim.on("tuning", "ADD", failing(11, "busy"));
    let deletions = 0;
    stage.shim.on("tuning", "DEL", () => {
      deletions += 1;
      if (deletions === 1) stage.aheadMs += 900;
      return { stdout: "" };
    });
    const late = await stage.call({ verb: "ADD", config: { callTimeoutMs: 2000 } });
    expect(late.json).toMatchObject({ code: 11, msg: expect.stringContaining("busy") });
    expect(steps(late).filter((line) => line === "ADD tuning eth0")).toHaveLength(1);
  });

  test("E-11: the author of a definition gets no policy but that of the definition's namespace", async () => {
    stage.shim.on("tuning", "ADD", failing(7, "no such key"));
    stage.manifests.network("net", [{ type: "bridge" }, { type: "tuning" }]);
    stage.manifests.pod("web", [{ name: "net" }]);
    const native = { bridge: "*", tuning: "*" };
    const withRules = (more: object): Promise<StagedAnswer> => {
      const config = { definitions: { rules: [{ namespaces: ["*"], native, ...more }] }, delegates: [{ type: "bridge" }] };
      return stage.call({ verb: "ADD", args: stage.manifests.argsOf("web"), config });
    };
    stage.config = { manifests: stage.manifests.directory, steps: { tuning: { failure: "open" } } };
    expect((await withRules({})).json).toMatchObject({ msg: expect.stringContaining("no such key") });
    expect((await withRules({ steps: { tuning: { failure: "open" } } })).status).toBe(0);
  });
});

describe("the time of an ADD", () => {
  test("X-5: a slow step leaves the later steps their shares, and the rollback its reserve", async () => {
    const config = { callTimeoutMs: 12_000, stepTimeoutMs: 60_000 };
    stage.shim.on("bridge", "ADD", (step) => {
      stage.aheadMs += step.effect.deadlineMs;
      return attaching("10.0.0.2/24")(step);
    });
    stage.shim.on("portmap", "ADD", failing(7, "port in use"));
    const added = await stage.call({ verb: "ADD", config });
    expect(added.json).toMatchObject({ code: 7 });
    const deadlines = stage.shim.calls.map(({ verb, type, effect }) => [`${verb} ${type}`, effect.deadlineMs]);
    expect(deadlines).toEqual([
      // 6000 ms are the reserve. Each of the two later steps keeps 1000 ms.
      ["ADD bridge", 4000],
      ["ADD tuning", 1000],
      ["ADD portmap", 2000],
      // The rollback has the reserve and what the steps have left: each step half of the rest.
      ["DEL portmap", 4000],
      ["DEL tuning", 4000],
      ["DEL bridge", 4000],
    ]);
  });
});
