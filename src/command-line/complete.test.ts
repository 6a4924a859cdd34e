import { expect, test } from "vitest";
import type { CommandSpec } from "./command-spec.ts";
import { offerFor, offerText } from "./complete.ts";

const list: CommandSpec = {
  name: "list",
  summary: "lists",
  completes: ["one", "two"],
  options: [
    { name: "config", value: "FILE", about: "a file", completes: "file" },
    { name: "to", value: "DIR", about: "a directory", completes: "directory" },
  ],
  forms: ["table", "json"],
  attention: "failed",
};
const push: CommandSpec = { name: "part push", summary: "pushes", options: [], attention: "failed", completes: "file" };
const pull: CommandSpec = { name: "part pull", summary: "pulls", options: [], attention: "failed" };

test.each([
  [[""], "words", ["list", "part", "help"]],
  [["p"], "words", ["part"]],
  [["help", ""], "words", ["list", "part"]],
  [["part", "pu"], "words", ["push", "pull"]],
  [["part", "push", ""], "files", []],
  [["part", "pull", ""], "words", []],
  [["list", "t"], "words", ["two"]],
  [["list", "--c"], "words", ["--config"]],
  [["list", "--config", ""], "files", []],
  [["list", "--config="], "files", []],
  [["list", "--to", "x"], "directories", []],
  [["list", "-o", ""], "words", ["table", "json"]],
  [["list", "--output=j"], "words", ["--output=json"]],
  [["-o", "json", "li"], "words", ["list"]],
  [["list", "--", "--c"], "words", []],
  [[], "words", ["list", "part", "help"]],
])("%j", (words, kind, expected) => {
  const offer = offerFor([list, push, pull], words);
  expect([offer.kind, offer.words.map(({ word }) => word)]).toEqual([kind, expected]);
});

test("an offer's text has its kind first", () => {
  expect(offerText(offerFor([list, push, pull], ["p"]))).toBe("words\npart\tcommands: push, pull\n");
});
