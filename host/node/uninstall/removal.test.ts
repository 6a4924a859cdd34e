import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import type { Retirement } from "../../../src/configuration/written-configuration.ts";
import type { Standing, WrittenState } from "../cni-configuration/written-state.ts";
import { Removal, type RemovalDeps, whyFilesStay } from "./removal.ts";
import type { RemovalReport } from "./removal-report.ts";

let state = "";
let removals: Removal[] = [];
beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "performance"] });
  state = mkdtempSync(join(tmpdir(), "plexus-removal-"));
  removals = [];
});
afterEach(() => {
  for (const removal of removals) removal.stop();
  vi.useRealTimers();
  rmSync(state, { recursive: true });
});

/** A removal over a file whose standing is a variable. */
function removalOf(more: Partial<RemovalDeps> = {}, retirement?: Retirement) {
  const file: { standing: Standing; retirement: Retirement | undefined } = {
    standing: retirement === undefined ? "in-force" : "retired",
    retirement,
  };
  const asked: number[] = [];
  const lines: string[] = [];
  const removal = new Removal({
    writer: {
      path: "/etc/cni/net.d/00-plexus.conflist",
      get state(): WrittenState {
        return { ...file, written: true, clusterNetwork: undefined, steps: [], omitted: [], problem: undefined };
      },
      take: async (standing, given) => {
        file.standing = standing;
        file.retirement = standing === "retired" ? given : undefined;
        return undefined;
      },
    },
    stateDirectories: () => [state],
    // The clock that the test moves with its timers.
    clock: { now: () => performance.now(), date: () => new Date() },
    callsBefore: (ms) => {
      asked.push(ms);
      return 1;
    },
    runtime: async () => "containerd://2.0.0",
    log: (_, text) => void lines.push(text),
    heldMs: 50,
    ...more,
  });
  removals.push(removal);
  return { removal, file, asked, lines };
}

describe("MO-26 Plexus' removal from a node", () => {
  test("names the DaemonSet in the file, and counts the calls that came until 5 s after its begin", async () => {
    const { removal, file, asked } = removalOf({ heldMs: 60_000 });
    await removal.belongTo("one/1");
    expect((await removal.step("report", false)).calls).toBe(0);
    const begun = performance.now();
    expect(await removal.step("begin", true)).toMatchObject({ standing: "retired", calls: 1, pods: [], defaultOnly: 0 });
    expect(file.retirement).toEqual({ daemonSet: "one/1", held: true });
    vi.advanceTimersByTime(20);
    await removal.step("begin", true);
    expect(asked).toEqual([begun + 5000, begun + 5000]);
  });

  test.each([
    ["another DaemonSet", "two/1", "in-force"],
    ["another generation", "one/2", "in-force"],
    ["the same DaemonSet", "one/1", "retired"],
  ])("that an earlier daemon of %s leaves", async (_, daemonSet, standing) => {
    const { removal, file } = removalOf({}, { daemonSet: "one/1", held: false });
    removal.start();
    await removal.belongTo(daemonSet);
    expect(file.standing).toBe(standing);
  });

  test("goes on if nobody knows for which DaemonSet it was begun, and is that of the present one from then on", async () => {
    const { removal, file } = removalOf({}, { daemonSet: undefined, held: false });
    removal.start();
    await removal.belongTo("one/1");
    expect([file.standing, file.retirement]).toEqual(["retired", { daemonSet: "one/1", held: false }]);
    const next = removalOf({}, file.retirement);
    next.removal.start();
    await next.removal.belongTo("two/1");
    expect(next.file.standing).toBe("in-force");
  });

  test("ends when its holder is gone, also after a restart of the daemon, and not without a holder", async () => {
    const held = removalOf();
    await held.removal.step("begin", true);
    const restarted = removalOf({}, { daemonSet: undefined, held: true });
    restarted.removal.start();
    const free = removalOf();
    await free.removal.step("begin", true);
    await free.removal.step("finish", false);
    await vi.advanceTimersByTimeAsync(49);
    expect([held.file.standing, restarted.file.standing]).toEqual(["retired", "retired"]);
    await vi.advanceTimersByTimeAsync(1);
    expect([held.file.standing, restarted.file.standing]).toEqual(["in-force", "in-force"]);
    expect(held.lines).toEqual([expect.stringContaining("the program that asked for it is gone")]);
    await vi.advanceTimersByTimeAsync(3_600_000);
    expect(free.file.standing).toBe("withdrawn");
  });

  test("goes on while its holder asks, and a removed file stays removed", async () => {
    const { removal, file } = removalOf({ heldMs: 100 });
    await removal.step("finish", true);
    for (let round = 0; round < 5; round += 1) {
      await vi.advanceTimersByTimeAsync(99);
      expect(await removal.step(round % 2 === 0 ? "begin" : "finish", true)).toMatchObject({ standing: "withdrawn" });
    }
    expect(file.standing).toBe("withdrawn");
  });
});

describe("Plexus' files", () => {
  const report: RemovalReport = {
    configuration: "/etc/cni/net.d/00-plexus.conflist",
    standing: "withdrawn",
    pods: [],
    defaultOnly: 0,
    calls: 0,
    runtime: "containerd://2.0.0",
    problems: [],
  };
  test.each<[string, Partial<RemovalReport>]>([
    ["no pod is attached", {}],
    ["no pod is attached, whatever the runtime", { runtime: null }],
    ["pods have the default network only, which containerd undoes without Plexus", { defaultOnly: 3 }],
  ])("go if %s", (_, more) => {
    expect(whyFilesStay({ ...report, ...more })).toBeUndefined();
  });
  test.each<[string, Partial<RemovalReport>, string]>([
    ["Plexus is in force", { standing: "in-force" }, "not removed"],
    ["Plexus is retired", { standing: "retired" }, "not removed"],
    ["a pod has a further network", { pods: [{ pod: "shop/web", networks: ["storage"] }] }, "shop/web"],
    ["an entry cannot be read", { problems: ["entry x is broken"] }, "entry x is broken"],
    ["a call is being served", { calls: 1 }, "1 calls"],
    ["CRI-O sends DELs with the configuration of the ADD", { defaultOnly: 3, runtime: "cri-o://1.33.0" }, "cri-o://1.33.0"],
    ["the runtime is unknown", { defaultOnly: 3, runtime: null }, "unknown runtime"],
  ])("stay if %s", (_, more, why) => {
    expect(whyFilesStay({ ...report, ...more })).toContain(why);
  });
});
