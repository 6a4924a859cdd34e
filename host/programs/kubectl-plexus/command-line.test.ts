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
  [
    ["probe", "shop/web", "storage", "10.0.0.9", "-o", "json"],
    {
      kubectl: [],
      pod: { name: "web", namespace: "shop" },
      control: ["probe", "storage", "10.0.0.9", "-o", "json"],
      asksPod: true,
    },
  ],
  [
    ["--context", "prod", "probe", "-n", "shop", "pod/web", "infra/storage"],
    {
      kubectl: ["--context", "prod"],
      pod: { name: "web", namespace: "shop" },
      control: ["probe", "infra/storage"],
      asksPod: true,
    },
  ],
  [
    ["probe", "web", "net1", "-n", "shop", "-o", "wide", "--plexus-release", "px"],
    {
      kubectl: [],
      pod: { name: "web", namespace: "shop" },
      control: ["probe", "net1", "-o", "wide", "--plexus-release", "px"],
      asksPod: true,
    },
  ],
  [
    ["probe", "web", "net1"],
    { kubectl: [], pod: { name: "web", namespace: undefined }, control: ["probe", "net1"], asksPod: true },
  ],
  [["pod/probe", "status"], { kubectl: [], pod: { name: "probe", namespace: undefined }, control: ["status"] }],
  [["probe", "--help"], "probe-help"],
  [["probe", "web", "net1", "-h"], "probe-help"],
  [["probe", "status"], { wrong: "probe: give POD and NETWORK after it; a pod that is named probe is pod/probe" }],
  [["probe", "-o", "json"], { wrong: "-o: unknown before NETWORK; options of plexusctl stand after NETWORK" }],
  [["probe", "shop/web", "net1", "-n", "infra"], { wrong: "shop/web is not in the namespace infra of -n" }],
  [["probe", "web", "net1", "-n"], { wrong: "-n: its value is missing" }],
])("%j", (args, expected) => {
  expect(readCommandLine(args)).toEqual(expected);
});
