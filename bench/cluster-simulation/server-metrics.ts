// Reads the API server's own metrics: watches, events and bytes that it has sent.

import { request } from "node:https";
import { KubeConfig } from "@kubernetes/client-node";

/** Sums over all labels. */
export interface ServerMetrics {
  readonly watches: number;
  readonly definitionEvents: number;
  readonly definitionEventBytes: number;
  /** Bytes of the answers to lists. */
  readonly listBytes: number;
  readonly lists: number;
  /** Lists of blocks of pools, their bytes, and all other requests for blocks. */
  readonly blockLists: number;
  readonly blockListBytes: number;
  readonly blockRequests: number;
  /** Requests that flow control has refused. */
  readonly refused: number;
  readonly cpuSeconds: number;
  readonly rssMiB: number;
}

/** The sum of the samples of `name` whose line has all `parts`. */
function sumOf(lines: readonly string[], name: string, ...parts: readonly string[]): number {
  return lines
    .filter((line) => (line.startsWith(`${name}{`) || line.startsWith(`${name} `)) && parts.every((part) => line.includes(part)))
    .reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(" ") + 1)), 0);
}

/** The numbers now. */
export async function serverMetrics(kubeconfig: string): Promise<ServerMetrics> {
  const config = new KubeConfig();
  config.loadFromFile(kubeconfig);
  const options = { method: "GET" };
  await config.applyToHTTPSOptions(options);
  const text = await new Promise<string>((resolve, reject) => {
    const sent = request(`${config.getCurrentCluster()?.server}/metrics`, options, (answer) => {
      const chunks: Buffer[] = [];
      answer.on("data", (chunk: Buffer) => chunks.push(chunk));
      answer.on("end", () => resolve(Buffer.concat(chunks).toString()));
    });
    sent.on("error", reject);
    sent.end();
  });
  const lines = text.split("\n");
  const definitions = 'resource="network-attachment-definitions"';
  const blocks = 'resource="addressblocks"';
  const blockLists = sumOf(lines, "apiserver_request_total", 'verb="LIST"', blocks);
  return {
    watches:
      sumOf(lines, "apiserver_longrunning_requests", 'verb="WATCH"', 'resource="pods"') +
      sumOf(lines, "apiserver_longrunning_requests", 'verb="WATCH"', definitions),
    definitionEvents:
      sumOf(lines, "apiserver_watch_events_total", definitions) +
      sumOf(lines, "apiserver_watch_events_total", 'kind="NetworkAttachmentDefinition"'),
    definitionEventBytes:
      sumOf(lines, "apiserver_watch_events_sizes_sum", definitions) +
      sumOf(lines, "apiserver_watch_events_sizes_sum", 'kind="NetworkAttachmentDefinition"'),
    listBytes:
      sumOf(lines, "apiserver_response_sizes_sum", 'verb="LIST"', 'resource="pods"') +
      sumOf(lines, "apiserver_response_sizes_sum", 'verb="LIST"', definitions),
    lists:
      sumOf(lines, "apiserver_request_total", 'verb="LIST"', 'resource="pods"') +
      sumOf(lines, "apiserver_request_total", 'verb="LIST"', definitions),
    blockLists,
    blockListBytes: sumOf(lines, "apiserver_response_sizes_sum", 'verb="LIST"', blocks),
    blockRequests: sumOf(lines, "apiserver_request_total", blocks) - blockLists,
    refused: sumOf(lines, "apiserver_request_total", 'code="429"'),
    cpuSeconds: sumOf(lines, "process_cpu_seconds_total"),
    rssMiB: sumOf(lines, "process_resident_memory_bytes") / 2 ** 20,
  };
}
