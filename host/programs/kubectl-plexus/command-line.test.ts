import { expect, test } from "vitest";
import { readCommandLine } from "./command-line.ts";

test.each([
  [["web", "status"], { kubectl: [], pod: { name: "web", namespace: undefined }, control: ["status"] }],
  [
    ["-n", "shop", "pod/web", "status", "-o", "json"],
    { kubectl: [], pod: { name: "web", namespace: "shop" }, control: ["status", "-o", "json"] },
  ],
  [["web", "--namespace=shop", "status"], { kubectl: [], pod: { name: "web", namespace: "shop" }, control: ["status"] }],
  [
    ["--context", "prod", "node/worker-1", "explain", "shop/storage"],
    { kubectl: ["--context", "prod"], node: "worker-1", control: ["explain", "shop/storage"] },
  ],
  [["node/a", "status", "--help"], { kubectl: [], node: "a", control: ["status", "--help"] }],
  [
    ["--plexus-namespace", "network", "--plexus-release=px", "node/a", "status"],
    { kubectl: [], node: "a", release: { namespace: "network", name: "px" }, control: ["status"] },
  ],
  [["--plexus-release"], { wrong: "--plexus-release: its value is missing" }],
  [[], "help"],
  [["--help"], "help"],
  [["web"], { wrong: "web: give a command of plexusctl after it, such as status" }],
  [["-n"], { wrong: "-n: its value is missing" }],
  [["-n", "shop"], { wrong: "give a pod or node/NODE, and a command" }],
  [["--wide", "web", "status"], { wrong: "--wide: unknown before the command; options of plexusctl stand after the command" }],
])("%j", (args, expected) => {
  expect(readCommandLine(args)).toEqual(expected);
});
