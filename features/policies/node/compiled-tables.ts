// Tables and queries of pods, each made once for pods with the same policies and the same peers: the pods of a workload on a node have equal tables.

import { RecentValues } from "../../../host/node/running-pods/recent-values.ts";
import type { Reading } from "../../../src/kube/object-parts.ts";
import { peersOf } from "../rules/address-slice.ts";
import { compile, type CompileInit, type IsolatedInterface } from "../rules/compile.ts";
import { type Peer, queryText } from "../rules/peers.ts";
import { podQueries } from "../rules/pod-queries.ts";
import type { PolicyTable } from "../rules/table.ts";
import { queryId } from "../query-id.ts";
import type { KeptSlice } from "./policy-source.ts";

/** The inputs of a table. */
export interface TableInputs extends Omit<CompileInit, "findPeers"> {
  /** The slices of the pod's queries. */
  readonly slices: readonly KeptSlice[];
}

const queries = new RecentValues<Reading<readonly string[]>>(64, 16_384, (read) => (read.ok ? read.value.length : 1));

/** Elements of the kept tables: as many as four tables have at most. Written tables are kept in any case. */
const tables = new RecentValues<Reading<PolicyTable | undefined>>(64, 262_144, (read) =>
  read.ok ? (read.value?.sets ?? []).reduce((sum, { elements }) => sum + elements.size, 1) : 1,
);

/** The ids of the queries of a pod's policies. A problem names the bound that the policies exceed. */
export function queryIds(isolated: readonly IsolatedInterface[]): Reading<readonly string[]> {
  return queries.of(keyOf(isolated), policiesOf(isolated), () => {
    const read = podQueries(isolated);
    return read.ok ? { ok: true, value: read.value.map(queryId) } : read;
  });
}

/** Compiles the table; undefined if no policy isolates any interface. A problem names the bound that the policies exceed. */
export function compiledTable({
  interfaces,
  ports,
  slices,
  established,
  keepsIpv6 = false,
}: TableInputs): Reading<PolicyTable | undefined> {
  const key = `${keyOf(interfaces)} ${JSON.stringify(ports)} ${established} ${keepsIpv6}`;
  return tables.of(key, [...policiesOf(interfaces), ...slices], () => {
    const byQuery = Map.groupBy(slices, ({ query }) => query);
    const found = new Map<string, readonly Peer[]>();
    // The compiler asks for the same peers again and again.
    const findPeers: CompileInit["findPeers"] = (query) => {
      const text = queryText(query);
      const peers = found.get(text) ?? peersOf(byQuery.get(text) ?? []);
      found.set(text, peers);
      return peers;
    };
    return compile({ interfaces, ports, findPeers, established, keepsIpv6 });
  });
}

/** The parts of the interfaces that are no objects of the API. */
function keyOf(isolated: readonly IsolatedInterface[]): string {
  return JSON.stringify(isolated.map(({ link, policies }) => [link, policies.map(({ network }) => network)]));
}

function policiesOf(isolated: readonly IsolatedInterface[]): readonly object[] {
  return isolated.flatMap(({ policies }) => policies.map(({ policy }) => policy));
}
