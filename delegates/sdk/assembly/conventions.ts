// CONVENTIONS.md: where runtimes leave what they ask of a plugin beside its configuration.

import { Arg } from "./abi/types";
import { Config } from "./config";

/** The value of one pair of CNI_ARGS; of equal keys the last. Null: not given. */
export function cniArg(args: Array<Arg>, key: string): string | null {
  for (let i = args.length - 1; i >= 0; i--) {
    if (args[i].key == key) return args[i].value;
  }
  return null;
}

/** `runtimeConfig.ips`: what the runtime asks for through the capability `ips`. Null: not given. */
export function runtimeConfigIps(config: Config): Array<string> | null {
  const runtime = config.object("runtimeConfig");
  return runtime === null ? null : runtime.strings("ips");
}

/** `args.cni.ips`: what the configuration's author asks for. Null: not given. */
export function argsCniIps(config: Config): Array<string> | null {
  const args = config.object("args");
  if (args === null) return null;
  const cni = args.object("cni");
  return cni === null ? null : cni.strings("ips");
}

/** `IP=` of CNI_ARGS: the old way, several separated by commas. Null: not given. */
export function cniArgsIps(args: Array<Arg>): Array<string> | null {
  const value = cniArg(args, "IP");
  if (value === null || value == "") return null;
  const parts = value.split(",");
  for (let i = 0; i < parts.length; i++) parts[i] = parts[i].trim();
  return parts;
}
