// The two network namespaces of a call, and messages sent in them.

import type { Fault } from "../../src/fault/fault.ts";
import type { Hands, TapEffect } from "../hands/hands.ts";
import { unreachable } from "../hands/unreachable.ts";
import { RTM_GETNSID } from "../netlink/link-attributes.ts";
import { decodeAnswers, encodeRequests, type NetlinkAnswer, type NetlinkRequest } from "../netlink/message.ts";
import { systemError } from "../netlink/system-error.ts";
import type { LinksPlace } from "../sandbox/abi/generated/delegate-0.1.0.ts";

/** What becomes of requests that were sent together. */
export interface Exchange {
  /** One for each request; undefined: what became of it is not known, or nothing where `sent` is false. */
  readonly answers: readonly (NetlinkAnswer | undefined)[];
  /** Whether the kernel has seen them. */
  readonly sent: boolean;
  /** 0: all were answered. */
  readonly errno: number;
}

const deadlineMs = 10_000;
/** The hands' own, which is the node's. */
const ownNamespace = "/proc/self/ns/net";
const ENOENT = 2;
const ENOTDIR = 20;
const EINVAL = 22;

export class Namespaces {
  readonly #hands: Pick<Hands, "netlink" | "tap">;
  /** Path of the pod's; empty: there is none. */
  readonly pod: string;

  constructor(hands: Pick<Hands, "netlink" | "tap">, pod: string) {
    this.#hands = hands;
    this.pod = pod;
  }

  /**
   * Sends requests together. `reaching`: they name the other namespace as the second one, which in the pod's none may but one that only asks for
   * its id: what is made or changed from there would be the node's.
   */
  async exchange(place: LinksPlace, requests: readonly NetlinkRequest[], reaching = false): Promise<Exchange> {
    const back = place === "pod" && reaching;
    if (back && requests.some(({ type }) => type !== RTM_GETNSID))
      throw new Error("a message in the pod's namespace may not name the node's");
    if ((place === "pod" || reaching) && this.pod === "")
      return { answers: requests.map(() => undefined), sent: false, errno: ENOENT };
    const { errno, sent, reply } = await this.#hands.netlink({
      path: place === "pod" ? this.pod : "",
      request: encodeRequests(requests),
      deadlineMs,
      foreign: !back,
      ...(reaching ? { second: back ? ownNamespace : this.pod } : {}),
    });
    return { answers: decodeAnswers(reply, requests.length), sent, errno };
  }

  /** Makes a tap in the pod's namespace. Answers 0 or an errno. */
  async makeTap(tap: Omit<TapEffect, "path">): Promise<number> {
    return this.pod === "" ? ENOENT : (await this.#hands.tap({ ...tap, path: this.pod })).errno;
  }

  /** Why requests could not be sent. */
  unreachable(errno: number): Fault {
    return unreachable("NETLINK_FAILED", "links", this.pod, errno);
  }
}

/** Whether the pod's namespace is gone, by what entering it failed with. */
export function isGone({ sent, errno }: Pick<Exchange, "sent" | "errno">): boolean {
  return !sent && (errno === ENOENT || errno === ENOTDIR || errno === EINVAL);
}

/** The kernel's refusal, in its own words where it has some. */
export function refusalText({ errno, words }: NetlinkAnswer): string {
  return `${systemError(errno)}${words === "" ? "" : `: ${words}`}`;
}
