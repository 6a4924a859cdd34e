// Finds the plugin of a type on the call's CNI_PATH, and names the directory in which the plugins of a call find those that they call themselves. The shim looks up each
// type once in a call.

import type { AttachmentId } from "../../../src/cni/attachment.ts";
import { type NetworkList, pluginTypes } from "../../../src/cni/network-list.ts";
import type { WasmConfiguration } from "../../../src/configuration/wasm-configuration.ts";
import { type Fault, fault } from "../../../src/fault/fault.ts";
import type { Environment } from "../../protocol/fields.ts";
import type { Found } from "../../protocol/messages.ts";
import type { FindEffects } from "../../protocol/shim.ts";
import { shortHash } from "../../system/ids.ts";

/** Looks up types and remembers the answers for the call. */
export class PluginFinder {
  readonly #shim: FindEffects;
  readonly #prefer: WasmConfiguration["prefer"];
  readonly #earlier: PluginFinder | undefined;
  readonly #found = new Map<string, Promise<Found>>();

  /**
   * `prefer`: whether a component precedes the native binary in the same directory: always, never, or for the listed types. `earlier`: a finder whose
   * components are used without a further look-up.
   */
  constructor(shim: FindEffects, prefer: WasmConfiguration["prefer"], earlier?: PluginFinder) {
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

/**
 * Sends the look-ups of a list's plugins, together with another effect that the caller has just begun: each further send would wake the shim and the engine
 * once more. The finder keeps the answers for the steps, which also receive a failure.
 */
export function startFinding(plugins: PluginFinder, list: NetworkList): void {
  for (const type of pluginTypes(list)) plugins.find(type).catch(() => undefined);
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

// Nested-call directories: the shim makes the links and the socket for the nested calls of one call's steps there. The engine chooses the name; the shim makes the
// directory where no engine reaches it.

/** The name of one attachment's nested-call directory. The name is short because a socket's path has at most 107 bytes. */
export function nestedCallDirectoryOf(id: AttachmentId, network: string): string {
  return shortHash(`${id.containerId}@${network}@${id.ifname}`);
}

/**
 * The name of the nested-call directory whose socket a nested call has in `PLEXUS_NESTED_CALLS`; empty if there is none. Plugins that this call
 * executes make their own nested calls through the same directory.
 */
export function nestedCallDirectoryIn(environment: Environment): string {
  return /\/([^/]+)\/\.sock$/u.exec(environment.get("PLEXUS_NESTED_CALLS") ?? "")?.[1] ?? "";
}

let calls = 0;

/**
 * The name of a directory for one call without a container (STATUS or GC). Any number of these calls run at once. The shim removes the
 * directory.
 */
export function temporaryNestedCallDirectory(): string {
  calls += 1;
  return `call-${process.pid}-${calls}`;
}
