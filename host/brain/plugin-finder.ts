// How a type finds its plugin (design): looked up by the hands on the call's CNI_PATH, once for each type of a call. What it was found to be
// in an earlier call may be taken for granted by a native step: the hands look it up anew before they execute that, which saves a wake-up of
// both sides.

import { type Fault, fault } from "../../src/fault/fault.ts";
import type { WasmConfiguration } from "../../src/configuration/wasm-configuration.ts";
import type { Hands } from "../hands/hands.ts";
import type { Found, TakenForGranted } from "../hands/messages.ts";
import type { FoundTypes } from "./former-finds.ts";

export interface PluginFinderInit {
  readonly hands: Pick<Hands, "find">;
  /** Whether components win over native binaries in the same directory: always, never, or for the types listed. */
  readonly prefer: WasmConfiguration["prefer"];
  /** What earlier calls found on the same CNI_PATH; nothing is taken for granted where it is absent. */
  readonly former?: FoundTypes | undefined;
}

/** What a step needs of it. */
export type StepPlugins = Pick<PluginFinder, "find" | "takeForGranted" | "takenForGranted" | "doubt">;

export class PluginFinder {
  readonly #hands: Pick<Hands, "find">;
  readonly #prefer: WasmConfiguration["prefer"];
  readonly #former: PluginFinderInit["former"];
  readonly #found = new Map<string, Promise<Found>>();
  /** What the hands haven't been told yet, and all of it. */
  #untold: TakenForGranted[] = [];
  readonly #taken: string[] = [];
  #doubted = false;

  constructor({ hands, prefer, former }: PluginFinderInit) {
    this.#hands = hands;
    this.#prefer = prefer;
    this.#former = former;
  }

  /** What was found of it already, or is being looked for. */
  known(type: string): Promise<Found> | undefined {
    return this.#found.get(type);
  }

  /** Asks at once, so that several that are asked for together take the time of one. */
  find(type: string): Promise<Found> {
    const known = this.#found.get(type);
    if (known !== undefined) return known;
    const componentFirst = this.#prefersComponent(type);
    const asked = this.#hands.find({ type, componentFirst });
    const former = this.#former;
    const found = former === undefined || componentFirst ? asked : asked.then((told) => keep(former, type, told));
    this.#found.set(type, found);
    return found;
  }

  /**
   * Takes for granted what an earlier call found of types that this one hasn't asked for, where the first of them, whose step comes next,
   * was a native binary: its execution tells whether all of it is still so.
   */
  takeForGranted([first, ...others]: readonly string[]): void {
    if (first === undefined || this.#formerly(first)?.what !== "native") return;
    for (const type of [first, ...others]) {
      const former = this.#formerly(type);
      if (former === undefined) continue;
      this.#found.set(type, Promise.resolve(former));
      this.#taken.push(type);
      this.#untold.push({ type, identity: former.what === "native" ? "" : former.identity });
    }
  }

  /** What the next execution has to tell of: each of it once. */
  takenForGranted(): readonly TakenForGranted[] {
    const untold = this.#untold;
    if (untold.length > 0) this.#untold = [];
    return untold;
  }

  /** Forgets what was taken for granted: it is asked for from now on. Answers whether there was anything. */
  doubt(): boolean {
    this.#doubted = true;
    const taken = this.#taken.splice(0);
    this.#untold = [];
    for (const type of taken) {
      this.#found.delete(type);
      this.#former?.forget(type);
    }
    return taken.length > 0;
  }

  #prefersComponent(type: string): boolean {
    return typeof this.#prefer === "boolean" ? this.#prefer : this.#prefer.includes(type);
  }

  #formerly(type: string): Found | undefined {
    if (this.#doubted || this.#former === undefined || this.#found.has(type) || this.#prefersComponent(type)) return undefined;
    return this.#former.of(type);
  }
}

function keep(former: FoundTypes, type: string, found: Found): Found {
  former.keep(type, found);
  return found;
}

/** A native step that was not begun, because not all that was taken for granted is so. */
export class FoundOtherwise extends Error {
  override readonly name = "FoundOtherwise";
}

/** The fault of a type that no directory of CNI_PATH has. */
export function notFound(type: string, path: string): Fault {
  const places = path === "" ? "CNI_PATH is empty" : `looked for ${type} and ${type}.wasm in ${path.split(":").join(", ")}`;
  return fault("PLUGIN_NOT_FOUND", `failed to find plugin "${type}": ${places}`);
}
