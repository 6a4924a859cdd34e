// The traffic of pods' further links, if the daemon counts it.

import { type LinkTraffic, readTraffic, trafficPath } from "../../../src/net/link-traffic.ts";
import { askDaemon } from "../../node/command-line/ask-daemon.ts";

const timeoutMs = 5000;

/** The links; none without a daemon that counts. Never rejects. */
export async function readLinkTraffic(socketPath: string): Promise<readonly LinkTraffic[]> {
  const answer = await askDaemon({ socketPath, method: "GET", path: trafficPath, timeoutMs });
  return "why" in answer ? [] : (readTraffic(answer.body)?.links ?? []);
}
