// Probes in the daemon. The part has no option: it answers once a configuration has the key `probes`.

import { resolve } from "node:path";
import { readAddress } from "../../src/net/ip.ts";
import { keptConfigurationsWith } from "../../host/node/reconcile/kept-configurations.ts";
import { ShimGone } from "../../host/protocol/shim.ts";
import type { Page } from "../../host/telemetry/page-server.ts";
import type { ResidentFeature, ResidentContext, ResidentPart } from "../resident-part.ts";

/** The path of a probe on the status socket: POST with the parameters `pod`, `network` and any number of `address`. */
export const probePath = "/probe";

/** The description. */
export const resident: ResidentFeature = {
  options: {},
  usage: "",
  read: () => ({ sockets: [], make: async (init) => probesPart(init) }),
};

const type = "text/plain; charset=utf-8";

function refused(status: number, why: string): Page {
  return {
    status: 200,
    type: "application/json",
    body: JSON.stringify({ apiVersion: "plexus/v1", kind: "NetworkProbe", status, why }),
  };
}

function probesPart({ directories, agent, clock, judge, endpoints }: ResidentContext): ResidentPart {
  const on = new Set<string>();
  let running = false;
  const probe = async (query: string): Promise<Page> => {
    const parameters = new URLSearchParams(query);
    const named = parameters.getAll("address").map((text) => readAddress(text));
    const addresses = named.flatMap((each) => each ?? []);
    if (addresses.length < named.length) return refused(400, "an address is neither IPv4 nor IPv6");
    const { probedAttachment } = await import("./node/probed-attachment.ts");
    const wanted = { pod: parameters.get("pod") ?? "", network: parameters.get("network") ?? "" };
    const attachment = await probedAttachment(directories, (configuration) => on.has(configuration), wanted);
    if (!attachment.ok) return refused(404, attachment.fault.msg);
    const connected = agent();
    if (connected === undefined) return refused(503, "no agent is connected: run plexus agent");
    const { probeNetwork } = await import("./node/probe-network.ts");
    const { furtherTargets } = await import("./node/further-targets.ts");
    const further = await furtherTargets(endpoints(), attachment.value, addresses);
    try {
      const report = await probeNetwork(connected.shim, attachment.value, further, clock.now);
      if (!report.ok) return refused(500, report.fault.msg);
      const judging = judge();
      const { judgeTargets } = await import("./node/judge-targets.ts");
      const judged = judging === undefined ? report.value : await judgeTargets(judging, attachment.value, report.value);
      return { status: 200, type: "application/json", body: JSON.stringify(judged) };
    } catch (error) {
      if (!(error instanceof ShimGone)) throw error;
      return refused(503, "the agent has gone");
    }
  };
  return {
    start: async () => {
      for (const directory of directories)
        for (const { name } of keptConfigurationsWith(directory, (each) => each.probes)) on.add(`${resolve(directory)} ${name}`);
    },
    key: "probes",
    noteCall: ({ cniDir, name, probes }) => {
      const configuration = `${resolve(cniDir)} ${name}`;
      if (probes) on.add(configuration);
      else on.delete(configuration);
    },
    pages: {
      [probePath]: async (method, query) => {
        if (method !== "POST") return { status: 405, type, body: "POST only\n" };
        // A probe sends packets: two at once have no use.
        if (running) return refused(503, "another probe is under way");
        running = true;
        try {
          return await probe(query);
        } finally {
          running = false;
        }
      },
    },
  };
}
