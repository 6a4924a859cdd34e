// Hands that no runtime called: `plexus hands`, which holds a connection open for what the daemon does on its own.

import type { Request } from "../hands/messages.ts";
import type { Environment } from "../hands/fields.ts";
import type { ConnectedHands } from "./connected-hands.ts";

/** One process `plexus hands`. */
export interface ResidentConnection {
  readonly hands: ConnectedHands;
  /** Theirs; they look for plugins on its CNI_PATH and nowhere else. */
  readonly environment: Environment;
}

/** A call that nobody makes but the brain. */
export interface OwnCall {
  /** `CNI_COMMAND` and what else the verb needs; CNI_PATH is the hands' own, whatever is said here. */
  readonly variables: Environment;
  readonly stdin: Uint8Array;
}

/** Those that are connected; the newest is the one to use. */
export class ResidentHands {
  readonly #connected: ResidentConnection[] = [];

  /** How many there are. */
  get count(): number {
    return this.#connected.length;
  }

  get newest(): ResidentConnection | undefined {
    return this.#connected.at(-1);
  }

  /** Answers how to take them away again. */
  add(connection: ResidentConnection): () => void {
    this.#connected.push(connection);
    return () => void this.#connected.splice(this.#connected.indexOf(connection), 1);
  }
}

/** The call as hands that were started for it would have passed it on. */
export function requestOf({ variables, stdin }: OwnCall, environment: Environment): Request {
  const inherited = [...environment].filter(([key]) => !key.startsWith("CNI_"));
  const whole = new Map([...inherited, ...variables]);
  whole.set("CNI_PATH", environment.get("CNI_PATH") ?? "");
  return { kind: "request", name: "plexus", environment: whole, stdin, under: 0 };
}
