// plexusctl services explain: why a Service on a further network has its endpoints, or has none.

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok } from "../../../src/fault/result.ts";
import type { CommandLineMistake } from "../../../src/command-line/read-command-line.ts";
import { withCredentials } from "../../../host/cluster/kube/with-credentials.ts";
import { type CommandResult, failure, type Invocation } from "../../../host/node/command-line/command.ts";
import { printed } from "../../../host/node/command-line/printed.ts";
import { table, wrap } from "../../../host/node/command-line/table.ts";
import { inertLine } from "../../../src/text/inert-text.ts";
import { readObjectMeta } from "../../../src/npwg/object-meta.ts";
import { explainService } from "../rules/explain-service.ts";
import { endpointSlicesPath, serviceNameLabel } from "../rules/service-slice.ts";
import { listOf } from "./service-lists.ts";

function nameOf(object: unknown): readonly string[] {
  const meta = readObjectMeta(object);
  return meta.ok ? [meta.value.name] : [];
}

/** Maximum length of a line, in UTF-16 units. */
const maxLine = 1024;
const columns = ["POD", "ENDPOINT", "WHY"].map((title) => ({ title }));

/** Runs `plexusctl services explain`. */
export async function explainServiceCommand(line: Invocation): Promise<CommandResult | CommandLineMistake> {
  const credentials = await line.credentials();
  if ("wrong" in credentials) return credentials;
  const [named = ""] = line.args;
  const slash = named.indexOf("/");
  const [namespace, name] = slash === -1 ? ["default", named] : [named.slice(0, slash), named.slice(slash + 1)];
  const read = await withCredentials(credentials, async (objects) => {
    const path = `/api/v1/namespaces/${encodeURIComponent(namespace)}`;
    const service = await objects.get(`${path}/services/${encodeURIComponent(name)}`);
    if (service.kind !== "object") return failed(fault("API_REFUSED", `Service ${namespace}/${name}: ${service.why}`));
    const pods = await listOf(objects, `${path}/pods`, `pods of namespace ${namespace}`);
    if (!pods.ok) return pods;
    const own = { labelSelector: `${serviceNameLabel}=${name}` };
    const slices = await listOf(objects, endpointSlicesPath(namespace), "EndpointSlices", own);
    if (!slices.ok) return slices;
    // A user may have no right to list nodes: each node then counts as one of the cluster.
    const nodes = await objects.list("/api/v1/nodes", {}, { metadataOnly: true, cached: true });
    const names = new Set(nodes.kind === "list" ? nodes.items.flatMap((node) => nameOf(node)) : []);
    return ok(explainService(service.object, pods.value, slices.value, (node) => nodes.kind !== "list" || names.has(node)));
  });
  if (!read.ok) return failure(read.fault.msg);
  const { service, network, clusterIps, pods, written, problems } = read.value;
  const text = (width: number): string => {
    const on = network === undefined ? service : `${service} on ${network}, ${clusterIps.join(", ") || "headless"}`;
    const rows = pods.map(({ pod, isEndpoint, isReady, why }) => [
      pod,
      isReady ? "ready" : isEndpoint ? "not ready" : "none",
      why,
    ]);
    const list = rows.length === 0 ? [] : ["", ...table(columns, rows, width)];
    const wrong = problems.flatMap((each) => wrap(`- ${each}`, width));
    const head = inertLine(`${on}; addresses in its slices: ${written}`, maxLine);
    return `${[head, ...list, ...(wrong.length === 0 ? [] : ["", ...wrong])].join("\n")}\n`;
  };
  const names = (): readonly string[] => pods.flatMap(({ pod, isReady }) => (isReady ? [`${namespace}/${pod}`] : []));
  return { stdout: await printed({ value: read.value, text, names }, line), status: problems.length > 0 ? 1 : 0 };
}
