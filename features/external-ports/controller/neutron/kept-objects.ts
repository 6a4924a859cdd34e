// Objects of Neutron that seldom change, kept for a minute: each port needs its subnet and network.

import { isJsonObject } from "../../../../src/json/document.ts";
import { systemClock } from "../../../../host/system/clock.ts";
import { failure } from "../provider.ts";
import type { Body, NeutronClient, NeutronFailure } from "./client.ts";

const keptMs = 60_000;
/** Maximum objects that are kept: a hostile author's definitions name many subnets. */
const maxKept = 1_000;

/** Objects of one kind. */
export class KeptObjects {
  readonly #client: NeutronClient;
  readonly #kind: string;
  readonly #kept = new Map<string, { readonly object: Body; readonly endsAt: number }>();

  constructor(client: NeutronClient, kind: "subnet" | "network") {
    this.#client = client;
    this.#kind = kind;
  }

  /** The object with this ID. */
  async get(id: string): Promise<{ readonly ok: true; readonly value: Body } | NeutronFailure> {
    const kept = this.#kept.get(id);
    if (kept !== undefined && systemClock.now() < kept.endsAt) return { ok: true, value: kept.object };
    const answer = await this.#client.send("GET", `/${this.#kind}s/${encodeURIComponent(id)}`);
    if (!answer.ok) return answer;
    const object = answer.value[this.#kind];
    if (!isJsonObject(object)) return failure("unavailable", `Neutron's answer for ${this.#kind} ${id} has none`);
    if (this.#kept.size >= maxKept) this.#kept.clear();
    this.#kept.set(id, { object, endsAt: systemClock.now() + keptMs });
    return { ok: true, value: object };
  }
}
