// The two network namespaces of a call, the node's and the pod's, and the messages that are sent in them.

import type { Fault } from "../../../src/fault/fault.ts";
import type { NetlinkEffects, TapEffects, TapEffect } from "../../protocol/shim.ts";
import { unreachable } from "../../protocol/unreachable.ts";
import { deadlineMs } from "../../system/netlink/exchange.ts";
import { RTM_GETNSID } from "../../system/netlink/link-attributes.ts";
import { linkMove } from "../../system/netlink/link-move.ts";
import { decodeAnswers, encodeRequests, type NetlinkAnswer, type NetlinkRequest } from "../../system/netlink/message.ts";
import { systemError } from "../../system/system-error.ts";
import type { LinksPlace } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import { EINVAL, ENOENT, ENOTDIR } from "../../system/errno.ts";

/** Maximum number of requests for one dump that concurrent changes interrupt. */
export const maxDumps = 10;

/** The outcome of requests that were sent together. */
export interface Exchange {
  /** The kernel's answer to each request; undefined where it is missing. */
  readonly answers: readonly (NetlinkAnswer | undefined)[];
  /** Whether the kernel received the requests. False: nothing was done. */
  readonly sent: boolean;
  /** 0: all requests were answered. */
  readonly errno: number;
}

/** The effects of the shim that act in the two namespaces. */
export interface NamespaceShim extends NetlinkEffects, TapEffects {}

/** The shim's network namespace, which is the node's. */
const nodeNetns = "/proc/self/ns/net";

/** Sends requests to one of the call's two network namespaces. */
export class Namespaces {
  readonly #shim: NamespaceShim;
  /** Path of the pod's network namespace; empty where there is none. */
  readonly podNetns: string;

  constructor(shim: NamespaceShim, podNetns: string) {
    this.#shim = shim;
    this.podNetns = podNetns;
  }

  /**
   * Sends requests together. `usesSecondNamespace`: the requests name the other namespace as the second one. In the pod's namespace only a
   * request for a namespace id may do so: a change would act in the node's namespace.
   */
  async exchange(place: LinksPlace, requests: readonly NetlinkRequest[], usesSecondNamespace = false): Promise<Exchange> {
    const namesNode = place === "pod" && usesSecondNamespace;
    if (namesNode && requests.some(({ type }) => type !== RTM_GETNSID))
      throw new Error("a message in the pod's namespace may not name the node's");
    if ((place === "pod" || usesSecondNamespace) && this.podNetns === "")
      return { answers: requests.map(() => undefined), sent: false, errno: ENOENT };
    const { errno, sent, reply } = await this.#shim.netlink({
      path: place === "pod" ? this.podNetns : "",
      request: encodeRequests(requests),
      deadlineMs,
      ...(namesNode ? { allowsOwn: true } : {}),
      ...(usesSecondNamespace ? { second: namesNode ? nodeNetns : this.podNetns } : {}),
    });
    return { answers: decodeAnswers(reply, requests.length), sent, errno };
  }

  /**
   * Moves a link of the pod to the node, where it has the name. It is the only change in the pod's namespace that names the node's: the caller has
   * found the link by the identity of a device that came from the node.
   */
  async returnLink(index: number, name: string): Promise<Exchange> {
    if (this.podNetns === "") return { answers: [undefined], sent: false, errno: ENOENT };
    const { errno, sent, reply } = await this.#shim.netlink({
      path: this.podNetns,
      request: encodeRequests([linkMove(index, name)]),
      deadlineMs,
      allowsOwn: true,
      second: nodeNetns,
    });
    return { answers: decodeAnswers(reply, 1), sent, errno };
  }

  /** Makes a TAP link in the pod's namespace. Answers 0 or an errno. */
  async makeTap(tap: Omit<TapEffect, "path">): Promise<number> {
    return this.podNetns === "" ? ENOENT : (await this.#shim.tap({ ...tap, path: this.podNetns })).errno;
  }

  /** The fault of requests that could not be sent. */
  unreachable(errno: number): Fault {
    return unreachable("NETLINK_FAILED", "links", this.podNetns, errno);
  }
}

/** Whether the pod's namespace no longer exists, judged by the errno of entering it. */
export function isGone({ sent, errno }: Pick<Exchange, "sent" | "errno">): boolean {
  return !sent && (errno === ENOENT || errno === ENOTDIR || errno === EINVAL);
}

/** The errno of the kernel's refusal, and its error text where it gives one. */
export function refusalText({ errno, errorText }: NetlinkAnswer): string {
  return `${systemError(errno)}${errorText === "" ? "" : `: ${errorText}`}`;
}
