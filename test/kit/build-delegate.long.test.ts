import { mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { runInSandbox } from "../../delegates/sdk/testing/run-in-sandbox.ts";
import type { CapabilityFunctions } from "../../delegates/sdk/testing/records.ts";
import { MemoryLeases } from "../../delegates/sdk/testing/memory-leases.ts";
import { sections } from "../../wit/binary/sections.ts";
import { buildDelegate, type BuiltDelegate } from "../../delegates/sdk/build/build-delegate.ts";
import { defaultCacheDir } from "../../delegates/sdk/build/content-cache.ts";

const verbs = `
export function del(_request: AttachmentRequest): Fault | null { return null; }
export function check(_request: AttachmentRequest): Fault | null { return null; }
export function gc(_request: GcRequest): Fault | null { return null; }
export function status(_request: StatusRequest): Fault | null { return null; }
`;
const imports = `import { AttachmentRequest, Fault, GcRequest, StatusRequest, Success, SuccessOrFault } from "plexus/abi/plugin";\n`;
const adds = (body: string, more = ""): string =>
  `${imports}${more}export function add(request: AttachmentRequest): SuccessOrFault { ${body} }\n${verbs}`;
const succeeds = "return SuccessOrFault.ok(new Success());";

let root: string;
beforeAll(async () => {
  root = await mkdtemp(join(tmpdir(), "plexus-build-"));
});
afterAll(() => rm(root, { recursive: true, force: true }));

let count = 0;
interface BuildOptions {
  /** By default that of the kit, so that a second run builds only what this file tests. */
  readonly cacheDir?: string | null;
  readonly quick?: boolean;
}

async function buildSource(
  source: string,
  capabilities: Record<string, string>,
  { cacheDir = defaultCacheDir, quick = true }: BuildOptions = {},
): Promise<BuiltDelegate> {
  count += 1;
  const dir = join(root, `d${count}`);
  await mkdir(join(dir, "assembly"), { recursive: true });
  const declaration = {
    name: "small",
    abi: "1.0.0",
    version: "0.1.0",
    about: "A test.",
    cniVersions: ["1.1.0"],
    capabilities,
  };
  await writeFile(join(dir, "delegate.json"), JSON.stringify(declaration));
  await writeFile(join(dir, "assembly/index.ts"), source);
  return buildDelegate({ dir, outFile: join(root, `out/d${count}.wasm`), cacheDir, quick });
}

const request = {
  call: { remainingMs: 15_000, granted: ["log"] },
  network: { cniVersion: "1.1.0", name: "net", config: "{}" },
  attachment: { containerId: "c", ifname: "eth0", args: [] },
};

function loggingTo(log: string[]): CapabilityFunctions {
  return {
    log: { write: (level, message) => void log.push(`${level}: ${message}`) },
    leases: new MemoryLeases().functions({ verb: "status" }),
    resolver: { read: () => ({ err: { code: 7, msg: "no" } }) },
  };
}

test("X-10: two builds of the same sources in two directories have the same bytes, and a third comes from the cache", async () => {
  const how = { cacheDir: join(root, "cache"), quick: false };
  // A build of this run or of an earlier one.
  const one = await buildSource(adds(succeeds), {}, { quick: false });
  // Another build in the same compiler between the two.
  await buildSource(adds(`return SuccessOrFault.err(new Fault(100, "no"));`), {}, { cacheDir: null });
  const two = await buildSource(adds(succeeds), {}, how);
  expect(Buffer.from(one.bytes).equals(Buffer.from(two.bytes))).toBe(true);
  expect(two.cached).toBe(false);
  const three = await buildSource(adds(succeeds), {}, how);
  expect(three.cached).toBe(true);
  expect(Buffer.from(three.bytes).equals(Buffer.from(one.bytes))).toBe(true);
  expect(await readFile(join(root, `out/d${count}.wasm`))).toEqual(Buffer.from(one.bytes));
});

test("X-10: a damaged file of the cache is reported, built again and replaced", async () => {
  const cacheDir = join(root, "damaged");
  const built = await buildSource(adds(succeeds), {}, { cacheDir });
  const [file = ""] = await readdir(cacheDir);
  const content = await readFile(join(cacheDir, file));
  content.writeUInt8((content.at(-1) ?? 0) ^ 1, content.length - 1);
  await writeFile(join(cacheDir, file), content);
  const again = await buildSource(adds(succeeds), {}, { cacheDir });
  expect(again.cached).toBe(false);
  expect(again.warnings).toEqual([`${join(cacheDir, file)} was damaged, so small was built again`]);
  expect(Buffer.from(again.bytes).equals(Buffer.from(built.bytes))).toBe(true);
  expect((await buildSource(adds(succeeds), {}, { cacheDir })).cached).toBe(true);
});

test("a symbolic link in assembly/ is refused by its path", async () => {
  await buildSource(adds(succeeds), {});
  const dir = join(root, `d${count}`);
  await symlink("index.ts", join(dir, "assembly/other.ts"));
  const how = { dir, outFile: join(root, "out/link.wasm"), quick: true };
  for (const cacheDir of [null, join(root, "cache")])
    await expect(buildDelegate({ ...how, cacheDir })).rejects.toThrow(
      `${join(dir, "assembly/other.ts")} is a symbolic link, which a build does not follow: put the file itself there`,
    );
});

test("a component imports only the called interfaces, and has its declaration and no debug names", async () => {
  const { bytes, declaration } = await buildSource(adds(succeeds), {});
  const parts = sections(bytes);
  const customs = parts.filter((part) => part.id === 0);
  expect(customs.map((part) => part.name)).toEqual(["plexus:delegate"]);
  expect(JSON.parse(new TextDecoder().decode(customs[0]?.body))).toEqual(declaration);
  // Section 10 of a component: imports.
  const text = parts
    .filter((part) => part.id === 10)
    .map((part) => Buffer.from(part.body).toString("latin1"))
    .join();
  expect(text).toContain("cni:delegate/types@1.0.0");
  expect(text).not.toContain("cni:delegate/log");
  expect(text).not.toContain("cni:delegate/leases");
  expect(Buffer.from(bytes).includes(root)).toBe(false);
});

test("a delegate that aborts logs the message and the place, then traps", async () => {
  const { bytes } = await buildSource(adds(`assert(request.network.name == "other", "not my network"); ${succeeds}`), {
    log: "Aborts.",
  });
  const log: string[] = [];
  await expect(runInSandbox(bytes, { verb: "add", request }, loggingTo(log))).rejects.toThrow(/unreachable/);
  expect(log).toEqual([expect.stringMatching(/^error: not my network \(assembly\/index\.ts:2:\d+\)$/)]);
});

test("without the capability log an abort is silent", async () => {
  const { bytes } = await buildSource(adds(`assert(request.network.name == "other", "not my network"); ${succeeds}`), {});
  const log: string[] = [];
  await expect(runInSandbox(bytes, { verb: "add", request }, loggingTo(log))).rejects.toThrow(/unreachable/);
  expect(log).toEqual([]);
});

// mistakes.test.ts has a missing verb and a capability that is not declared.
describe("the build reports", () => {
  test("a capability that is declared but never called", async () => {
    const { warnings } = await buildSource(adds(succeeds), { resolver: "Never." });
    expect(warnings).toEqual(["small declares resolver and never calls it"]);
  });

  test.each([
    ["Math.random() has no randomness", "Math.random()", /Math\.random\(\): a delegate has no randomness/],
    ["Date.now() has no clock", "<f64>Date.now()", /Date: a delegate has no clock/],
  ])("%s", async (_what, expression, message) => {
    const source = adds(`if (${expression} > 0.5) return SuccessOrFault.err(new Fault(100, "x")); ${succeeds}`);
    await expect(buildSource(source, {})).rejects.toThrow(message);
  });

  test("the use of console", async () => {
    await expect(buildSource(adds(`console.log("x"); ${succeeds}`), {})).rejects.toThrow(
      /console is not available: write to plexus\/abi\/log/,
    );
  });

  test("an error in the code, with file, line and column", async () => {
    await expect(buildSource(adds(`return 5;`), {})).rejects.toThrow(/assembly\/index\.ts\(2,\d+\)/);
  });

  test("a verb with another signature", async () => {
    const source = `${imports}export function add(_request: AttachmentRequest): Fault | null { return null; }\n${verbs}`;
    await expect(buildSource(source, {})).rejects.toThrow(
      "assembly/index.ts: the function add must be: export function add(request: AttachmentRequest): SuccessOrFault (TS2322: ",
    );
  });

  test("a member that may be null though it was compared, with the remedy", async () => {
    const source = adds(`if (request.prevResult !== null) return SuccessOrFault.ok(request.prevResult); ${succeeds}`);
    await expect(buildSource(source, {})).rejects.toThrow("Remedy: a check of null holds for a constant only");
  });

  test("a ternary whose first branch is null, with the remedy", async () => {
    const source = adds(
      `const fault = request.prevResult ? null : new Fault(7, "x"); if (fault) return SuccessOrFault.err(fault); ${succeeds}`,
    );
    await expect(buildSource(source, {})).rejects.toThrow("Remedy: give the variable its type: const fault: Fault | null");
    const typed = source.replace("const fault =", "const fault: Fault | null =");
    expect((await buildSource(typed, {})).warnings).toEqual([]);
  });

  test("an import from outside of the delegate", async () => {
    await expect(buildSource(`import "../../../../etc/hostname";\n${adds(succeeds)}`, {})).rejects.toThrow(/not found/i);
  });

  test("a directory without delegate.json", async () => {
    await expect(buildDelegate({ dir: root, outFile: join(root, "x.wasm") })).rejects.toThrow(/has no delegate\.json/);
  });
});
