// Fuzzes a part of a C program: always with a fixed set of inputs, and with libFuzzer if clang has it.

import { spawn, spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

import { LANGUAGE_FLAGS } from "../../../host/shim/build.ts";
import { testSeed } from "../../lab/random-from.ts";

/** A part of the shim, or of another C program, with its fuzz target. */
export interface FuzzTarget {
  /** The part, for the tests' titles: `the shim's frame parser`. */
  readonly title: string;
  /** The fuzz target's source in this folder. */
  readonly target: string;
  /** The folder of the sources, absolute; the shim's by default. */
  readonly folder?: string;
  /** The program's sources that the target is linked with. */
  readonly sources: readonly string[];
  /** Inputs by name. */
  readonly seeds: () => ReadonlyMap<string, Uint8Array>;
  /** Checks of one source, each with a text that takes its place: without any one of them the target must fail. */
  readonly checks: { readonly source: string; readonly without: Readonly<Record<string, string>> };
}

const here = (name: string): string => fileURLToPath(new URL(name, import.meta.url));
const shim = fileURLToPath(new URL("../../../host/shim", import.meta.url));
const seconds = Number(process.env["PLEXUS_FUZZ_SECONDS"] ?? 60);
const mutations = 5000;
/** Ends a program that hangs. */
const patienceSeconds = 170;

/** Compiles a program. Returns the compiler's stderr if it fails, undefined if it succeeds. */
function compile(compiler: string, flags: readonly string[], output: string): string | undefined {
  const { error, status, stderr } = spawnSync(compiler, [...LANGUAGE_FLAGS, "-g", ...flags, "-o", output], { encoding: "utf8" });
  if (error !== undefined) return error.message;
  return status === 0 ? undefined : stderr.slice(0, 2000);
}

/** Runs a program asynchronously: the test runner requires its worker to respond more often than once a minute. */
function run(
  program: string,
  args: readonly string[],
  limitSeconds: number,
): Promise<{ readonly status: number | null; readonly output: string }> {
  return new Promise((resolve, reject) => {
    const child = spawn(program, args, { stdio: ["ignore", "pipe", "pipe"], timeout: limitSeconds * 1000 });
    let output = "";
    const take = (chunk: Buffer): void => {
      output = (output + chunk.toString()).slice(-8000);
    };
    child.stdout.on("data", take);
    child.stderr.on("data", take);
    child.on("error", reject);
    child.on("close", (status) => resolve({ status, output }));
  });
}

/** Declares the tests of a fuzz target. */
export function describeFuzzing({ title, target, folder = shim, sources, seeds, checks }: FuzzTarget): void {
  let directory = "";
  let corpus = "";
  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), "plexus-fuzz-"));
    corpus = join(directory, "corpus");
    mkdirSync(corpus);
    for (const [name, bytes] of seeds()) writeFileSync(join(corpus, name), bytes);
  });
  afterAll(() => rmSync(directory, { recursive: true, force: true }));

  const corpusFiles = (): readonly string[] =>
    readdirSync(corpus)
      .sort()
      .map((name) => join(corpus, name));
  /** The arguments that compile the target, with another file in the place of one source. */
  const linked = (replaced = ""): readonly string[] => [
    "-iquote",
    folder,
    here(target),
    ...sources.map((name) => (name === basename(replaced) ? replaced : join(folder, name))),
  ];
  /** Writes a source file that tests whether a compiler accepts the flags, and returns its path. */
  const trivial = (text: string): string => {
    const path = join(directory, "trivial.c");
    writeFileSync(path, text);
    return path;
  };

  describe(`fuzzing ${title}`, () => {
    test("survives a fixed set of hostile inputs, with sanitizers if the compiler has them", async () => {
      const program = join(directory, "replay");
      const sanitizers = ["-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
      const available = compile("cc", [...sanitizers, trivial("int main(void) { return 0; }")], program) === undefined;
      expect(compile("cc", ["-O1", ...(available ? sanitizers : []), ...linked(), here("replay.c")], program)).toBeUndefined();
      const files = corpusFiles();
      const { status, output } = await run(program, [String(mutations), ...files], patienceSeconds);
      expect([status, output.trim()]).toEqual([0, `${files.length * (mutations + 1)} inputs`]);
    });

    test("without any one of its checks fails the fuzz target", async () => {
      const text = readFileSync(join(folder, checks.source), "utf8");
      for (const [check, instead] of Object.entries(checks.without)) {
        expect([check, text.split(check).length]).toEqual([check, 2]);
        const copy = join(directory, checks.source);
        writeFileSync(copy, text.replace(check, instead));
        const program = join(directory, "forgetful");
        // Sanitizers see a read that goes too far, which the target alone would not notice.
        const flags = ["-O1", "-Wno-error", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"];
        const built = [flags, flags.slice(0, 2)].some(
          (some) => compile("cc", [...some, ...linked(copy), here("replay.c")], program) === undefined,
        );
        expect([check, built]).toEqual([check, true]);
        const { status } = await run(program, [String(mutations), ...corpusFiles()], patienceSeconds);
        expect([check, status]).not.toEqual([check, 0]);
      }
    });

    test(`survives libFuzzer for ${seconds} s`, { timeout: (seconds + patienceSeconds + 60) * 1000 }, async (context) => {
      const program = join(directory, "fuzz");
      const flags = ["-O1", "-fsanitize=fuzzer,address,undefined", "-fno-sanitize-recover=all"];
      const declared = "int LLVMFuzzerTestOneInput(const unsigned char *data, unsigned long size)";
      const compilerError = compile(
        "clang",
        [...flags, trivial(`${declared};\n${declared} { return size > 0 && data[0] == 0 ? 0 : 0; }`)],
        program,
      );
      if (compilerError !== undefined) return context.skip(`no clang with libFuzzer here: ${compilerError.split("\n", 1)[0]}`);
      expect(compile("clang", [...flags, ...linked()], program)).toBeUndefined();
      const seed = `-seed=${testSeed(`libFuzzer on ${target}`)}`;
      // An input of microseconds that takes a minute hangs.
      const bounds = [`-max_total_time=${seconds}`, "-max_len=4096", "-timeout=60", "-rss_limit_mb=1024", "-print_final_stats=1"];
      const inputs = corpusFiles().length;
      const { status, output } = await run(
        program,
        [...bounds, seed, `-artifact_prefix=${directory}/`, corpus],
        seconds + patienceSeconds,
      );
      expect([status, output]).toEqual([0, expect.stringContaining("stat::number_of_executed_units")]);
      const executed = Number(/number_of_executed_units:\s+(\d+)/.exec(output)?.[1]);
      expect(executed).toBeGreaterThan(inputs);
      process.stderr.write(`plexus: libFuzzer ran ${executed} inputs of ${target} in ${seconds} s\n`);
    });
  });
}
