// The configuration, read like the reference plugin does.

import { Acceptance, IngressPolicy } from "plexus/abi/filter";
import { Fault, Network, Success } from "plexus/abi/types";
import { Config } from "plexus/config";
import { invalidConfig } from "plexus/faults";
import { folded } from "plexus/folded";
import { quote } from "plexus/json";

const keys: StaticArray<string> = ["backend", "iptablesAdminChainName", "firewalldZone", "ingressPolicy"];

const defaultAdminChain = "CNI-ADMIN";
/** The reference's zone for the backend firewalld. */
const defaultZone = "trusted";
const chainRule = "use 1 to 28 letters, digits, _, . and -, and none of iptables' and this plugin's names";
const maxChainLength = 28;
const usedChains: StaticArray<string> = [
  "CNI-FORWARD",
  "CNI-ISOLATION-STAGE-1",
  "CNI-ISOLATION-STAGE-2",
  "PREROUTING",
  "INPUT",
  "FORWARD",
  "OUTPUT",
  "POSTROUTING",
  "ACCEPT",
  "DROP",
  "RETURN",
  "QUEUE",
];

function isFreeChain(name: string): bool {
  if (name.length > maxChainLength || usedChains.includes(name)) return false;
  for (let i = 0; i < name.length; i++) {
    const code = name.charCodeAt(i);
    const isLetter = (code | 0x20) >= 0x61 && (code | 0x20) <= 0x7a;
    const isDigit = code >= 0x30 && code <= 0x39;
    // "_", and behind the first character also "." and "-".
    if (isLetter || isDigit || code == 0x5f || (i > 0 && (code == 0x2e || code == 0x2d))) continue;
    return false;
  }
  return true;
}

/** All settings. With a fault, the other fields must not be used. */
@final
export class Settings {
  fault: Fault | null = null;
  adminChain: string = defaultAdminChain;
  ingress: IngressPolicy = IngressPolicy.Open;
  /** The zone of firewalld; null: the node's choice, "": none. */
  private zone: string | null = null;
  private ingressText: string = "open";

  static read(network: Network): Settings {
    const settings = new Settings();
    const top = Config.of(network);
    const root = folded(top, top.json, "", keys) as Config;
    const chain = root.string("iptablesAdminChainName");
    if (chain !== null && chain != "") {
      settings.adminChain = chain;
      if (!isFreeChain(chain))
        root.refuse("iptablesAdminChainName", `${quote(chain)} is not the name of a chain of your own: ${chainRule}`);
    }
    settings.readZone(root);
    settings.readIngress(root);
    settings.fault = root.fault;
    return settings;
  }

  private readZone(root: Config): void {
    const backend = root.string("backend");
    const zone = root.string("firewalldZone");
    if (backend == "iptables") this.zone = "";
    else if (zone !== null && zone != "") this.zone = zone;
    else if (backend == "firewalld") this.zone = defaultZone;
  }

  private readIngress(root: Config): void {
    const text = root.string("ingressPolicy");
    if (text === null || text == "" || text == "open") return;
    this.ingressText = text;
    if (text == "same-bridge") this.ingress = IngressPolicy.SameBridge;
    else if (text == "isolated") this.ingress = IngressPolicy.Isolated;
    else root.refuse("ingressPolicy", `must be open, same-bridge or isolated, is ${quote(text)}`);
  }

  /** The acceptance of all addresses of a result. The fault of a policy without a bridge is in `fault`. */
  acceptanceOf(result: Success): Acceptance {
    const acceptance = new Acceptance(this.adminChain, this.ingress);
    acceptance.zone = this.zone;
    for (let i = 0; i < result.ips.length; i++) acceptance.addresses.push(result.ips[i].address);
    if (this.ingress == IngressPolicy.Open) return acceptance;
    // The reference plugin takes the first interface without a question.
    const bridge: string = result.interfaces.length == 0 ? "" : result.interfaces[0].name;
    if (bridge == "") {
      const why = `needs interfaces in the previous result, of which the first is the bridge: put firewall behind bridge`;
      this.fault = invalidConfig(`ingressPolicy`, `${this.ingressText} ${why}`);
    }
    acceptance.bridge = bridge;
    return acceptance;
  }
}
