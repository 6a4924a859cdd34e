// CONVENTIONS.md: a runtime's requests besides the configuration.

import { Arg, Fault } from "./abi/types";
import { Config } from "./config";
import { invalidEnvironment } from "./faults";
import { quote } from "./json";

/** The value of one pair of CNI_ARGS; the last of equal keys wins. Null: absent. */
export function cniArg(args: Array<Arg>, key: string): string | null {
  for (let i = args.length - 1; i >= 0; i--) {
    if (args[i].key == key) return args[i].value;
  }
  return null;
}

/** `runtimeConfig.ips`: addresses that the runtime requests with the capability `ips`. Null: absent. */
export function runtimeConfigIps(config: Config): Array<string> | null {
  const runtime = config.object("runtimeConfig");
  return runtime === null ? null : runtime.strings("ips");
}

/** `args.cni.ips`: addresses that the configuration's author requests. Null: absent. */
export function argsCniIps(config: Config): Array<string> | null {
  const args = config.object("args");
  if (args === null) return null;
  const cni = args.object("cni");
  return cni === null ? null : cni.strings("ips");
}

/** `IP=` of CNI_ARGS: the old form, several addresses separated by commas. Null: absent. */
export function cniArgsIps(args: Array<Arg>): Array<string> | null {
  const value = cniArg(args, "IP");
  if (value === null || value == "") return null;
  const parts = value.split(",");
  for (let i = 0; i < parts.length; i++) parts[i] = parts[i].trim();
  return parts;
}

/**
 * libcni's convention for unknown pairs: each is a fault unless `IgnoreUnknown` is true. `known`: the keys that the plugin reads.
 * Null: no fault.
 */
export function refuseUnknownArgs(args: Array<Arg>, known: StaticArray<string>): Fault | null {
  let ignoreUnknown = false;
  let unknown = "";
  for (let i = 0; i < args.length; i++) {
    const key = args[i].key;
    const value = args[i].value;
    if (key == "IgnoreUnknown") {
      ignoreUnknown = value == "1" || isWord(value, "true");
      if (!ignoreUnknown && value != "0" && !isWord(value, "false")) {
        return invalidEnvironment(`CNI_ARGS: IgnoreUnknown must be 1, true, 0 or false, is ${quote(value)}`);
      }
    } else if (unknown == "" && !known.includes(key)) {
      unknown = `${key}=${value}`;
    }
  }
  if (unknown == "" || ignoreUnknown) return null;
  return invalidEnvironment(`CNI_ARGS: ${quote(unknown)} is unknown to this plugin, and IgnoreUnknown=1 is not set`);
}

/** Whether the text equals this lower-case word in any case. */
function isWord(text: string, word: string): bool {
  if (text.length != word.length) return false;
  for (let i = 0; i < word.length; i++) if ((text.charCodeAt(i) | 0x20) != word.charCodeAt(i)) return false;
  return true;
}
