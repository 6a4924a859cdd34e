// A plain request for each verb, and capabilities that answer plainly, for tests that only care what a guest does.

import type { SyncImports, Verb } from "../../../host/sandbox/runner.ts";
import type { VerbTypes } from "../../../host/sandbox/abi/generated/delegate-0.1.0.ts";

const network = { cniVersion: "1.1.0", name: "net", config: '{"type":"fixture"}' };
const attachment = { containerId: "c1", netns: "/run/netns/c1", ifname: "eth0", args: [{ key: "K8S_POD_NAME", value: "pod" }] };

export const plainRequests: { readonly [V in Verb]: VerbTypes[V]["request"] } = {
  add: { network, attachment },
  del: { network, attachment },
  check: { network, attachment },
  gc: { network, valid: [{ containerId: "c1", ifname: "eth0" }] },
  status: network,
};

/** Capabilities that grant what is asked, and the calls that they saw. */
export function recordingImports(): { readonly imports: SyncImports; readonly calls: unknown[][] } {
  const calls: unknown[][] = [];
  const saw = <T>(name: string, args: readonly unknown[], answer: T): T => {
    calls.push([name, ...args]);
    return answer;
  };
  const imports: SyncImports = {
    log: { write: (...args) => saw("log.write", args, undefined) },
    leases: {
      reserve: (...args) => saw("leases.reserve", args, { ok: true }),
      reserveNext: (...args) => saw("leases.reserveNext", args, { ok: { address: args[1][0]?.first ?? "", heldBefore: false } }),
      held: (...args) => saw("leases.held", args, { ok: ["10.1.0.2", "fd00::2"] }),
      release: (...args) => saw("leases.release", args, { ok: 2 }),
      retain: (...args) => saw("leases.retain", args, { ok: 0xffff_ffff }),
      count: (...args) => saw("leases.count", args, { ok: args[2] }),
      probe: (...args) => saw("leases.probe", args, { ok: undefined }),
    },
    state: {
      load: (...args) => saw("state.load", args, { ok: "kept" }),
      save: (...args) => saw("state.save", args, { ok: undefined }),
      remove: (...args) => saw("state.remove", args, { ok: undefined }),
    },
    delegation: {
      add: (...args) => saw("delegation.add", args, { ok: { interfaces: [], ips: [], routes: [] } }),
      del: (...args) => saw("delegation.del", args, { ok: undefined }),
      check: (...args) => saw("delegation.check", args, { ok: undefined }),
      gc: (...args) => saw("delegation.gc", args, { ok: undefined }),
      status: (...args) => saw("delegation.status", args, { ok: undefined }),
    },
    resolver: { read: (...args) => saw("resolver.read", args, { ok: { nameservers: ["10.0.0.53"], search: [], options: [] } }) },
  };
  return { imports, calls };
}
