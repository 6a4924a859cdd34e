// Every hostile component through the built binary, as an administrator would have it: in a directory of CNI_PATH, named by a
// configuration. Each must come to its verdict in CNI's error JSON, and a good component must work on the same host right after.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { catalogue } from "../../src/fault/catalogue.ts";
import { type Answer, installPlexus, type Installation, missingBuild } from "../harness/plexus.ts";
import { type HostileComponent, hostileComponents, writeHostileComponents } from "./components/index.ts";

const build = missingBuild();
if (build !== undefined) throw new Error(build);

let directory: string;
let plexus: Installation;
beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), "plexus-hostile-"));
  await writeHostileComponents(directory);
  plexus = installPlexus();
});
afterAll(() => {
  plexus.dispose();
  rmSync(directory, { recursive: true });
});

type Isolation = "in-process" | "process";

/** Short where the limit of the time is what is looked for; else long enough that a busy machine does not reach it first. */
function timeMsFor(verdict: HostileComponent["verdict"]): number {
  return verdict === "LIMIT_TIME" ? 500 : 10_000;
}

interface Terms {
  readonly granted: readonly string[];
  readonly isolation: Isolation;
  readonly timeMs: number;
  readonly padding?: string;
}

function add(type: string, { granted, isolation, timeMs, padding = "" }: Terms): Promise<Answer> {
  const grants = Object.fromEntries(
    granted.map((name) => [name, name === "leases" ? { directories: [plexus.state("leases")] } : {}]),
  );
  const state = plexus.state("cni");
  return plexus.call({
    verb: "ADD",
    containerId: "c1",
    netns: "/run/netns/none",
    ifname: "eth0",
    cniPath: `${plexus.cniPath}:${directory}`,
    config: {
      cniVersion: "1.0.0",
      name: "hostile",
      type: "plexus",
      cniDir: state,
      runDir: plexus.state("run"),
      wasm: { isolation, limits: { timeMs }, grants: { [type]: grants } },
      delegates: [{ name: "hostile", cniVersion: "1.0.0", disableCheck: true, plugins: [{ type, padding }] }],
    },
  });
}

/** The journal's entry of a component that can't be loaded stays until its DEL works: taken away here. */
function forget(): void {
  rmSync(plexus.state("cni"), { recursive: true });
}

/** Those whose imports wait want answers to wait for: host/sandbox holds them, in both kinds of runner. */
const ownComponents = hostileComponents.filter(({ name }) => !name.startsWith("waits-"));

/** What the hands don't even take for a component: another file that happens to end in .wasm. */
const noComponents: ReadonlySet<string> = new Set(["empty", "text", "core-module"]);

/** What the binary must answer for a component. */
function expectedAnswer({ name, verdict, message }: HostileComponent): object {
  if (noComponents.has(name)) return { status: 1, json: { code: catalogue.PLUGIN_NOT_FOUND.cni } };
  if (verdict === "OK") return { status: 0, json: { cniVersion: "1.0.0" } };
  const code: unknown = verdict === "DELEGATE_FAILED" ? expect.any(Number) : catalogue[verdict].cni;
  const details: unknown = expect.stringContaining(`[${verdict}]`);
  return { status: 1, json: { code, msg: expect.stringContaining(message), details } };
}

async function expectVerdict(component: HostileComponent, isolation: Isolation): Promise<void> {
  const { name, granted, verdict } = component;
  const answer = await add(name, { granted, isolation, timeMs: timeMsFor(verdict) });
  forget();
  expect(answer).toMatchObject(expectedAnswer(component));
  // Whatever a guest wrote: no escape sequence reaches a terminal or a log.
  // oxlint-disable-next-line no-control-regex -- control characters are what is looked for
  expect(`${answer.stdout}${answer.stderr}`).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f]/);
}

async function expectGoodWorks(isolation: Isolation): Promise<void> {
  const answer = await add("good", { granted: ["log", "leases"], isolation, timeMs: 10_000 });
  forget();
  expect(answer).toMatchObject({ status: 0, json: { cniVersion: "1.0.0" } });
}

describe("through the installed binary, in the brain's process", () => {
  const refused = hostileComponents.filter(({ at }) => at === "admission");
  test.each(refused.map((each) => [each.name, each] as const))("A-12: %s is refused before it runs", async (_name, each) => {
    await expectVerdict(each, "in-process");
  });

  const called = ownComponents.filter(({ at }) => at === "call");
  test.each(called.map((each) => [each.name, each] as const))(
    "%s comes to its verdict, and the next call works",
    async (_name, each) => {
      await expectVerdict(each, "in-process");
      await expectGoodWorks("in-process");
    },
  );

  test("a request beyond the limit of the input is refused as that", async () => {
    const padding = "x".repeat(1_200_000);
    const answer = await add("good", { granted: ["log", "leases"], isolation: "in-process", timeMs: 10_000, padding });
    forget();
    expect(answer).toMatchObject({ status: 1, json: { code: catalogue.LIMIT_INPUT.cni } });
    expect(answer.json?.["details"]).toContain("[LIMIT_INPUT]");
    await expectGoodWorks("in-process");
  });
});

describe("through the installed binary, in a sandbox process", () => {
  const limits = ownComponents.filter(({ at, verdict }) => at === "call" && (verdict.startsWith("LIMIT") || verdict === "OK"));
  test.each(limits.map((each) => [each.name, each] as const))("A-12: %s comes to its verdict", async (_name, each) => {
    await expectVerdict(each, "process");
    await expectGoodWorks("process");
  });
});
