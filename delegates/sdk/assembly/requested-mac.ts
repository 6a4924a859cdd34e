// The MAC that a configuration or a runtime requests for an interface, by CONVENTIONS.md.

import { Arg, Fault } from "./abi/types";
import { Config } from "./config";
import { cniArg, refuseUnknownArgs } from "./conventions";
import { invalidConfig } from "./faults";
import { foldedMember } from "./folded";
import { quote } from "./json";
import { readMac } from "./mac";

const runtimeKeys: StaticArray<string> = ["mac"];
const knownArgs: StaticArray<string> = ["MAC"];

/** `mac` of the configuration; that of `args.cni`, MAC of CNI_ARGS and `runtimeConfig.mac` take precedence in this order, the last most. */
@final
export class RequestedMac {
  private constructor(
    /** In the kernel's spelling; null: the kernel chooses one. */
    readonly mac: string | null,
    /** A malformed MAC, or unknown CNI_ARGS. */
    readonly fault: Fault | null,
  ) {}

  /** `root` has its keys folded, `mac` and `runtimeConfig` among them. `known`: the keys of CNI_ARGS. `argsCni`: `args.cni`, if the plugin reads it. */
  static read(
    root: Config,
    args: Array<Arg>,
    known: StaticArray<string> = knownArgs,
    argsCni: Config | null = null,
  ): RequestedMac {
    let source = "mac";
    let text = root.string("mac");
    const podMac: string | null = argsCni === null ? null : argsCni.string("mac");
    if (podMac !== null && podMac != "") {
      source = "args.cni.mac";
      text = podMac;
    }
    const arg = cniArg(args, "MAC");
    if (arg !== null && arg != "") {
      source = "MAC of CNI_ARGS";
      text = arg;
    }
    const runtime = foldedMember(root, "runtimeConfig", runtimeKeys);
    const runtimeMac: string | null = runtime === null ? null : runtime.string("mac");
    if (runtimeMac !== null && runtimeMac != "") {
      source = "runtimeConfig.mac";
      text = runtimeMac;
    }
    if (text === null || text == "") return new RequestedMac(null, refuseUnknownArgs(args, known));
    const mac = readMac(text);
    const fault: Fault | null =
      mac === null ? invalidConfig(source, `${quote(text)} is not a MAC address`) : refuseUnknownArgs(args, known);
    return new RequestedMac(mac, fault);
  }
}
