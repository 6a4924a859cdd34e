// The checks of ADD and of its result.

import { readResult } from "../../../../src/cni/read-result.ts";
import { versionGroup, type CniVersion } from "../../../../src/cni/versions.ts";
import { type Check, demand, Skip } from "../check.ts";
import type { Lab } from "../lab.ts";
import { jsonIn, wordsOf, type JsonObject } from "../reply.ts";

/** The checks, in the order of the catalogue. */
export const addChecks: readonly Check[] = [
  {
    id: "ADD-1",
    title: "ADD with a valid configuration succeeds and prints a result, in every supported version.",
    section: "add",
    async run(lab) {
      for (const [version, reply] of await lab.addedInEachVersion()) {
        demand(reply.status === 0, `${version}: ${wordsOf(reply)}`);
        demand(reply.stdout.trim() !== "", `${version}: ADD prints nothing`);
      }
    },
  },
  {
    id: "ADD-2",
    title: "The result's cniVersion is that of the configuration, in every supported version.",
    section: "success",
    async run(lab) {
      await forEachResult(lab, (version, result) => {
        demand(result["cniVersion"] === version, `${version}: the result has ${String(result["cniVersion"])}`);
      });
    },
  },
  {
    id: "ADD-3",
    title: "The result has the form of its version, in every supported version.",
    section: "success",
    async run(lab) {
      await forEachResult(lab, (version, result) => {
        // ADD-2 has the version itself.
        const read = readResult(JSON.stringify({ ...result, cniVersion: version }), version);
        demand(read.ok, `${version}: ${read.ok ? "" : read.fault.msg}`);
        const wrong = wrongForm(version, result);
        demand(wrong === undefined, `${version}: ${wrong ?? ""}`);
      });
    },
  },
  {
    id: "ADD-4",
    title: "The result has the interface CNI_IFNAME with CNI_NETNS as its sandbox.",
    section: "success",
    roles: ["interface"],
    since: "0.3.0",
    async run(lab) {
      const { result, attachment } = await lab.added();
      const names = result.interfaces.map(({ name, sandbox }) => `${name} in ${sandbox ?? "the node"}`);
      const found = result.interfaces.some(({ name, sandbox }) => name === lab.setup.ifname && sandbox === attachment.netns);
      demand(found, `interfaces: ${names.join(", ") || "none"}`);
    },
  },
  {
    id: "ADD-5",
    title: "Each address of the result names an interface of the pod.",
    section: "success",
    roles: ["interface"],
    since: "0.3.0",
    async run(lab) {
      const { result } = await lab.added();
      if (!result.interfaces.some(({ sandbox }) => sandbox !== undefined))
        throw new Skip("the result has no interface of the pod, see ADD-4");
      if (result.ips.length === 0) throw new Skip("the result has no addresses");
      for (const { address, interface: index } of result.ips) {
        const named = index === undefined ? undefined : result.interfaces[index];
        demand(
          named?.sandbox !== undefined,
          `${address} has the index ${String(index)} of ${result.interfaces.length} interfaces`,
        );
      }
    },
  },
  {
    id: "ADD-6",
    title: "An IPAM plugin's result has no interfaces.",
    section: "ipam",
    roles: ["ipam"],
    since: "0.3.0",
    async run(lab) {
      const { result } = await lab.added();
      demand(result.interfaces.length === 0, "the result has interfaces");
      demand(
        result.ips.every((ip) => ip.interface === undefined),
        "an address names an interface",
      );
    },
  },
  {
    id: "ADD-7",
    title: "The interface CNI_IFNAME is in the pod after ADD.",
    section: "add",
    roles: ["interface"],
    async run(lab) {
      const { attachment } = await lab.added();
      demand((await lab.state(attachment)).has(`link pod ${lab.setup.ifname}`), `the pod has no link ${lab.setup.ifname}`);
    },
  },
  {
    id: "ADD-8",
    title: "ADD fails if the pod has an interface of the name CNI_IFNAME.",
    section: "add",
    roles: ["interface"],
    async run(lab) {
      const { attachment } = await lab.added();
      if (!(await lab.state(attachment)).has(`link pod ${lab.setup.ifname}`)) throw new Skip("ADD makes no interface, see ADD-7");
      const again = await lab.run("ADD", attachment);
      demand(again.status !== 0, "the second ADD succeeds");
    },
  },
  {
    id: "ADD-9",
    title: "The pod has the addresses of the result.",
    section: "add",
    roles: ["interface"],
    async run(lab) {
      const { result, attachment } = await lab.added();
      const state = await lab.state(attachment);
      if (!state.has(`link pod ${lab.setup.ifname}`)) throw new Skip("ADD makes no interface, see ADD-7");
      if (result.ips.length === 0) throw new Skip("the result has no addresses");
      for (const { address } of result.ips) {
        const found = state.has(`address pod ${lab.setup.ifname} ${address}`);
        demand(found, `${lab.setup.ifname} lacks ${address}`);
      }
    },
  },
];

async function forEachResult(lab: Lab, judge: (version: CniVersion, result: JsonObject) => void): Promise<void> {
  for (const [version, reply] of await lab.addedInEachVersion()) {
    const result = reply.status === 0 ? jsonIn(reply.stdout) : undefined;
    if (result === undefined) throw new Skip(`ADD fails or prints no JSON object in ${version}, see ADD-1 and OUT-1`);
    judge(version, result);
  }
}

/** The difference between a result and the form of its version. */
function wrongForm(version: CniVersion, result: JsonObject): string | undefined {
  const group = versionGroup(version);
  const ips = result["ips"];
  if (group === "020") {
    const later = ["interfaces", "ips", "routes"].find((key) => key in result);
    return later === undefined ? undefined : `the result has ${later}, which came with 0.3.0`;
  }
  const earlier = ["ip4", "ip6"].find((key) => key in result);
  if (earlier !== undefined) return `the result has ${earlier}, which 0.3.0 removed`;
  if (!Array.isArray(ips)) return undefined;
  const withVersion = ips.filter((ip: unknown) => typeof ip === "object" && ip !== null && "version" in ip).length;
  if (group === "040" && withVersion < ips.length) return "an address lacks its version";
  if (group === "100" && withVersion > 0) return "an address has the member version, which 1.0.0 removed";
  return undefined;
}
