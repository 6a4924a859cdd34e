// The page of Kubernetes Events has each reason that the code gives to an Event, and no other. Conditions that become Events by their own reason have a row
// of their own.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { root } from "../lab/compiled.ts";
import { textFiles } from "./text-files.ts";

/** Reasons of a condition that `features/external-ports` sends as Events. */
const ofConditions = ["ProviderUnavailable", "QuotaExceeded", "Invalid", "Refused"];

/** An object literal of an Event has its type beside its reason. */
const literal = /reason:\s*(?:[\w.=! "]+\?\s*)?"([A-Z]\w+)"(?:\s*:\s*"([A-Z]\w+)")?[^{}]*?type:\s*"(?:Normal|Warning)"/g;
const literalAfter = /type:\s*"(?:Normal|Warning)",\s*reason:\s*(?:[^,"]+\?\s*)?"([A-Z]\w+)"(?:\s*:\s*"([A-Z]\w+)")?/g;
const others = [
  /\btell\(\s*(?:context, object, \{\s*reason:\s*)?"([A-Z]\w+)"/g,
  /failureReason:\s*"([A-Z]\w+)"/g,
  /^ {4}\| "([A-Z]\w+)"/gm,
];
const definitions = /reason: type === "Valid" \? "(\w+)" : "(\w+)"/g;

function reasonsIn(source: string, file: string): readonly string[] {
  // Comments and messages may contain braces and commas.
  const text = source.replace(/`(?:[^`\\]|\\.)*`/g, "``");
  const patterns = [literal, literalAfter, definitions, ...others.slice(0, file === "src/kube/pod-event.ts" ? 3 : 2)];
  const port = file.endsWith("port-work.ts") ? [...text.matchAll(/tell\([\w., ]+\{\s*reason: "(\w+)"/g)] : [];
  return [...patterns.flatMap((pattern) => [...text.matchAll(pattern)]), ...port].flatMap(([, ...found]) =>
    found.filter(Boolean),
  );
}

test("each reason of an Event has a row of docs/reference/events.md, and each row's reason is in the code", () => {
  const sources = textFiles(["src", "host", "features"]).filter((file) => file.endsWith(".ts") && !file.includes("test"));
  const inCode = new Set([
    ...ofConditions,
    ...sources.flatMap((file) => reasonsIn(readFileSync(join(root, file), "utf8"), file)),
  ]);
  const page = readFileSync(join(root, "docs", "reference", "events.md"), "utf8");
  const rows = page.split("\n").flatMap((line) => line.match(/^\|[^|]*\|([^|]*)\|/)?.[1]?.match(/[A-Z]\w+/g) ?? []);
  expect([...inCode].toSorted()).toEqual([...new Set(rows)].toSorted());
});
