// annotate, inspect, run and bench on components of two languages.

import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { z } from "zod";
import { buildJavaScript } from "../hostile/components/oracle/build.ts";
import { buildDelegate } from "../../delegates/sdk/build/build-delegate.ts";
import { withoutCustomSections } from "../../delegates/sdk/build/core-module.ts";
import { commands } from "../../delegates/sdk/program/commands.ts";
import { runProgram } from "../../delegates/sdk/program/run-program.ts";

const javaScript = `import { write } from "cni:delegate/log@1.0.0";
export const plugin = {
  add({ network }) {
    if (network.name === "throws") throw new Error("no address left");
    write("info", "hello\\u001b[2J");
    return { interfaces: [], ips: [{ address: "10.1.0.2/24", gateway: undefined, interface: undefined }], routes: [], dns: undefined };
  },
  del() { throw { code: 101, msg: "still in use", details: "try later" }; },
  check() {}, gc() {}, status() {},
};`;
const assemblyScript = `import { AttachmentRequest, Fault, GcRequest, StatusRequest, Success, SuccessOrFault } from "plexus/abi/plugin";
import { Level, write } from "plexus/abi/log";
export function add(request: AttachmentRequest): SuccessOrFault {
  write(Level.Debug, "begins");
  if (request.network.name.length > 0) throw new Error("no pool");
  return SuccessOrFault.ok(new Success());
}
export function del(_request: AttachmentRequest): Fault | null { return null; }
export function check(_request: AttachmentRequest): Fault | null { return null; }
export function gc(_request: GcRequest): Fault | null { return null; }
export function status(_request: StatusRequest): Fault | null { return null; }
`;

const Profile = z.object({
  nodes: z.array(
    z.object({
      id: z.number(),
      callFrame: z.object({ functionName: z.string(), url: z.string(), lineNumber: z.number(), columnNumber: z.number() }),
      hitCount: z.number().optional(),
      children: z.array(z.number()).optional(),
    }),
  ),
  samples: z.array(z.number()),
  timeDeltas: z.array(z.number()),
  startTime: z.number(),
  endTime: z.number(),
});

let root: string;
let bare: string;
let js: string;
let declaration: string;

beforeAll(async () => {
  root = mkdtempSync(join(tmpdir(), "plexus-commands-"));
  bare = join(root, "bare.wasm");
  js = join(root, "hello-js.wasm");
  declaration = join(root, "delegate.json");
  writeFileSync(bare, withoutCustomSections(await buildJavaScript("hello-js", javaScript, ["log"])));
  writeDeclaration("hello-js", { log: "Says hello." });
  const { code, err } = await run("annotate", bare, "--declaration", declaration, "-o", js);
  if (code !== 0 || err !== "") throw new Error(err);
});
afterAll(() => rmSync(root, { recursive: true }));

function writeDeclaration(name: string, capabilities: Record<string, string>): void {
  const value = { name, abi: "1.0.0", version: "0.1.0", about: "A test.", cniVersions: ["1.0.0", "1.1.0"], capabilities };
  writeFileSync(declaration, JSON.stringify(value));
}

async function run(...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const lines: { out: string[]; err: string[] } = { out: [], err: [] };
  const output = { say: (l: string) => void lines.out.push(l), warn: (l: string) => void lines.err.push(l), colour: true };
  const code = await runProgram({ commands, version: "1.2.3" }, args, output);
  return { code, out: lines.out.join("\n"), err: lines.err.join("\n") };
}

function request(name: string, more: object = {}): string {
  const file = join(root, "request.json");
  writeFileSync(file, JSON.stringify({ cniVersion: "1.1.0", name, type: "hello-js", ...more }));
  return `--request=${file}`;
}

function ipam(subnet: string): string {
  return request("pods", {
    type: "x",
    ipam: { type: "ipam-host-local", ranges: [[{ subnet }]], resolvConf: "/etc/resolv.conf" },
  });
}

describe("annotate", () => {
  test("refuses a second declaration unless --replace is set, and keeps all other bytes", async () => {
    const before = readFileSync(js);
    const second = await run("annotate", js, "--declaration", declaration);
    expect(second).toMatchObject({
      code: 1,
      err: expect.stringContaining("it has a section plexus:delegate already: --replace"),
    });
    expect(readFileSync(js).equals(before)).toBe(true);
    const replaced = join(root, "replaced.wasm");
    expect((await run("annotate", js, "--declaration", declaration, "--replace", "-o", replaced)).code).toBe(0);
    expect(readFileSync(replaced).equals(before)).toBe(true);
  });

  test("names the file and the field of a mistake, and refuses a file that is no component", async () => {
    const wrong = join(root, "wrong.json");
    writeFileSync(wrong, readFileSync(declaration, "utf8").replace('"log"', '"lgo"'));
    expect(await run("annotate", bare, "--declaration", wrong)).toMatchObject({
      code: 1,
      err: expect.stringContaining('"lgo" unknown'),
    });
    expect(await run("annotate", declaration, "--declaration", declaration)).toMatchObject({
      code: 1,
      err: expect.stringContaining("it is not a component"),
    });
    expect((await run("annotate", join(root, "absent.wasm"), "--declaration", declaration)).code).toBe(2);
  });
});

describe("inspect", () => {
  test("E-6, X-9: shows the component as JSON", async () => {
    const { code, out } = await run("inspect", js, "-o", "json");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      kind: "ComponentInspection",
      bytes: readFileSync(js).length,
      digest: expect.stringMatching(/^sha256:[0-9a-f]{64}$/),
      delegate: { name: "hello-js", abi: "1.0.0" },
      abi: ["1.0.0"],
      exports: expect.arrayContaining(["cni:delegate/plugin@1.0.0"]),
      capabilities: [{ name: "log", reason: "Says hello.", imported: true }],
      loads: true,
      problem: null,
    });
    expect((await run("inspect", js, "-o", "yaml")).out).toContain("kind: ComponentInspection");
  });

  test("E-6: ends with 1 and the node's words for what a node refuses", async () => {
    expect(await run("inspect", bare)).toMatchObject({
      code: 1,
      out: expect.stringContaining('Refused [COMPONENT_REFUSED]: component refused: no custom section "plexus:delegate"'),
    });
    const large = await run("inspect", js, "--component-mib=1");
    expect(large).toMatchObject({ code: 1, out: expect.stringContaining("(at most 1048576: wasm.limits.componentMiB)") });
    expect(await run("inspect", js, "--core-instances=2")).toMatchObject({
      code: 1,
      out: expect.stringContaining("wasm.limits.coreInstances"),
    });
  });

  test("warns of a file name that is not the declared name", async () => {
    const other = join(root, "other.wasm");
    writeFileSync(other, readFileSync(js));
    expect((await run("inspect", other)).err).toContain("declares the name hello-js");
  });
});

describe("run", () => {
  test("E-3, E-18: prints the result, the log without control characters, and the report", async () => {
    const { code, out, err } = await run("run", js, "add", request("pods"), "--report");
    expect(code).toBe(0);
    expect(JSON.parse(out)).toEqual({ cniVersion: "1.1.0", ips: [{ address: "10.1.0.2/24" }] });
    expect(err).toContain("info: hello");
    expect(err).not.toContain("[2J");
    expect(err).toMatch(/memory {5}\d+ of 16777216 bytes/);
    expect(err).toContain("log.write: 1");
  });

  test("E-3: prints a CNI error as a node: the delegate's own, an exception with its place, a refusal", async () => {
    const own = await run("run", js, "DEL", request("pods"));
    expect(own.code).toBe(1);
    expect(JSON.parse(own.out)).toMatchObject({
      code: 101,
      msg: "hello-js: still in use",
      details: expect.stringContaining("try later"),
    });
    const thrown = await run("run", js, "ADD", request("throws"));
    expect(thrown.code).toBe(1);
    expect(JSON.parse(thrown.out)).toMatchObject({
      code: 999,
      details: expect.stringMatching(/no address left[^]*hello-js\.js:4:/),
    });
    const refused = await run("run", js, "ADD", request("pods"), "--grants=leases");
    expect(JSON.parse(refused.out)).toMatchObject({ msg: expect.stringContaining("which the administrator did not grant") });
    const version = await run("run", js, "ADD", request("pods", { cniVersion: "0.4.0" }));
    expect(JSON.parse(version.out)).toMatchObject({ code: 1, msg: expect.stringContaining('cniVersion is "0.4.0"') });
    expect(JSON.parse((await run("run", js, "VERSION", request("pods"))).out)).toMatchObject({
      supportedVersions: ["1.0.0", "1.1.0"],
    });
  });

  test("an AssemblyScript throw has its file and line in the details", async () => {
    const dir = join(root, "small");
    mkdirSync(join(dir, "assembly"), { recursive: true });
    writeDeclaration("small", { log: "Logs." });
    writeFileSync(join(dir, "delegate.json"), readFileSync(declaration));
    writeFileSync(join(dir, "assembly", "index.ts"), assemblyScript);
    const outFile = join(root, "small.wasm");
    await buildDelegate({ dir, outFile, quick: true });
    const { out, err } = await run("run", outFile, "ADD", request("pods"));
    expect(JSON.parse(out)).toMatchObject({
      code: 999,
      details: expect.stringMatching(/^no pool \(assembly\/index\.ts:5:\d+\)/),
    });
    expect(err).toContain("debug: begins");
  });

  test("X-13: --fuel counts executed code: the same for the same input, more for more work, and labelled as not enforced", async () => {
    const fuel = async (name: string): Promise<number> => {
      const { err } = await run("run", js, "ADD", request(name), "--fuel");
      expect(err).toContain("bytes of entered functions and loops; an estimate, not enforced");
      return Number(/fuel +(\d+) bytes/.exec(err)?.[1]);
    };
    const first = await fuel("pods");
    expect(first).toBeGreaterThan(10_000);
    expect(await fuel("pods")).toBe(first);
    expect(await fuel("a".repeat(5000))).toBeGreaterThan(first);
    expect((await run("run", js, "ADD", request("throws"), "--fuel")).err).toMatch(/fuel +unknown/);
  });

  test("E-19: --profile writes a profile with the guest's functions by name, as speedscope reads it", async () => {
    const dir = join(root, "profiled");
    mkdirSync(join(dir, "assembly"), { recursive: true });
    writeDeclaration("profiled", { log: "Logs." });
    writeFileSync(join(dir, "delegate.json"), readFileSync(declaration));
    const busy = `function busyGuest(n: i32): i32 { let sum = n; for (let i = 0; i < 300000; i++) sum = sum * 31 + i; return sum; }\n`;
    const works = assemblyScript.replace(
      'if (request.network.name.length > 0) throw new Error("no pool");',
      "write(Level.Info, busyGuest(request.network.name.length).toString());",
    );
    writeFileSync(join(dir, "assembly", "index.ts"), `${works}${busy}`);
    const outFile = join(root, "profiled.wasm");
    await buildDelegate({ dir, outFile, quick: true, names: true });
    const file = join(root, "run.cpuprofile");
    const { code, err } = await run("run", outFile, "ADD", request("pods"), `--profile=${file}`);
    expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining(`${file}: `) });
    // The members that speedscope's importer of .cpuprofile files reads.
    const { nodes, samples, timeDeltas, startTime, endTime } = Profile.parse(JSON.parse(readFileSync(file, "utf8")));
    expect(endTime).toBeGreaterThan(startTime);
    expect(samples.length).toBe(timeDeltas.length);
    const ids = new Set(nodes.map(({ id }) => id));
    expect(samples.filter((sample) => !ids.has(sample))).toEqual([]);
    const hits = nodes.filter(({ callFrame }) => callFrame.functionName.includes("busyGuest"));
    expect(hits.reduce((sum, { hitCount = 0 }) => sum + hitCount, 0)).toBeGreaterThan(samples.length / 10);
  });

  test("E-18, X-9: a value at its limit is red in the report, and the refusal names the limit", async () => {
    const { code, out, err } = await run("run", js, "ADD", request("pods"), "--report", "--memory-mib=1");
    expect(code).toBe(1);
    expect(JSON.parse(out)).toMatchObject({ msg: expect.stringContaining("memory") });
    expect(err).toBe("");
    const late = await run("run", js, "ADD", request("throws"), "--report", "--time-ms=1");
    expect(late.err).toContain("\u001b[31m  time ");
    expect(late.err).toContain("OVER THE LIMIT");
  });

  test("a mistake in request, state or verb ends with 2", async () => {
    expect(await run("run", js, "AD", request("pods"))).toMatchObject({
      code: 2,
      err: expect.stringContaining("AD is no verb of CNI"),
    });
    expect(await run("run", js, "ADD", request("pods"), '--state={"lease":{}}')).toMatchObject({
      code: 2,
      err: expect.stringContaining("did you mean leases?"),
    });
    expect((await run("run", js, "ADD", `--request=${js}`)).code).toBe(2);
  });
});

test("E-4: a recorded run is replayed with the same answer, and another request differs at the first other call", async () => {
  const allocator = join(root, "ipam-host-local.wasm");
  const dir = fileURLToPath(new URL("../../delegates/ipam-host-local", import.meta.url));
  await buildDelegate({ dir, outFile: allocator });
  const tape = join(root, "calls.json");
  const state =
    '--state={"resolver":{"/etc/resolv.conf":{"nameservers":["10.0.0.53"]}},"leases":{"held":{"10.1.0.2":"other eth0"}}}';
  const recorded = await run("run", allocator, "ADD", ipam("10.1.0.0/24"), state, `--record=${tape}`);
  expect(recorded).toMatchObject({ code: 0, err: "", out: expect.stringContaining("10.0.0.53") });
  expect(JSON.parse(readFileSync(tape, "utf8"))).toMatchObject({ kind: "RecordedCalls", calls: expect.any(Array) });
  // Without the state: every answer comes from the file.
  expect(await run("run", allocator, "ADD", ipam("10.1.0.0/24"), `--replay=${tape}`)).toEqual(recorded);
  const other = await run("run", allocator, "ADD", ipam("10.2.0.0/24"), `--replay=${tape}`);
  expect(other.code).toBe(1);
  expect(JSON.parse(other.out)).toMatchObject({
    msg: expect.stringMatching(/replay: call \d is .*10\.2\.0.*; recorded: .*10\.1\.0/),
  });
});

test("E-5: bench saves figures and compares with them", async () => {
  const saved = join(root, "bench.json");
  const counts = ["--calls=20", "--warm-up=5"];
  const first = await run("bench", js, "ADD", request("pods"), ...counts, `--save=${saved}`);
  expect(first).toMatchObject({ code: 0, out: expect.stringMatching(/^20 calls of ADD: p50 \d+ us, p90 \d+ us, p99 \d+ us/) });
  expect((await run("bench", js, "ADD", request("pods"), ...counts, `--baseline=${saved}`, "--tolerance=100000")).code).toBe(0);
  writeFileSync(saved, readFileSync(saved, "utf8").replace(/"p50Us": \d+/, '"p50Us": 1'));
  const slower = await run("bench", js, "ADD", request("pods"), ...counts, `--baseline=${saved}`);
  expect(slower).toMatchObject({ code: 1, out: expect.stringContaining("SLOWER") });
});
