import { describe, expect, test } from "vitest";
import { commands } from "../../delegates/sdk/program/commands.ts";
import { runProgram } from "../../delegates/sdk/program/run-program.ts";

/** Runs a command line and answers its exit code and lines. */
async function run(...args: readonly string[]): Promise<{ code: number; out: string; err: string }> {
  const lines: { out: string[]; err: string[] } = { out: [], err: [] };
  const output = { say: (l: string) => void lines.out.push(l), warn: (l: string) => void lines.err.push(l), colour: false };
  const code = await runProgram({ commands, version: "1.2.3" }, args, output);
  return { code, out: lines.out.join("\n"), err: lines.err.join("\n") };
}

test("--help lists each command, and the help of each command has its usage and options", async () => {
  const { code, out } = await run("--help");
  expect(code).toBe(0);
  for (const { name, summary, usage, options } of commands) {
    expect(out).toContain(`  ${name}`);
    expect(out).toContain(summary);
    const help = await run(name, "--help");
    expect(help).toMatchObject({ code: 0, err: "" });
    expect(help.out).toContain(`plexus-delegate ${name} ${usage}`);
    for (const option of options) expect(help.out).toContain(`--${option.name}`);
  }
});

test("--version is the kit's version", async () => {
  expect(await run("--version")).toEqual({ code: 0, out: "1.2.3", err: "" });
});

describe("a mistake in the command line ends with 2 and names the remedy", () => {
  test.each([
    [[], "a command is missing (plexus-delegate --help lists them)"],
    [["biuld"], "unknown command biuld; did you mean build? (plexus-delegate --help)"],
    [["biuld", "--help"], "unknown command biuld; did you mean build? (plexus-delegate --help)"],
    [["build", "--qiuck"], "build: unknown option --qiuck; did you mean --quick? (plexus-delegate build --help)"],
    [["build", "a", "b"], "build: unexpected argument b (plexus-delegate build --help)"],
    [["build", "--out"], "build: --out needs a value: --out=FILE (plexus-delegate build --help)"],
    [["build", "--quick=1"], "build: --quick takes no value (plexus-delegate build --help)"],
    [["new"], "new: an argument is missing: NAME [CAPABILITY ...] (plexus-delegate new --help)"],
  ])("%j", async (args, message) => {
    expect(await run(...args)).toEqual({ code: 2, out: "", err: `plexus-delegate: ${message}` });
  });
});
