// A delegate in Python: the template, built by the kit with componentize-py, has the vectors of every language. The build takes a CPU 13 s, so
// the component of equal sources is kept.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { currentAbi } from "../../../delegates/sdk/build/abi.ts";
import { buildDelegate } from "../../../delegates/sdk/build/build-delegate.ts";
import { componentizePyVersion } from "../../../delegates/sdk/build/language.ts";
import { writeScaffold } from "../../../delegates/sdk/build/scaffold.ts";
import { inspectComponent } from "../../../delegates/sdk/component/inspect.ts";
import { prepared } from "../../../delegates/sdk/component/run.ts";
import { catalogue } from "../../../delegates/sdk/conformance/catalogue.ts";
import { componentSubject } from "../../../delegates/sdk/conformance/component/component-subject.ts";
import { runChecks } from "../../../delegates/sdk/conformance/run-checks.ts";
import { readSetup } from "../../../delegates/sdk/conformance/setup-file.ts";
import { checkVector } from "../../../delegates/sdk/testing/check-vectors.ts";
import { readVectors } from "../../../delegates/sdk/testing/vector.ts";
import { Admission } from "../../../host/sandbox/admission/admit.ts";
import { defaultLimits, limitsOf } from "../../../host/sandbox/limits.ts";
import { ProcessPool } from "../../../host/sandbox/process/pool.ts";
import { SandboxAdmission } from "../../../host/sandbox/process/sandbox-admission.ts";
import { pythonCache, pythonEnvironment } from "../../lab/python/toolchain.ts";
import { missing } from "../../lab/requires.ts";
import { bundleGuestProgram } from "../../hostile/components/guest-program.ts";
import { plainRequests } from "../../hostile/components/requests.ts";
import { type KeptBuilds, keptBytes, keptMessage } from "./kept-outcomes.ts";

const environment = pythonEnvironment();
const unable = missing("delegates in Python", () => ("missing" in environment ? environment.missing : undefined));
/** The template's options: `--component-mib 20 --core-instances 48`. */
const limits = limitsOf({ componentMiB: 20, coreInstances: 48 });

describe.skipIf(unable)("a new delegate in Python", () => {
  const path = process.env["PATH"];
  let dir: string;
  let bytes: Uint8Array;

  /** The component of the sources in `dir`. */
  const build = async (): Promise<Uint8Array> => (await buildDelegate({ dir, outFile: join(dir, "build/greeter.wasm") })).bytes;

  /** Replaces text of the source, which must have it. */
  const edit = (from: string, to: string): void => {
    const file = join(dir, "src/delegate.py");
    const text = readFileSync(file, "utf8");
    expect(text).toContain(from);
    writeFileSync(
      file,
      text.replace(from, () => to),
    );
  };

  const kept = (): KeptBuilds => ({
    directory: pythonCache,
    dir,
    files: /\.py$|^delegate\.json$/,
    tools: [currentAbi, componentizePyVersion],
  });

  beforeAll(async () => {
    if ("PATH" in environment) process.env["PATH"] = environment.PATH;
    dir = mkdtempSync(join(tmpdir(), "plexus-python-"));
    await writeScaffold(dir, {
      name: "greeter",
      capabilities: [],
      language: "python",
      home: { kind: "repository", sdk: "0.1.0" },
    });
    // An exception in a module of the author's own, for one greeting.
    writeFileSync(join(dir, "src/luck.py"), 'def luck_of(names):\n    return names["luck"]\n');
    edit("import json\n", "import json\nimport time\n\nfrom luck import luck_of\n");
    edit(
      "    log.write(",
      '    if greeting == "fail":\n        print("a line")\n        luck_of({})\n    if greeting == "late":\n        import colorsys\n    if greeting == "clock":\n        time.time()\n    log.write(',
    );
    bytes = await keptBytes(kept(), "built", build);
  });

  afterAll(() => {
    process.env["PATH"] = path;
    rmSync(dir, { recursive: true, force: true });
  });

  test("passes the vectors of every language in the sandbox of a node", async () => {
    const vectors = await readVectors(join(dir, "vectors"));
    expect(vectors.map(({ verb }) => verb)).toEqual(["ADD", "ADD", "DEL", "CHECK", "STATUS"]);
    for (const vector of vectors) expect(await checkVector(vector, bytes, limits)).toMatchObject({ lines: [] });
  });

  test("passes the conformance checks", async () => {
    const setup = await readSetup({ config: undefined, request: undefined }, join(dir, "build/greeter.wasm"), "greeter");
    const component = prepared({ type: "greeter", bytes, granted: undefined, limits });
    if (!component.ok) throw new Error(component.fault.msg);
    const outcomes = await runChecks(componentSubject("greeter", component.value), setup, catalogue);
    expect(outcomes.filter(({ verdict }) => verdict === "failed")).toEqual([]);
    expect(outcomes.filter(({ verdict }) => verdict === "passed").length).toBeGreaterThan(20);
  });

  test("imports the declared capability and no WASI, and needs two raised limits", () => {
    const { imports, loads } = inspectComponent("greeter.wasm", bytes, limits);
    expect(loads).toBe(true);
    expect(imports.toSorted()).toEqual(["log", "types"].map((name) => `cni:delegate/${name}@${currentAbi}`));
    const refusal = (raised: object): string => {
      const result = new Admission().admit(bytes, { granted: ["log"], limits: { ...defaultLimits, ...raised } });
      return result.ok ? "admitted" : result.fault.msg;
    };
    expect(refusal({})).toContain("wasm.limits.componentMiB");
    expect(refusal({ componentBytes: limits.componentBytes })).toContain("wasm.limits.coreInstances");
  });

  test(
    "an exception has its message, files and lines in details and in the log of a sandbox process",
    { timeout: 60_000 },
    async () => {
      const pool = new ProcessPool({ entry: await bundleGuestProgram(), warm: 1 });
      try {
        const component = await new SandboxAdmission(() => pool).admit(bytes, { granted: ["log"], limits }, "greeter");
        if (!component.ok) throw new Error(component.fault.msg);
        const log: string[] = [];
        const network = { ...plainRequests.add.network, config: '{"greeting":"fail"}' };
        const request = { ...plainRequests.add, network, prevResult: { interfaces: [], ips: [], routes: [], dns: undefined } };
        const result = await pool.call(
          { component: component.value, verb: "add", request, limits, deadlineMs: 60_000 },
          { log: { write: (level, message) => void log.push(`${level}: ${message}`) } },
        );
        if (result.ok) throw new Error("the call succeeded");
        expect(result.fault.kind).toBe("DELEGATE_TRAPPED");
        const traceback =
          /File "src\/delegate\.py", line \d+, in add\s+File "src\/luck\.py", line 2, in luck_of\s+KeyError: 'luck'/;
        expect(result.fault.details).toMatch(traceback);
        expect(log[0]).toBe("info: a line");
        expect(log[1]).toMatch(/^error: Traceback/);
        expect(log[1]).toMatch(traceback);
      } finally {
        await pool.close();
      }
    },
  );

  test("a late import and a clock are exceptions that say so", async () => {
    const component = prepared({ type: "greeter", bytes, granted: undefined, limits });
    if (!component.ok) throw new Error(component.fault.msg);
    const [vector] = await readVectors(join(dir, "vectors"));
    if (vector === undefined) throw new Error("no vector");
    const logOf = (greeting: string): string =>
      component.value.call({ ...vector, stdinText: vector.stdinText.replace("welcome", greeting) }).log.join("\n");
    expect(logOf("late")).toMatch(/src\/delegate\.py", line \d+, in add\nImportError: import colorsys comes too late/);
    expect(logOf("clock")).toMatch(/src\/delegate\.py", line \d+, in add\nRuntimeError: time\.time\(\): a delegate has no clock/);
  });

  test("the build reports an author's mistake with its place", async () => {
    edit("def status(request: StatusRequest) -> None:", "def status(request: StatusRequest) -> None");
    const message = await keptMessage(kept(), "mistake", /does not compile:/, build);
    const [heading, ...lines] = message.split("\n");
    expect(heading).toMatch(/^\S+\/plexus-python-\w+ does not compile:$/);
    expect(lines.join("\n")).toMatch(
      /^Traceback \(most recent call last\):\n {2}File "src\/delegate\.py", line \d+\n.*\n +\^\nSyntaxError: expected ':'$/,
    );
  });
});
