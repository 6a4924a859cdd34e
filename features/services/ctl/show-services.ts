// plexusctl services show: the Services on further networks, their endpoints, and what is wrong with them.

import { ok } from "../../../src/fault/result.ts";
import type { CommandLineMistake } from "../../../src/command-line/read-command-line.ts";
import { withCredentials } from "../../../host/cluster/kube/with-credentials.ts";
import { type CommandResult, failure, type Invocation } from "../../../host/node/command-line/command.ts";
import { printed } from "../../../host/node/command-line/printed.ts";
import { table, wrap } from "../../../host/node/command-line/table.ts";
import { backendAddress } from "../rules/balance.ts";
import { readService } from "../rules/service.ts";
import { endpointSlicesPath, managedByLabel, manager, readSlice } from "../rules/service-slice.ts";
import { listOf } from "./service-lists.ts";

const columns = ["NAMESPACE", "NAME", "NETWORK", "ADDRESS", "ENDPOINTS"].map((title) => ({ title }));

/** Runs `plexusctl services show`. */
export async function showServicesCommand(line: Invocation): Promise<CommandResult | CommandLineMistake> {
  const credentials = await line.credentials();
  if ("wrong" in credentials) return credentials;
  const read = await withCredentials(credentials, async (objects) => {
    const services = await listOf(objects, "/api/v1/services", "Services");
    if (!services.ok) return services;
    const own = { labelSelector: `${managedByLabel}=${manager}` };
    const slices = await listOf(objects, endpointSlicesPath(""), "EndpointSlices", own);
    return slices.ok ? ok(shown(services.value, slices.value, line.args)) : slices;
  });
  if (!read.ok) return failure(read.fault.msg);
  const services = read.value;
  const problems = services.flatMap(({ namespace, name, problem }) =>
    problem === undefined ? [] : [`${namespace}/${name}: ${problem}`],
  );
  const text = (width: number): string => {
    const rows = services.map(({ namespace, name, network, clusterIps, ready, endpoints }) => {
      return [namespace, name, network, clusterIps.join(", ") || "headless", `${ready}/${endpoints}`];
    });
    const list = rows.length === 0 ? ["no Service on a further network"] : table(columns, rows, width);
    const wrong = problems.flatMap((each) => wrap(`- ${each}`, width));
    return `${[...list, ...(wrong.length === 0 ? [] : ["", ...wrong])].join("\n")}\n`;
  };
  const names = (): readonly string[] => services.map(({ namespace, name }) => `${namespace}/${name}`);
  return { stdout: await printed({ value: { services }, text, names }, line), status: problems.length > 0 ? 1 : 0 };
}

interface ShownService {
  readonly namespace: string;
  readonly name: string;
  readonly network: string;
  readonly clusterIps: readonly string[];
  /** Ready addresses, and all addresses. */
  readonly ready: number;
  readonly endpoints: number;
  readonly problem?: string;
}

function shown(services: readonly unknown[], slices: readonly unknown[], namespaces: readonly string[]): readonly ShownService[] {
  const byService = Map.groupBy(
    slices.flatMap((each) => readSlice(each) ?? []),
    ({ namespace, service }) => `${namespace}/${service}`,
  );
  return services.flatMap((object): ShownService[] => {
    const service = readService(object);
    if (service === undefined || (namespaces.length > 0 && !namespaces.includes(service.namespace))) return [];
    const { namespace, name } = service;
    const texts = (byService.get(`${namespace}/${name}`) ?? []).flatMap(({ endpoints }) => endpoints);
    const ready = texts.filter((text) => backendAddress(text)?.isReady === true).length;
    const counts = { ready, endpoints: texts.length };
    if ("problem" in service)
      return [{ namespace, name, network: "unreadable", clusterIps: [], ...counts, problem: service.problem }];
    const { network, clusterIps } = service;
    const problem = `no ready endpoint; see plexusctl services explain ${namespace}/${name}`;
    return [{ namespace, name, network, clusterIps, ...counts, ...(ready === 0 ? { problem } : {}) }];
  });
}
