// Renewals in the daemon. The part has no option: it works once an attachment has a lease.

import type { ResidentFeature, ResidentContext, ResidentPart } from "../resident-part.ts";
import { dhcpMetrics } from "./metrics.ts";

/** The description. */
export const resident: ResidentFeature = {
  options: {},
  usage: "",
  read: () => ({ sockets: [], make: renewalsPart }),
};

async function renewalsPart({ metrics: ofDaemon, directories, agent, clock, log }: ResidentContext): Promise<ResidentPart> {
  const { Renewals } = await import("./renewals.ts");
  const metrics = ofDaemon.with(dhcpMetrics);
  const renewals = new Renewals(
    directories,
    () => agent()?.shim,
    clock,
    log,
    (outcome) => metrics.add("plexus_dhcp_renewals_total", { outcome }),
  );
  return {
    start: async () => renewals.start(),
    stop: () => renewals.stop(),
  };
}
