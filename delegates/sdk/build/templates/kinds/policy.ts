// A policy: allows or refuses an attachment by what earlier plugins have made, and changes nothing.

import { env, type Kind } from "./kind.ts";

const source = `// Refuses a pod whose addresses lie outside of the networks that \`allowed\` lists.

import * as log from "plexus/abi/log";
import { AttachmentRequest, GcRequest, StatusRequest, SuccessOrFault } from "plexus/abi/plugin";
import { Fault, Network, Success } from "plexus/abi/types";
import { Cidr } from "plexus/cidr";
import { Config } from "plexus/config";
import { invalidConfig, ownFault } from "plexus/faults";

/** This plugin's own code of errors: numbers from 100 on. */
const NOT_ALLOWED: u32 = 100;

/** The configuration, or the first mistake in it. */
class Settings {
  allowed: Array<Cidr> = [];
  fault: Fault | null = null;

  static read(network: Network): Settings {
    const config = Config.of(network);
    const settings = new Settings();
    const texts = config.strings("allowed");
    if (texts === null) config.refuse("allowed", "must list networks, such as 10.1.0.0/16");
    else {
      for (let i = 0; i < texts.length; i++) {
        const network = Cidr.parse(texts[i]);
        if (network === null) config.refuse(\`allowed[\${i}]\`, \`\${texts[i]} is not a network, such as 10.1.0.0/16\`);
        else settings.allowed.push(network);
      }
    }
    settings.fault = config.fault;
    return settings;
  }

  /** The refusal of the first address outside of all networks; null: every address is allowed. */
  refusalOf(result: Success): Fault | null {
    for (let i = 0; i < result.ips.length; i++) {
      const address = Cidr.parse(result.ips[i].address);
      let isAllowed = false;
      if (address !== null)
        for (let k = 0; k < this.allowed.length; k++) if (this.allowed[k].contains(address.ip)) isAllowed = true;
      if (!isAllowed) return ownFault(NOT_ALLOWED, \`\${result.ips[i].address} lies in no network of "allowed"\`);
    }
    return null;
  }
}

export function add(request: AttachmentRequest): SuccessOrFault {
  const settings = Settings.read(request.network);
  let fault = settings.fault;
  if (fault !== null) return SuccessOrFault.err(fault);
  const result = request.prevResult;
  if (result === null) return SuccessOrFault.err(invalidConfig("prevResult", "is missing: put this plugin after others"));
  fault = settings.refusalOf(result);
  if (fault === null) return SuccessOrFault.ok(result);
  log.write(log.Level.Warn, \`\${request.attachment.containerId}: \${fault.msg}\`);
  return SuccessOrFault.err(fault);
}

/** A refused ADD is followed by DEL: there is nothing to undo. */
export function del(_request: AttachmentRequest): Fault | null {
  return null;
}

export function check(request: AttachmentRequest): Fault | null {
  const settings = Settings.read(request.network);
  if (settings.fault !== null) return settings.fault;
  const result = request.prevResult;
  return result === null ? invalidConfig("prevResult", "is missing") : settings.refusalOf(result);
}

export function gc(_request: GcRequest): Fault | null {
  return null;
}

export function status(request: StatusRequest): Fault | null {
  return Settings.read(request.network).fault;
}
`;

/** Refuses addresses outside of networks. */
export const policy: Kind = {
  about: "Refuses a pod whose addresses lie outside of the allowed networks.",
  source,
  capabilities: { log: "Says which pod was refused, and why." },
  vectors: (type) => {
    const prevResult = { cniVersion: "1.1.0", interfaces: [{ name: "eth0" }], ips: [{ address: "10.1.0.5/24", interface: 0 }] };
    const stdin = { cniVersion: "1.1.0", name: "net", type, allowed: ["10.1.0.0/16", "fd00:1::/48"], prevResult };
    const elsewhere = { ...prevResult, ips: [{ address: "192.0.2.5/24", interface: 0 }] };
    const msg = '192.0.2.5/24 lies in no network of "allowed"';
    return [
      {
        name: "01-allows",
        question: { about: "An address within a network is allowed.", verb: "ADD", env, stdin },
        answer: { result: prevResult, log: [] },
      },
      {
        name: "02-refuses",
        question: {
          about: "An address outside of all networks is refused.",
          verb: "ADD",
          env,
          stdin: { ...stdin, prevResult: elsewhere },
        },
        answer: { error: { code: 100, msg }, log: [`warn: pod-1: ${msg}`] },
      },
      {
        name: "03-dels",
        question: {
          about: "DEL succeeds without a namespace, whatever the configuration.",
          verb: "DEL",
          env: { CNI_CONTAINERID: "pod-1", CNI_IFNAME: "eth0" },
          stdin: { cniVersion: "1.1.0", name: "net", type },
        },
        answer: {},
      },
    ];
  },
  conformance: { configuration: { allowed: ["10.0.0.0/8", "fd00::/8"] }, role: "chained", invalid: { allowed: ["10.1.0.0/33"] } },
  grant: { log: {} },
};
