// The load of the CRI Network API for the benchmark of its memory: as many networks as a node may have, replaced several times, lists, and
// clients that watch.

import { maxNetworks } from "../features/network-api/server/node-networks.ts";
import { NetworkApiClient } from "../features/network-api/server/rpc-client.ts";

const generations = 10;
const lists = 50;
const watchers = 4;
/** Characters of each network's parameter. */
const parameterLength = 15_900;

/** The load in words. */
export const networkLoad = `${maxNetworks} networks of 16 KiB, each set ${generations} times, ${lists} lists, ${watchers} clients that watch`;

/** Sets networks, lists and watches. Answers the function that ends the watches. */
export async function loadNetworkApi(socket: string): Promise<() => void> {
  const ended = new AbortController();
  let events = 0;
  const watching = Array.from({ length: watchers }, () => new NetworkApiClient(socket));
  for (const each of watching) void each.stream("WatchPodNetwork", {}, () => (events += 1), ended.signal);
  const client = new NetworkApiClient(socket);
  const call = async (method: string, request: object): Promise<void> => {
    const answer = await client.call(method, request);
    if (!answer.ok) throw new Error(`${method}: ${answer.failure.message}`);
  };
  for (let generation = 1; generation <= generations; generation += 1)
    for (let index = 0; index < maxNetworks; index += 1)
      await call("SetPodNetwork", { config: network(`net-${index}`, generation) });
  for (let index = 0; index < lists; index += 1) await call("ListPodNetwork", { without_status: true });
  const wanted = watchers * (generations * maxNetworks + 1);
  if (events < wanted) throw new Error(`${events} of ${wanted} events reached the clients`);
  client.close();
  return () => {
    ended.abort();
    for (const each of watching) each.close();
  };
}

function network(name: string, generation: number): object {
  const parameters = { bridge: "br0", text: "x".repeat(parameterLength), ipam: '{"type":"host-local","subnet":"10.74.0.0/16"}' };
  return {
    metadata: { name, generation },
    cniv1_config: { cni_version: "1.0.0", plugins: [{ type: "bridge", capabilities: ["ips"], parameters }] },
  };
}
