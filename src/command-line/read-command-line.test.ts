import { expect, test } from "vitest";
import type { CommandSpec } from "./command-spec.ts";
import { findCommand, readCommandLine, valueOf } from "./read-command-line.ts";

const list: CommandSpec = {
  name: "list",
  summary: "lists",
  synopsis: "[FILE]",
  count: [0, 1],
  options: [
    { name: "socket", value: "PATH", about: "a socket" },
    { name: "key", short: "k", value: "FILE", about: "a key", repeats: true },
    { name: "dry-run", about: "reports" },
  ],
  forms: ["table", "json"],
  attention: "failed",
};
const push: CommandSpec = { name: "part push", summary: "pushes", options: [], attention: "failed" };
const pull: CommandSpec = { name: "part pull", summary: "pulls", options: [], attention: "failed" };
const commands = [list, push, pull];

test("options may stand before and after the command's name, with = or a blank", () => {
  const found = findCommand(commands, ["-o", "json", "--socket=/a", "list", "x", "-ka", "--key", "b", "--dry-run"]);
  expect(found).toMatchObject({ command: list });
  const line = readCommandLine(list, "rest" in found ? found.rest : []);
  expect(line).toMatchObject({ args: ["x"], output: "json" });
  if ("wrong" in line) throw new Error(line.wrong);
  expect(valueOf(line, "socket")).toBe("/a");
  expect(line.values.get("key")).toEqual(["a", "b"]);
  expect([...line.flags]).toEqual(["dry-run"]);
});

test("the arguments after -- are positional", () => {
  expect(readCommandLine(list, ["--", "--dry-run"])).toMatchObject({ args: ["--dry-run"], flags: new Set() });
});

test.each([
  [[], "no command was given"],
  [["lsit"], "unknown command lsit; did you mean list?"],
  [["lsit", "--help"], "unknown command lsit; did you mean list?"],
  [["--help", "lsit"], "unknown command lsit; did you mean list?"],
  [["help", "lsit"], "unknown command lsit; did you mean list?"],
  [["xyzzy"], "unknown command xyzzy; valid: list, part"],
  [["part"], "part: no command was given; push, pull are valid"],
  [["part", "pusch"], "part pusch: no such command; did you mean push?"],
  [["part", "pul"], "part pul: no such command; did you mean pull or push?"],
])("%j is a mistake", (args, wrong) => {
  expect(findCommand(commands, args)).toEqual({ wrong });
});

test.each([
  [["--help"], undefined],
  [["help"], undefined],
  [["-h"], undefined],
  [["list", "--help"], list],
  [["--help", "list"], list],
  [["help", "list"], list],
  [["part", "--help"], "part"],
  [["part", "help", "push"], push],
  [["help", "part"], "part"],
  [["part", "push", "x", "-h"], push],
])("%j asks for help", (args, help) => {
  expect(findCommand(commands, args)).toEqual({ help });
});

test.each([
  [["--soket", "/a"], "unknown option --soket; did you mean --socket?"],
  [["--dry"], "unknown option --dry; did you mean --key or --dry-run?"],
  [["--dry-run=yes"], "--dry-run takes no value; yes is one"],
  [["--socket"], "--socket: its value PATH is missing"],
  [["-o", "xml"], "-o xml: must be one of table, json"],
  [["a", "b"], "list takes one argument, [FILE]; b is one too many"],
])("%j is refused", (args, wrong) => {
  expect(readCommandLine(list, args)).toEqual({ wrong });
});
