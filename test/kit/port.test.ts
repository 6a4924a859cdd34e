// `plexus-delegate port FILE.go`: the table of what a plugin calls.

import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, test } from "vitest";
import { allCapabilities } from "../../delegates/sdk/testing/all-capabilities.ts";
import { portCommand } from "../../delegates/sdk/program/port.ts";
import { portedCalls } from "../../delegates/sdk/program/ported-calls.ts";
import { runProgram } from "../../delegates/sdk/program/run-program.ts";
import { contractPath, releasesIn, witDirectory } from "../../wit/codegen/releases.ts";

const source = `package main

// netlink.LinkDel("in a comment")
func add(args *skel.CmdArgs) error {
	text := "exec.Command(in a string)"
	if err := netlink.RuleAdd(rule); err != nil { return err }
	link, _ := netlink.LinkByName(args.IfName)
	netlink.RouteAdd(&route)
	sysctl.Sysctl(key, "1")
	ipt, _ := iptables.New()
	out := exec.Command("ip", "link")
	result, _ := ipam.ExecAdd(conf.IPAM.Type, args.StdinData)
	netlink.RuleAdd(other)
	rules, _ := netlinksafe.RuleList(netlink.FAMILY_ALL)
	log.Printf("%v", netlink.NewRule())
	_ = ns.WithNetNSPath(args.Netns, run)
	netlink.LinkSetVfVlan(link, 1, 5)
	return types.PrintResult(result, conf.CNIVersion)
}
`;

test("each call has its place, its capability and a hint", () => {
  const calls = portedCalls(source, "main.go").map(({ call, places, capability }) => [call, places.join(" "), capability]);
  expect(calls).toEqual([
    ["netlink.RuleAdd", "main.go:6 main.go:13", "routing"],
    ["netlink.LinkByName", "main.go:7", "links"],
    ["netlink.RouteAdd", "main.go:8", "links"],
    ["sysctl.Sysctl", "main.go:9", "sysctl"],
    ["iptables.New", "main.go:10", "firewall"],
    ["exec.Command", "main.go:11", "-"],
    ["ipam.ExecAdd", "main.go:12", "delegation"],
    ["netlinksafe.RuleList", "main.go:14", "routing"],
    ["log.Printf", "main.go:15", "log"],
    ["netlink.NewRule", "main.go:15", "routing"],
    ["ns.WithNetNSPath", "main.go:16", "none"],
    ["netlink.LinkSetVfVlan", "main.go:17", "links"],
  ]);
  const known = new Set([...allCapabilities, "none", "-"]);
  expect(portedCalls(source, "main.go").filter(({ capability }) => !known.has(capability))).toEqual([]);
});

test("the operations of links that a hint names are in the contract", () => {
  const names = ["RouteAdd", "RouteList", "LinkSetVfVlan", "LinkSetNsFd", "LinkSetMaster", "LinkAdd", "LinkDel", "LinkSetUp"];
  const more = ["LinkByName", "AddrAdd", "NeighSet", "BridgeVlanAdd"];
  const calls = portedCalls([...names, ...more].map((name) => `netlink.${name}()`).join("\n"), "main.go");
  const [release] = releasesIn(witDirectory).toSorted().slice(-1);
  const contract = readFileSync(join(witDirectory, contractPath(release ?? "")), "utf8");
  const hinted = calls.flatMap(({ hint }) => hint.match(/\b[a-z]+(?:-[a-z]+)+\b/gu) ?? []);
  expect(hinted).toContain("add-vrf");
  expect(hinted.filter((name) => !new RegExp(`^ {2,4}${name}[(:]`, "mu").test(contract))).toEqual([]);
});

// A delegate always declares log, and "none" is no capability.
test("the command prints the table and the command that makes the delegate", async () => {
  const dir = mkdtempSync(join(tmpdir(), "plexus-port-"));
  try {
    const file = join(dir, "main.go");
    writeFileSync(file, source);
    const lines: string[] = [];
    const add = (line: string): void => void lines.push(line);
    const run = (...args: readonly string[]): Promise<number> =>
      runProgram({ commands: [portCommand], version: "0.1.0" }, ["port", ...args], { say: add, warn: add, colour: false });
    expect(await run(file)).toBe(0);
    expect(lines[0]).toMatch(/^your plugin calls +at +capability +in a delegate$/);
    expect(lines.at(-1)).toBe(
      "\nplexus-delegate new NAME routing links sysctl firewall delegation\nWith --language go, code without these calls can stay in Go.",
    );
    expect(await run(join(dir, "absent.go"))).toBe(2);
    expect(lines.at(-1)).toContain("absent.go");
  } finally {
    rmSync(dir, { recursive: true });
  }
});
