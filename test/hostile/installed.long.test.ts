// Every hostile component through the built binary: installed in a directory of CNI_PATH and named by a configuration. Each call must end
// with the expected fault as a CNI error, and the next call of a valid component must succeed.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { catalogue } from "../../src/fault/catalogue.ts";
import { type Answer, installPlexus, type Installation, missingBuild } from "../lab/plexus.ts";
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

/** The time limit: short for components that should exceed it, otherwise long enough for a busy machine. */
function timeMsFor(verdict: HostileComponent["verdict"]): number {
  return verdict === "LIMIT_TIME" ? 200 : 60_000;
}

interface AddOptions {
  readonly granted: readonly string[];
  readonly isolation: Isolation;
  readonly timeMs: number;
  readonly padding?: string;
}

function add(type: string, { granted, isolation, timeMs, padding = "" }: AddOptions): Promise<Answer> {
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

/** Removes the state directory: the journal entry of a component that cannot be loaded stays until DEL works. */
function removeState(): void {
  rmSync(plexus.state("cni"), { recursive: true });
}

/** Components without suspended imports. Tests in host/sandbox cover the others in both runners, with delayed answers. */
const componentsWithoutWaits = hostileComponents.filter(({ name }) => !name.startsWith("waits-"));

/** Files that end in .wasm but do not have a component's preamble, so that the shim does not find a plugin. */
const nonComponents: ReadonlySet<string> = new Set(["empty", "text", "core-module"]);

/** The expected answer of the binary for a component. */
function expectedAnswer({ name, verdict, message }: HostileComponent): object {
  if (nonComponents.has(name)) return { status: 1, json: { code: catalogue.PLUGIN_NOT_FOUND.cni } };
  if (verdict === "OK") return { status: 0, json: { cniVersion: "1.0.0" } };
  const code: unknown = verdict === "DELEGATE_FAILED" ? expect.any(Number) : catalogue[verdict].cni;
  const details: unknown = expect.stringContaining(`[${verdict}]`);
  return { status: 1, json: { code, msg: expect.stringContaining(message), details } };
}

async function expectVerdict(component: HostileComponent, isolation: Isolation): Promise<void> {
  const { name, granted, verdict } = component;
  const answer = await add(name, { granted, isolation, timeMs: timeMsFor(verdict) });
  removeState();
  expect(answer).toMatchObject(expectedAnswer(component));
  // No escape sequence of a guest may reach a terminal or a log.
  // oxlint-disable-next-line no-control-regex -- control characters must be absent
  expect(`${answer.stdout}${answer.stderr}`).not.toMatch(/[\u0000-\u0009\u000b-\u001f\u007f]/);
}

async function expectGoodComponentSucceeds(isolation: Isolation): Promise<void> {
  const answer = await add("good", { granted: ["log", "leases"], isolation, timeMs: 60_000 });
  removeState();
  expect(answer).toMatchObject({ status: 0, json: { cniVersion: "1.0.0" } });
}

describe("through the installed binary, in the engine's process", () => {
  const refused = hostileComponents.filter(({ at }) => at === "admission");
  test.each(refused.map((each) => [each.name, each] as const))("A-12: %s is refused before it runs", async (_name, each) => {
    await expectVerdict(each, "in-process");
  });

  const called = componentsWithoutWaits.filter(({ at }) => at === "call");
  test.each(called.map((each) => [each.name, each] as const))(
    "E-9, E-10: %s ends with its verdict, and the next call succeeds",
    async (_name, each) => {
      await expectVerdict(each, "in-process");
      await expectGoodComponentSucceeds("in-process");
    },
  );

  test("E-10: a request beyond the input limit fails with LIMIT_INPUT", async () => {
    const padding = "x".repeat(1_200_000);
    const answer = await add("good", { granted: ["log", "leases"], isolation: "in-process", timeMs: 60_000, padding });
    removeState();
    expect(answer).toMatchObject({ status: 1, json: { code: catalogue.LIMIT_INPUT.cni } });
    expect(answer.json?.["details"]).toContain("[LIMIT_INPUT]");
    await expectGoodComponentSucceeds("in-process");
  });
});

describe("through the installed binary, in a sandbox process", () => {
  const limits = componentsWithoutWaits.filter(
    ({ at, verdict }) => at === "call" && (verdict.startsWith("LIMIT") || verdict === "OK"),
  );
  test.each(limits.map((each) => [each.name, each] as const))("A-12: %s ends with its verdict", async (_name, each) => {
    await expectVerdict(each, "process");
    await expectGoodComponentSucceeds("process");
  });
});
