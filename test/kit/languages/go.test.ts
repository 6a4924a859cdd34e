// A delegate in Go: the template, built by the kit with Go's own compiler, has the vectors of every language.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { currentAbi } from "../../../delegates/sdk/build/abi.ts";
import { buildDelegate } from "../../../delegates/sdk/build/build-delegate.ts";
import { goPackagePath } from "../../../delegates/sdk/build/language.ts";
import { writeScaffold } from "../../../delegates/sdk/build/scaffold.ts";
import { inspectComponent } from "../../../delegates/sdk/component/inspect.ts";
import { prepared, type Run } from "../../../delegates/sdk/component/run.ts";
import { catalogue } from "../../../delegates/sdk/conformance/catalogue.ts";
import { componentSubject } from "../../../delegates/sdk/conformance/component/component-subject.ts";
import { runChecks } from "../../../delegates/sdk/conformance/run-checks.ts";
import { readSetup } from "../../../delegates/sdk/conformance/setup-file.ts";
import { checkVector } from "../../../delegates/sdk/testing/check-vectors.ts";
import { readVectors } from "../../../delegates/sdk/testing/vector.ts";
import { defaultLimits } from "../../../host/sandbox/limits.ts";
import { ProcessPool } from "../../../host/sandbox/process/pool.ts";
import { SandboxAdmission } from "../../../host/sandbox/process/sandbox-admission.ts";
import { writeGoModule } from "../../../scripts/write-go-module.ts";
import { bundleGuestProgram } from "../../hostile/components/guest-program.ts";
import { plainRequests } from "../../hostile/components/requests.ts";
import { installTestDelegate } from "../../lab/delegates/built.ts";
import { go, missing, privateNamespaces } from "../../lab/requires.ts";
import { openStage } from "../../lab/stage.ts";

const unable = missing("delegates in Go", go);

/** Makes the template of a delegate in Go, as npm installs it. */
async function template(): Promise<string> {
  const dir = mkdtempSync(join(tmpdir(), "plexus-go-"));
  await writeScaffold(dir, { name: "greeter", capabilities: [], language: "go", home: { kind: "repository", sdk: "0.1.0" } });
  writeGoModule(join(dir, goPackagePath(currentAbi)), currentAbi);
  return dir;
}

describe.skipIf(unable)("a new delegate in Go", () => {
  let dir: string;
  let source: string;
  let bytes: Uint8Array;

  const build = async (): Promise<Uint8Array> => {
    const built = await buildDelegate({ dir, outFile: join(dir, "build/greeter.wasm") });
    if (built.warnings.length > 0) throw new Error(built.warnings.join("\n"));
    return built.bytes;
  };

  beforeAll(async () => {
    dir = await template();
    source = readFileSync(join(dir, "main.go"), "utf8");
    bytes = await build();
  }, 600_000);

  afterAll(() => rmSync(dir, { recursive: true, force: true }));

  /** Builds the template with statements at the begin of its ADD. */
  const buildWith = (statements: string, packages = ""): Promise<Uint8Array> => {
    const verb = "(plexus.Success, error) {\n";
    expect(source).toContain(verb);
    const edited = source.replace(verb, `${verb}\t${statements}\n`).replace('"fmt"\n', `"fmt"\n${packages}\n`);
    writeFileSync(join(dir, "main.go"), edited);
    return build();
  };

  /** The outcome of an ADD with this greeting. */
  const added = async (component: Uint8Array, greeting: string): Promise<Run> => {
    const ready = prepared({ type: "greeter", bytes: component, granted: undefined, limits: defaultLimits });
    if (!ready.ok) throw new Error(ready.fault.msg);
    const [vector] = await readVectors(join(dir, "vectors"));
    if (vector === undefined) throw new Error("no vector");
    return ready.value.call({ ...vector, stdinText: vector.stdinText.replace("welcome", greeting) });
  };

  test("passes the vectors of every language in the sandbox of a node, within the default limits", async () => {
    const vectors = await readVectors(join(dir, "vectors"));
    expect(vectors.map(({ verb }) => verb)).toEqual(["ADD", "ADD", "DEL", "CHECK", "STATUS"]);
    for (const vector of vectors) expect(await checkVector(vector, bytes)).toMatchObject({ lines: [] });
  });

  test("passes the conformance checks", async () => {
    const setup = await readSetup({ config: undefined, request: undefined }, join(dir, "build/greeter.wasm"), "greeter");
    const component = prepared({ type: "greeter", bytes, granted: undefined, limits: defaultLimits });
    if (!component.ok) throw new Error(component.fault.msg);
    const outcomes = await runChecks(componentSubject("greeter", component.value), setup, catalogue);
    expect(outcomes.filter(({ verdict }) => verdict === "failed")).toEqual([]);
    expect(outcomes.filter(({ verdict }) => verdict === "passed").length).toBeGreaterThan(20);
  });

  test("imports the declared capability and no WASI, and a second build has the same bytes", async () => {
    const { imports, loads } = inspectComponent("greeter.wasm", bytes, defaultLimits);
    expect(loads).toBe(true);
    expect(imports.toSorted()).toEqual(["log", "types"].map((name) => `cni:delegate/${name}@${currentAbi}`));
    expect(Buffer.from(await build()).equals(Buffer.from(bytes))).toBe(true);
  }, 300_000);

  test(
    "a panic has its message, file and line in details and in the log of a sandbox process",
    { timeout: 600_000 },
    async () => {
      const panics = await buildWith('fmt.Println("a line"); panic("no luck")');
      const pool = new ProcessPool({ entry: await bundleGuestProgram(), warm: 1 });
      try {
        const limits = defaultLimits;
        const component = await new SandboxAdmission(() => pool).admit(panics, { granted: ["log"], limits }, "greeter");
        if (!component.ok) throw new Error(component.fault.msg);
        const log: string[] = [];
        const request = { ...plainRequests.add, prevResult: { interfaces: [], ips: [], routes: [], dns: undefined } };
        const result = await pool.call(
          { component: component.value, verb: "add", request, limits, deadlineMs: 60_000 },
          { log: { write: (level, message) => void log.push(`${level}: ${message}`) } },
        );
        if (result.ok) throw new Error("the call succeeded");
        expect(result.fault.kind).toBe("DELEGATE_TRAPPED");
        expect(result.fault.details).toMatch(
          /^panic: no luck\ngoroutine 1 \[running\]:\nmain\.delegate\.Add\(.*\n\tgreeter\/main\.go:\d+/,
        );
        expect(log.slice(0, 2)).toEqual(["info: a line", "error: panic: no luck"]);
      } finally {
        await pool.close();
      }
    },
  );

  test("an error has the code of the fault within it, and 999 without one", async () => {
    const fails = await buildWith(
      `if request.Network.Name != "" { var config struct{ Greeting string }; _ = json.Unmarshal([]byte(request.Network.Config), &config)
	switch config.Greeting {
	case "wrapped": return plexus.Success{}, fmt.Errorf("outer: %w", &plexus.Fault{Code: plexus.CodeTryAgain, Msg: "inner", Details: plexus.Some("why")})
	case "plain": return plexus.Success{}, errors.New("plain \\xff")
	} }`,
      '"errors"',
    );
    const answer = async (greeting: string): Promise<unknown> => JSON.parse((await added(fails, greeting)).stdout);
    expect(await answer("wrapped")).toMatchObject({
      code: 11,
      msg: "greeter: outer: inner",
      details: expect.stringContaining("why"),
    });
    // A string of Go may be no UTF-8, which the host refuses.
    expect(await answer("plain")).toMatchObject({ code: 999, msg: "greeter: plain \uFFFD" });
  }, 300_000);

  test("print, goroutines and sleeps work; files, sockets and randomness are errors", async () => {
    const tries = await buildWith(
      `var config struct{ Greeting string }
	_ = json.Unmarshal([]byte(request.Network.Config), &config)
	switch config.Greeting {
	case "print":
		fmt.Println("gr\\u00fc\\u00dfe", strings.Repeat("\\u00fc", 3000)); fmt.Print("no UTF-8: \\xff"); println("to stderr")
	case "sleep":
		ends := make(chan string)
		go func() { time.Sleep(time.Hour); ends <- time.Now().UTC().Format(time.DateOnly) }()
		fmt.Println(<-ends)
	case "file":
		_, err := os.ReadFile("/etc/passwd"); fmt.Println(err, len(os.Environ()), len(os.Args))
	case "random":
		_, _ = rand.Read(make([]byte, 8))
	case "asleep":
		<-make(chan int)
	case "much":
		for range 1000 { _ = make([]byte, 100_000) }
	case "full":
		var kept [][]byte
		for { kept = append(kept, make([]byte, 1_000_000)) }
	}`,
      '"crypto/rand"; "os"; "strings"; "time"',
    );
    const logOf = async (greeting: string): Promise<readonly string[]> => (await added(tries, greeting)).log;
    const printed = await logOf("print");
    expect(printed[0]?.startsWith("info: grüße üüü")).toBe(true);
    // A line of more than 4 KiB has two parts, divided between characters.
    expect(printed.slice(0, 2).join("").replace("info: ", "")).toContain(`üinfo: ü`);
    expect(printed.slice(2)).toEqual(["info: no UTF-8: ?", "error: to stderr", "info: print, pod-1"]);
    expect(await logOf("sleep")).toEqual(["info: 1970-01-01", "info: sleep, pod-1"]);
    expect(await logOf("file")).toEqual(["info: open /etc/passwd: Not implemented on wasip1 0 0", "info: file, pod-1"]);
    expect((await added(tries, "random")).stdout).toContain("crypto/rand: failed to read random data");
    expect((await added(tries, "asleep")).stdout).toContain("all goroutines are asleep - deadlock!");
    expect(await logOf("much")).toEqual(["info: much, pod-1"]);
    expect((await added(tries, "full")).stdout).toContain("wasm.limits.memoryMiB");
  }, 300_000);

  test("the build reports an author's mistake with its place, and a capability that is not declared", async () => {
    await expect(buildWith("var wrong int = true")).rejects.toThrow(/does not compile:[\s\S]*main\.go:\d+:\d+: cannot use true/);
    const undeclared = buildWith('_, _ = resolver.Read("/etc/resolv.conf")', '"plexus/resolver"');
    await expect(undeclared).rejects.toThrow(/^greeter calls resolver: declare it in delegate\.json, with a reason/);
  }, 300_000);

  test.skipIf(missing("a component in Go on a node", privateNamespaces))(
    "attaches a pod as a step of a list",
    async () => {
      const stage = openStage({ native: [], components: [] });
      try {
        await installTestDelegate("puppet", stage.plexus.cniPath);
        writeFileSync(join(stage.plexus.cniPath, "greeter.wasm"), bytes);
        const interfaceOf = { type: "puppet", do: { ADD: [{ end: "interface" }] } };
        const grants = { puppet: { log: {}, delegation: { plugins: [] } }, greeter: { log: {} } };
        const config = stage.network([interfaceOf, { type: "greeter", greeting: "good day" }], { wasm: { grants } });
        const attaching = { config, containerId: "one", pod: stage.pod() };
        const outcome = await stage.call("ADD", attaching);
        expect(outcome).toMatchObject({ status: 0, json: { interfaces: [{ name: "eth0" }] } });
        expect(outcome.stderr).toContain("good day, one");
        await stage.succeed("DEL", attaching);
      } finally {
        stage.dispose();
      }
    },
    120_000,
  );
});

describe("a machine without Go", () => {
  const path = process.env["PATH"];
  let dir: string;
  beforeAll(async () => {
    dir = await template();
  });
  afterAll(() => {
    process.env["PATH"] = path;
    rmSync(dir, { recursive: true, force: true });
  });
  const build = () => buildDelegate({ dir, outFile: join(dir, "build/greeter.wasm") });

  test("a missing or old compiler is named before anything is compiled, and packages that npm has not installed", async () => {
    process.env["PATH"] = dir;
    await expect(build()).rejects.toThrow(
      /^go does not start \(.*ENOENT.*\): install Go 1\.24 or newer from https:\/\/go\.dev\/dl$/,
    );
    writeFileSync(join(dir, "go"), '#!/bin/sh\n[ "$1" = env ] && echo go1.21.3\n', { mode: 0o755 });
    await expect(build()).rejects.toThrow(
      /^delegates in Go need Go 1\.24 or newer, and go1\.21\.3 is installed\. To do: install Go from/,
    );
    writeFileSync(join(dir, "go"), '#!/bin/sh\n[ "$1" = env ] && echo go1.26.0\n', { mode: 0o755 });
    rmSync(join(dir, "node_modules"), { recursive: true });
    await expect(build()).rejects.toThrow(/node_modules\/@plexus-cni\/sdk\/go\/1\.1\.0 does not exist: run npm install/);
    const manifest = join(dir, "go.mod");
    writeFileSync(manifest, readFileSync(manifest, "utf8").replace("go/1.1.0", "go/1.0.0"));
    await expect(build()).rejects.toThrow(
      /go\/1\.0\.0, and delegate\.json the ABI 1\.1\.0: write replace plexus => \.\/node_modules\//,
    );
  });
});
