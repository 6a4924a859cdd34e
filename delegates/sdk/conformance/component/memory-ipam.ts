// The kit's IPAM plugin for a component under test: it assigns one address after the other and records its calls.

import type { DelegationCapability, Fault, Success } from "../../../../host/sandbox/abi/generated/delegate-1.1.0.ts";
import { kitIpam } from "../lab.ts";
import { exactJson } from "../reply.ts";
import type { IpamCall } from "../subject.ts";

interface Caller {
  readonly containerId: string;
  readonly ifname: string;
  readonly netns?: string | undefined;
}

/** The plugin with its calls. */
export class MemoryIpam {
  readonly calls: IpamCall[] = [];
  /** Verbs that fail. */
  readonly failing = new Set<string>();
  #assigned = 1;

  /** The `delegation` capability of one call. */
  functions(caller: Caller | undefined): DelegationCapability {
    const act = (verb: string, type: string, config: string | undefined) => this.#act(verb, type, config, caller);
    return {
      add: (type, config) => {
        const refused = act("ADD", type, config);
        // A node calls DEL of a plugin whose ADD failed.
        if (refused !== undefined) act("DEL", type, config);
        return refused === undefined ? { ok: this.#assign() } : { err: refused };
      },
      del: (type, config) => outcome(act("DEL", type, config)),
      check: (type, config) => outcome(act("CHECK", type, config)),
      gc: (type, config) => outcome(act("GC", type, config)),
      status: (type, config) => outcome(act("STATUS", type, config)),
    };
  }

  #act(verb: string, type: string, config: string | undefined, caller: Caller | undefined): Fault | undefined {
    if (type !== kitIpam) return { code: 7, msg: `the node has no plugin ${type}`, details: undefined };
    const env =
      caller === undefined
        ? {}
        : { CNI_CONTAINERID: caller.containerId, CNI_NETNS: caller.netns ?? "", CNI_IFNAME: caller.ifname };
    this.calls.push({ verb, env, config: config === undefined ? undefined : exactJson(config) });
    return this.failing.has(verb) ? { code: 11, msg: `${kitIpam} fails on request`, details: undefined } : undefined;
  }

  #assign(): Success {
    this.#assigned += 1;
    const address = `10.200.0.${this.#assigned}/24`;
    return {
      interfaces: [],
      ips: [{ address, gateway: "10.200.0.1", interface: undefined }],
      routes: [
        {
          dst: "0.0.0.0/0",
          gw: undefined,
          mtu: undefined,
          advmss: undefined,
          priority: undefined,
          table: undefined,
          scope: undefined,
        },
      ],
      dns: undefined,
    };
  }
}

function outcome(refused: Fault | undefined): { readonly ok: undefined } | { readonly err: Fault } {
  return refused === undefined ? { ok: undefined } : { err: refused };
}
