// How a type finds its plugin (design): looked up by the hands on the call's CNI_PATH, once for each type of a call.

import { type Fault, fault } from "../../src/fault/fault.ts";
import type { WasmConfiguration } from "../../src/configuration/wasm-configuration.ts";
import type { Hands } from "../hands/hands.ts";
import type { Found } from "../hands/messages.ts";

export class PluginFinder {
  readonly #hands: Pick<Hands, "find">;
  readonly #prefer: WasmConfiguration["prefer"];
  readonly #found = new Map<string, Promise<Found>>();

  /** `prefer`: whether components win over native binaries in the same directory: always, never, or for the types listed. */
  constructor(hands: Pick<Hands, "find">, prefer: WasmConfiguration["prefer"]) {
    this.#hands = hands;
    this.#prefer = prefer;
  }

  /** What was found of it already, or is being looked for. */
  known(type: string): Promise<Found> | undefined {
    return this.#found.get(type);
  }

  /** Asks at once, so that several that are asked for together take the time of one. */
  find(type: string): Promise<Found> {
    const known = this.#found.get(type);
    if (known !== undefined) return known;
    const componentFirst = typeof this.#prefer === "boolean" ? this.#prefer : this.#prefer.includes(type);
    const found = this.#hands.find({ type, componentFirst });
    this.#found.set(type, found);
    return found;
  }
}

/** The fault of a type that no directory of CNI_PATH has. `unfit`: the path of what has its name and is no plugin, or nothing. */
export function notFound(type: string, path: string, unfit: string): Fault {
  return fault("PLUGIN_NOT_FOUND", `failed to find plugin "${type}": ${whyNotFound(type, path, unfit)}`);
}

function whyNotFound(type: string, path: string, unfit: string): string {
  if (unfit.endsWith(`/${type}.wasm`))
    return `${unfit} is there, but is no WebAssembly component (a core module, which still has to be made one, or no WebAssembly at all)`;
  if (unfit !== "") return `${unfit} is there, but is no file that may be executed`;
  return path === "" ? "CNI_PATH is empty" : `looked for ${type} and ${type}.wasm in ${path.split(":").join(", ")}`;
}
