import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { annotateCommand } from "./annotate.ts";
import { benchCommand } from "./bench.ts";
import { type CommandLine, CommandError, exitCode } from "./command.ts";
import { inspectCommand } from "./inspect.ts";
import { newCommand } from "./new.ts";
import { portCommand } from "./port.ts";

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), "plexus-read-failure-"));
});
afterEach(() => rmSync(directory, { recursive: true }));

const output = { say: () => undefined, warn: () => undefined, colour: false };

/** The message of a command that refuses its command line. */
async function refusal(
  command: typeof inspectCommand,
  positionals: readonly string[],
  values: Readonly<Record<string, string>> = {},
): Promise<string> {
  const line: CommandLine = { positionals, flags: new Set(), values: new Map(Object.entries(values)) };
  const error: unknown = await Promise.resolve()
    .then(() => command.run(line, output))
    .catch((reason: unknown) => reason);
  if (!(error instanceof CommandError)) throw new Error(`no refusal: ${String(error)}`);
  expect(error.code).toBe(exitCode.usage);
  return error.message;
}

test.each([
  ["inspect", inspectCommand],
  ["annotate", annotateCommand],
  ["bench", benchCommand],
])("%s: a directory in place of a component is named, with the file to name", async (_, command) => {
  const message = await refusal(command, [directory]);
  expect(message).toBe(
    `${directory} is a directory: name a file in it: the component is build/NAME.wasm, which plexus-delegate build makes`,
  );
});

test("a component that does not exist is named, with the command that makes it", async () => {
  const file = join(directory, "a.wasm");
  expect(await refusal(inspectCommand, [file])).toBe(`there is no file ${file}: plexus-delegate build makes a component`);
});

test("port: a directory and a missing file are named", async () => {
  expect(await refusal(portCommand, [directory])).toBe(`port: ${directory} is a directory: name a file in it`);
  expect(await refusal(portCommand, [join(directory, "a.go")])).toBe(`port: there is no file ${join(directory, "a.go")}`);
});

test("new: --language tinygo is refused with the languages, and with the one for Go", async () => {
  const message = await refusal(newCommand, ["mine"], { language: "tinygo", dir: join(directory, "mine") });
  expect(message).toMatch(/^new: unknown language tinygo; valid: as, js, ts, rust, go, python\. .*--language go$/);
});

test.each([
  ["file:", /^new: --sdk=file: names no archive/],
  ["file:/nowhere/kit.tgz", /^new: --sdk=file:\/nowhere\/kit\.tgz: there is no \/nowhere\/kit\.tgz.*npm run release/],
  ["file:kit.tgz", /^new: --sdk=file:kit\.tgz: there is no .*\/mine\/kit\.tgz.*relative path.*new directory/],
])("new: --sdk=%s names an archive that does not exist, and nothing is written", async (sdk, why) => {
  const dir = join(directory, "mine");
  expect(await refusal(newCommand, ["mine"], { sdk, dir })).toMatch(why);
});
