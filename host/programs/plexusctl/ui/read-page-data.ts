// Reads what the page shows: the daemon's status and calls, and the explanation of the node's networks.

import { hostname } from "node:os";
import type { Explanation } from "../../../node/explain/explanation.ts";
import { explain } from "../../../node/explain/explain-networks.ts";
import { readHostSettings } from "../../../node/explain/host-settings.ts";
import { hostNetworks, type NamedList } from "../../../node/explain/networks.ts";
import { networksInUse } from "../../../node/explain/networks-in-use.ts";
import type { NodePlaces } from "../../../node/command-line/common-options.ts";
import { systemClock } from "../../../system/clock.ts";
import { readCalls } from "../read-calls.ts";
import { readStatus } from "../read-status.ts";
import { readLinkTraffic } from "../read-traffic.ts";
import { traceDirectories } from "../trace-directories.ts";
import { type Known, pageDataOf } from "./make-page-data.ts";
import type { PageData } from "./page-data.ts";
import { recordingReader } from "./read-recordings.ts";

/** Age at which the networks are explained again, in ms: reading and admitting components takes tens of milliseconds. */
const maxAgeMs = 30_000;

/** Makes the reader of the page's data, which never rejects. */
export function pageReader(places: NodePlaces): () => Promise<PageData> {
  const readRecordings = recordingReader();
  let explained: { readonly at: number; readonly explanation: Promise<Known<Explanation>> } | undefined;
  return async () => {
    const [{ document, silent }, calls, traffic] = await Promise.all([
      readStatus(places.statusSocket, places.stateDir),
      readCalls(places.statusSocket),
      readLinkTraffic(places.statusSocket),
    ]);
    const directories = document.nodes.map((node) => node.stateDirectory);
    const recordings = readRecordings(traceDirectories(places, directories));
    if (explained === undefined || systemClock.now() - explained.at > maxAgeMs) {
      explained = { at: systemClock.now(), explanation: explainNode(places, directories) };
    }
    const version = document.daemon?.version;
    const known = "why" in calls && version !== undefined ? { why: `${calls.why} (its version is ${version})` } : calls;
    return pageDataOf({
      node: hostname(),
      status: document,
      silent,
      calls: known,
      recordings,
      explanation: await explained.explanation,
      traffic,
    });
  };
}

/** Explains the networks of the host configuration, and those of the attachments. */
async function explainNode({ config, cniPath }: NodePlaces, stateDirectories: readonly string[]): Promise<Known<Explanation>> {
  try {
    const settings = readHostSettings(config, cniPath);
    if (!settings.ok) return { why: settings.fault.msg };
    const warnings: string[] = [];
    const host = settings.value === undefined ? undefined : hostNetworks(settings.value, (text) => void warnings.push(text));
    const own: readonly NamedList[] = host?.ok === true ? host.value : [];
    const networks = [...own, ...networksInUse(stateDirectories, new Set(own.map(({ list }) => list.name)))];
    return { value: await explain(networks, { settings: settings.value, cniPath, warnings }) };
  } catch (error) {
    return { why: error instanceof Error ? error.message : String(error) };
  }
}
