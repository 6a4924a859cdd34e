// Finds the plugin of a type on the call's CNI_PATH. The shim looks up each type once in a call.

import { type Fault, fault } from "../../../src/fault/fault.ts";
import type { WasmConfiguration } from "../../../src/configuration/wasm-configuration.ts";
import type { Shim } from "../../protocol/shim.ts";
import type { Found } from "../../protocol/messages.ts";

/** Looks up types and remembers the answers for the call. */
export class PluginFinder {
  readonly #shim: Pick<Shim, "find">;
  readonly #prefer: WasmConfiguration["prefer"];
  readonly #earlier: PluginFinder | undefined;
  readonly #found = new Map<string, Promise<Found>>();

  /**
   * `prefer`: whether a component precedes the native binary in the same directory: always, never, or for the listed types. `earlier`: a finder whose
   * components are used without a further look-up.
   */
  constructor(shim: Pick<Shim, "find">, prefer: WasmConfiguration["prefer"], earlier?: PluginFinder) {
    this.#shim = shim;
    this.#prefer = prefer;
    this.#earlier = earlier;
  }

  /** Looks the type up. The request is sent at once, so that several look-ups together take the time of one. */
  find(type: string): Promise<Found> {
    const known = this.#found.get(type);
    if (known !== undefined) return known;
    const componentFirst = typeof this.#prefer === "boolean" ? this.#prefer : this.#prefer.includes(type);
    const lookUp = (): Promise<Found> => this.#shim.find({ type, componentFirst });
    const earlier = this.#earlier === undefined ? undefined : this.#earlier.#found.get(type);
    const found = earlier?.then((before) => (before.what === "component" ? before : lookUp())) ?? lookUp();
    this.#found.set(type, found);
    return found;
  }
}

/** The fault PLUGIN_NOT_FOUND. `unfit`: the path of a file with that name that is not a plugin; empty if there is none. */
export function notFound(type: string, path: string, unfit: string): Fault {
  return fault("PLUGIN_NOT_FOUND", `failed to find plugin "${type}": ${whyNotFound(type, path, unfit)}`);
}

function whyNotFound(type: string, path: string, unfit: string): string {
  if (unfit.endsWith(`/${type}.wasm`))
    return `${unfit} exists, but is not a WebAssembly component (a core module must first be converted with "wasm-tools component new")`;
  if (unfit !== "") return `${unfit} exists, but is not an executable file`;
  return path === "" ? "CNI_PATH is empty" : `looked for ${type} and ${type}.wasm in ${path.split(":").join(", ")}`;
}
