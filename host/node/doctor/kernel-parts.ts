// The parts of the kernel that plugins need, and the requests that show each: those that the capabilities send in an ADD.

import { closeSync, openSync } from "node:fs";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { fault } from "../../../src/fault/fault.ts";
import { readCidr } from "../../../src/net/ip.ts";
import { firewallFor } from "../../capabilities/firewall/scope.ts";
import { addressAddition } from "../../system/netlink/address.ts";
import { vlanAddition } from "../../system/netlink/bridge-port.ts";
import { deadlineMs, type NetlinkSender } from "../../system/netlink/exchange.ts";
import { newIfb } from "../../system/netlink/ifb.ts";
import { linkRequest } from "../../system/netlink/link-change.ts";
import {
  newBond,
  newBridge,
  newDummy,
  newIpvlan,
  newMacvlan,
  newVeth,
  newVlan,
  newVrf,
} from "../../system/netlink/link-creation.ts";
import { linkStateIn } from "../../system/netlink/link-state.ts";
import { decodeAnswers, encodeRequests, type NetlinkAnswer, type NetlinkRequest } from "../../system/netlink/message.ts";
import { ruleAddition } from "../../system/netlink/rule.ts";
import { kernelBucket, newTokenBucket } from "../../system/netlink/token-bucket.ts";
import { newIngress } from "../../system/netlink/traffic-control.ts";
import { newRedirection } from "../../system/netlink/u32-filter.ts";
import { systemError } from "../../system/system-error.ts";

/** A part of the kernel. */
export interface KernelPart {
  /** The kernel's modules that have the part. */
  readonly modules: string;
  readonly run: (kernel: NetlinkSender) => Promise<Result<unknown>>;
}

const bucket = kernelBucket({ rate: 8_000_000, burst: 8_000_000, latency: 25 });
const above = { name: "plexus-upper", inSecondNamespace: false };
const bond = {
  name: "plexus-bond",
  mode: "active-backup",
  monitorInterval: 100,
  failOverMac: undefined,
  allMembersActive: undefined,
  dynamicBalancing: undefined,
  transmitHash: undefined,
} as const;
const allVlans = { first: 2, last: 2, pvid: false, untagged: false };
const anyRule = { source: undefined, destination: undefined, incomingLink: undefined, outgoingLink: undefined, mark: undefined };

/** The parts by the name of their check. */
export const kernelParts = {
  veth: { modules: "veth", run: (kernel) => makePair(kernel) },
  bridge: { modules: "bridge", run: (kernel) => makeBridge(kernel, false) },
  "bridge-vlans": {
    modules: "bridge, with BRIDGE_VLAN_FILTERING",
    run: async (kernel) => {
      const made = await makeBridge(kernel, true);
      return made.ok ? send(kernel, vlanAddition(made.value, allVlans, true), "adding a VLAN to a bridge") : made;
    },
  },
  macvlan: {
    modules: "macvlan",
    run: (kernel) => onPair(kernel, (parent) => newMacvlan({ ...above, parent, mode: "bridge", broadcastQueue: undefined })),
  },
  ipvlan: { modules: "ipvlan", run: (kernel) => onPair(kernel, (parent) => newIpvlan({ ...above, parent, mode: "l2" })) },
  vlan: { modules: "8021q", run: (kernel) => onPair(kernel, (parent) => newVlan({ ...above, parent, id: 2 })) },
  dummy: { modules: "dummy", run: (kernel) => send(kernel, newDummy({ name: "plexus-dummy" }), "making a dummy") },
  vrf: { modules: "vrf", run: (kernel) => send(kernel, newVrf({ name: "plexus-vrf", table: 10 }), "making a VRF") },
  bond: { modules: "bonding", run: (kernel) => send(kernel, newBond(bond), "making a bond") },
  tap: { modules: "tun", run: async () => openTun() },
  shaping: { modules: "ifb, sch_tbf, sch_ingress, cls_u32, act_mirred", run: shape },
  firewall: {
    modules: "nf_tables, nf_conntrack, nft_chain_nat, nft_nat, nft_masq, nft_ct, nft_fib_ipv4, nft_fib_ipv6",
    run: writeRules,
  },
  rules: {
    modules: "none: the kernel is built with IP_MULTIPLE_TABLES and IPV6_MULTIPLE_TABLES",
    run: async (kernel) => {
      for (const family of [4, 6] as const) {
        const sent = await send(
          kernel,
          ruleAddition({ ...anyRule, family, priority: 100, table: 100 }),
          `adding a rule of IPv${family}`,
        );
        if (!sent.ok) return sent;
      }
      return ok(undefined);
    },
  },
  ipv6: {
    modules:
      "ipv6, which neither ipv6.disable=1 of the kernel's command line nor net.ipv6.conf.default.disable_ipv6=1 may switch off",
    run: async (kernel) => {
      const link = await makePair(kernel);
      const address = readCidr("fd00::1/64");
      if (!link.ok || address === undefined) return link;
      return send(kernel, addressAddition(link.value, address, true), "adding an address of IPv6");
    },
  },
} as const satisfies Readonly<Record<string, KernelPart>>;

/** The name of a part. */
export type KernelPartName = keyof typeof kernelParts;

function refused(action: string, reason: string): { readonly ok: false; readonly fault: ReturnType<typeof fault> } {
  return failed(fault("NETLINK_FAILED", `${action}: ${reason}`));
}

async function send(kernel: NetlinkSender, request: NetlinkRequest, action: string): Promise<Result<NetlinkAnswer>> {
  const outcome = await kernel.netlink({ path: "", request: encodeRequests([request]), deadlineMs });
  if (outcome.errno !== 0) return refused(action, systemError(outcome.errno));
  const [answer] = decodeAnswers(outcome.reply, 1);
  if (answer === undefined) return refused(action, "the kernel's answer is incomplete");
  if (answer.errno === 0) return ok(answer);
  return refused(action, `${systemError(answer.errno)}${answer.errorText === "" ? "" : `: ${answer.errorText}`}`);
}

/** Makes a link, and answers its index. */
async function make(kernel: NetlinkSender, name: string, request: NetlinkRequest, action: string): Promise<Result<number>> {
  const made = await send(kernel, request, action);
  if (!made.ok) return made;
  const read = await send(kernel, linkRequest(name), `reading the link ${name}`);
  if (!read.ok) return read;
  const [state] = read.value.messages.flatMap((message) => linkStateIn(message) ?? []);
  return state === undefined ? refused(action, "the kernel's answer has no link") : ok(state.index);
}

function makePair(kernel: NetlinkSender): Promise<Result<number>> {
  const request = newVeth({ near: { name: "plexus-near" }, far: { name: "plexus-far" }, farIn: "same namespace" });
  return make(kernel, "plexus-near", request, "making a veth");
}

function makeBridge(kernel: NetlinkSender, vlanFiltering: boolean): Promise<Result<number>> {
  const request = newBridge({ name: "plexus-bridge", vlanFiltering, defaultPvid: undefined });
  return make(kernel, "plexus-bridge", request, "making a bridge");
}

async function onPair(kernel: NetlinkSender, request: (parent: number) => NetlinkRequest): Promise<Result<unknown>> {
  const parent = await makePair(kernel);
  return parent.ok ? send(kernel, request(parent.value), "making the link on a parent") : parent;
}

/** The file belongs to the mount namespace: a tap is made in the network namespace that opens it. */
function openTun(): Result<unknown> {
  try {
    closeSync(openSync("/dev/net/tun", "r+"));
    return ok(undefined);
  } catch (error) {
    return refused("opening /dev/net/tun", error instanceof Error ? error.message : String(error));
  }
}

/** The messages of a shape of both directions. */
async function shape(kernel: NetlinkSender): Promise<Result<unknown>> {
  const link = await makePair(kernel);
  if (!link.ok) return link;
  const device = await make(kernel, "plexus-ifb", newIfb({ name: "plexus-ifb", mtu: 1500, txQueueLength: 0 }), "making an ifb");
  if (!device.ok) return device;
  const steps: readonly (readonly [NetlinkRequest, string])[] = [
    [newTokenBucket(link.value, bucket), "adding a token bucket"],
    [newTokenBucket(device.value, bucket), "adding a token bucket to an ifb"],
    [newIngress(link.value), "adding an ingress qdisc"],
    [newRedirection(link.value, device.value), "leading packets to an ifb"],
  ];
  for (const [request, action] of steps) {
    const sent = await send(kernel, request, action);
    if (!sent.ok) return sent;
  }
  return ok(undefined);
}

/** The rules of a masquerade and of a host port of each family, by the capability's own code. */
async function writeRules(kernel: NetlinkSender): Promise<Result<unknown>> {
  const addresses = ["192.0.2.2/24", "2001:db8::2/64"];
  const call = {
    type: "portmap",
    verb: "add",
    network: "plexus-doctor",
    attachment: { containerId: "plexus-doctor", ifname: "eth0" },
    facts: { addresses, hostVeths: [] },
    grant: { masquerade: true, hostPorts: ["8080"] },
  } as const;
  const written = await firewallFor(call, kernel).replace({
    masquerades: addresses.map((address) => ({ address })),
    portMappings: addresses.map((address) => ({
      protocol: "tcp",
      hostPort: 8080,
      podAddress: address,
      podPort: 80,
      masquerading: "all",
    })),
  });
  return "err" in written ? failed(fault("FIREWALL_FAILED", written.err.msg)) : ok(undefined);
}
