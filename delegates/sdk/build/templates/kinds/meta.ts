// A meta plugin: changes what earlier plugins of the list have made.

import { env, type Kind } from "./kind.ts";

const source = `// Sets the MTU of the pod's interface, after the plugin that made it.

import { apply, Change, LinkName, Operation, Place, read } from "plexus/abi/links";
import * as state from "plexus/abi/state";
import { AttachmentRequest, GcRequest, StatusRequest, SuccessOrFault } from "plexus/abi/plugin";
import { Fault, Network } from "plexus/abi/types";
import { Config } from "plexus/config";
import { invalidConfig, ownFault } from "plexus/faults";
import { Some } from "plexus/some";

/** This plugin's own code of errors: numbers from 100 on. */
const UNEXPECTED_MTU: u32 = 100;
const MIN_MTU: i64 = 68;
const MAX_MTU: i64 = 65535;

/** The configuration, or the first mistake in it. */
class Settings {
  mtu: u32 = 0;
  fault: Fault | null = null;

  static read(network: Network): Settings {
    const config = Config.of(network);
    const settings = new Settings();
    const mtu = config.integer("mtu");
    if (mtu === null || mtu.value < MIN_MTU || mtu.value > MAX_MTU) config.refuse("mtu", "must be a number from 68 to 65535");
    else settings.mtu = <u32>mtu.value;
    settings.fault = config.fault;
    return settings;
  }
}

export function add(request: AttachmentRequest): SuccessOrFault {
  const settings = Settings.read(request.network);
  const fault = settings.fault;
  if (fault !== null) return SuccessOrFault.err(fault);
  const result = request.prevResult;
  if (result === null) return SuccessOrFault.err(invalidConfig("prevResult", "is missing: put this plugin after others"));
  const ifname = request.attachment.ifname;
  const link = new LinkName(Place.Pod, ifname);
  const before = read([link]);
  if (!before.isOk) return SuccessOrFault.err(before.error);
  if (before.value.length == 0) return SuccessOrFault.err(ownFault(UNEXPECTED_MTU, \`the interface \${ifname} is missing\`));
  // Saved first: DEL must undo an ADD that was stopped after its change.
  const unsaved = state.save(null, before.value[0].mtu.toString());
  if (unsaved !== null) return SuccessOrFault.err(unsaved);
  const applied = apply([Operation.changeLink(withMtu(link, settings.mtu))]);
  if (!applied.isOk) return SuccessOrFault.err(applied.error);
  for (let i = 0; i < result.interfaces.length; i++) {
    const each = result.interfaces[i];
    if (each.name == ifname && each.sandbox !== null) each.mtu = new Some<u32>(settings.mtu);
  }
  return SuccessOrFault.ok(result);
}

function withMtu(link: LinkName, mtu: u32): Change {
  const change = new Change(link);
  change.mtu = new Some<u32>(mtu);
  return change;
}

/** Restores the MTU that the interface had. Must succeed if there is nothing to undo, and when it is repeated. */
export function del(request: AttachmentRequest): Fault | null {
  const saved = state.load(null);
  if (!saved.isOk) return saved.error;
  const mtu = saved.value;
  if (mtu === null) return null;
  const link = new LinkName(Place.Pod, request.attachment.ifname);
  if (request.attachment.netns !== null) {
    const found = read([link]);
    if (!found.isOk) return found.error;
    const applied = apply(found.value.length == 0 ? [] : [Operation.changeLink(withMtu(link, U32.parseInt(mtu)))]);
    if (!applied.isOk) return applied.error;
  }
  return state.remove(null);
}

export function check(request: AttachmentRequest): Fault | null {
  const settings = Settings.read(request.network);
  if (settings.fault !== null) return settings.fault;
  if (request.prevResult === null) return invalidConfig("prevResult", "is missing");
  const ifname = request.attachment.ifname;
  const found = read([new LinkName(Place.Pod, ifname)]);
  if (!found.isOk) return found.error;
  if (found.value.length == 0) return ownFault(UNEXPECTED_MTU, \`the interface \${ifname} is missing\`);
  const mtu = found.value[0].mtu;
  return mtu == settings.mtu ? null : ownFault(UNEXPECTED_MTU, \`the interface \${ifname} has MTU \${mtu}, not \${settings.mtu}\`);
}

export function gc(_request: GcRequest): Fault | null {
  return null;
}

export function status(request: StatusRequest): Fault | null {
  return Settings.read(request.network).fault;
}
`;

/** Sets the MTU. */
export const meta: Kind = {
  about: "Sets the MTU of the pod's interface.",
  source,
  capabilities: {
    links: "Sets the MTU of the pod's interface.",
    state: "Keeps the interface's earlier MTU, which DEL restores.",
  },
  vectors: (type) => {
    const made = { name: "eth0", sandbox: "/run/netns/pod-1" };
    const prevResult = { cniVersion: "1.1.0", interfaces: [made] };
    const stdin = { cniVersion: "1.1.0", name: "net", type, mtu: 1400, prevResult };
    const links = { pod: [{ name: "eth0", kind: "veth", mtu: 1500 }] };
    return [
      {
        name: "01-sets-the-mtu",
        question: { about: "ADD sets the MTU and reports it.", verb: "ADD", env, stdin, links, state: {} },
        answer: {
          result: { cniVersion: "1.1.0", interfaces: [{ name: "eth0", mtu: 1400, sandbox: "/run/netns/pod-1" }] },
          applied: [[{ "change-link": { link: { place: "pod", name: "eth0" }, mtu: 1400, alternativeNames: [] } }]],
          state: { text: "1500" },
        },
      },
      {
        name: "02-finds-another-mtu",
        question: { about: "CHECK finds an MTU that was changed afterwards.", verb: "CHECK", env, stdin, links },
        answer: { error: { code: 100, msg: "the interface eth0 has MTU 1500, not 1400" }, applied: [] },
      },
      {
        name: "03-dels",
        question: {
          about: "DEL forgets the earlier MTU where the namespace is gone, whatever the configuration.",
          verb: "DEL",
          env: { CNI_CONTAINERID: "pod-1", CNI_IFNAME: "eth0" },
          stdin: { cniVersion: "1.1.0", name: "net", type },
          state: { text: "1500" },
        },
        answer: { state: {} },
      },
    ];
  },
  conformance: { configuration: { mtu: 1400 }, role: "chained", invalid: { mtu: 5 }, changes: ["interfaces"] },
  grant: { links: {}, state: { directories: ["/run/cni/state"] } },
};
