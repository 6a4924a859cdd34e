// An API server that the files of a vitest worker share, because a start takes seconds of CPU time. Each file gets the server with the objects that
// a new one has, or a new server where that fails. The server is stopped while the worker runs files that need none.
//
//     api = await sharedApiServer();     // in beforeAll
//     await api.dispose();               // in afterAll: the next file may have the server

import { type ApiServer, type ApiServerInit, openServers, type RunningServers, startServers } from "./api-server.ts";
import { removeAfterRun } from "../ended-directories.ts";
import { serverRegistry } from "./ended-servers.ts";
import { objectsInEtcd, restoreObjects } from "./etcd-state.ts";
import { untilServed } from "./served-objects.ts";

interface SharedServers extends RunningServers {
  /** The objects of the new server. */
  readonly saved: Awaited<ReturnType<typeof objectsInEtcd>>;
}

let idle: SharedServers | undefined;

/** The worker's API server for one file. The server ends with the worker. */
export async function sharedApiServer(init: ApiServerInit = {}): Promise<ApiServer> {
  const servers = (await takeIdle()) ?? (await newServers());
  return openServers(servers, init, async () => {
    // A file with two servers gives two back.
    if (idle !== undefined) return servers.dispose();
    servers.processes.pause();
    idle = servers;
    return undefined;
  });
}

async function newServers(): Promise<SharedServers> {
  const servers = await startServers();
  removeAfterRun(serverRegistry, servers.directory);
  return { ...servers, saved: await objectsInEtcd(servers.processes.store) };
}

/** The idle server with the objects of a new one; undefined if there is none that can be used again. */
async function takeIdle(): Promise<SharedServers | undefined> {
  const servers = idle;
  idle = undefined;
  if (servers === undefined) return undefined;
  try {
    const { processes } = servers;
    processes.resume();
    // A file may have ended kube-apiserver, as a node that loses the API server.
    if (!processes.apiRuns()) await processes.startApi();
    await processes.ready(servers.adminKubeconfig);
    const changed = await restoreObjects(processes.store, servers.saved);
    await untilServed(servers.adminKubeconfig, changed);
    return servers;
  } catch (error) {
    process.stderr.write(`the tests' API server cannot be used again: ${String(error)}\n`);
    await servers.dispose();
    return undefined;
  }
}
