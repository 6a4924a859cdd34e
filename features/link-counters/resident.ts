// Traffic in the daemon. The part has no option: it works once a configuration has the key `linkCounters`.

import { trafficPath } from "../../src/net/link-traffic.ts";
import type { ResidentFeature, ResidentContext, ResidentPart } from "../resident-part.ts";

/** The description. */
export const resident: ResidentFeature = {
  options: {},
  usage: "",
  read: () => ({ sockets: [], make: countersPart }),
};

async function countersPart(context: ResidentContext): Promise<ResidentPart> {
  const { LinkCounters } = await import("./node/link-counters.ts");
  const counters = new LinkCounters(context);
  context.metrics.onScrape(() => counters.ask());
  return {
    start: () => counters.start(),
    stop: () => counters.stop(),
    key: "linkCounters",
    noteCall: (configuration) => counters.noteConfiguration(configuration),
    pages: {
      [trafficPath]: (method) => {
        if (method !== "GET") return { status: 405, type: "text/plain; charset=utf-8", body: "GET only\n" };
        counters.ask();
        return { status: 200, type: "application/json", body: JSON.stringify(counters.document()) };
      },
    },
  };
}
