// For tests: the links and routes of a network namespace without a kernel. Answers NETLINK as rtnetlink does.

import type { Done } from "../../protocol/messages.ts";
import type { NetlinkEffect } from "../../protocol/shim.ts";
import { ENODEV } from "../../system/errno.ts";
import { attribute, Attributes, encodeRequests } from "../../system/netlink/message.ts";
import { aligned, concat, cString, putU16, putU32, u16At, u32, u32At } from "../../system/netlink/bytes.ts";
import { IFINFOMSG, IFLA_IFNAME, ifinfomsg, NLM_F_DUMP, RTM_GETLINK, RTM_NEWLINK } from "../../system/netlink/link-attributes.ts";
import { defaultRouteAddition, type DefaultRoute, type Route, routeIn } from "../../system/netlink/route.ts";
import { done } from "./scripted-shim.ts";

const NLMSG_ERROR = 2;
const NLMSG_DONE = 3;
const RTM_NEWROUTE = 24;
const RTM_DELROUTE = 25;
const RTM_GETROUTE = 26;
const header = 16;

/** An IPv4 or IPv6 default route in short: gateway, link, metric. */
export type RouteText = string;

/** A network namespace with links and routes, which a scripted shim answers from. */
export class ScriptedRoutes {
  /** Index and name of each link. */
  readonly links = new Map<number, string>();
  /** The requested changes in order: `delete ROUTE` and `add ROUTE`. */
  readonly changes: RouteText[] = [];
  /** The errno of a change, by its line in `changes`; 0 for success. */
  refuse: (line: RouteText) => number = () => 0;
  /** Bodies of RTM_NEWROUTE. */
  #routes: Uint8Array[];

  constructor(routes: readonly DefaultRoute[]) {
    this.#routes = routes.map((route) => defaultRouteAddition(route).body);
  }

  /** Adds a route from the body of an RTM_NEWROUTE message. */
  addMessage(body: Uint8Array): void {
    this.#routes.push(body);
  }

  /** The current routes. */
  get routes(): readonly RouteText[] {
    return this.#routes.map((body) => this.#textOf(body));
  }

  /** Answers the first message of a NETLINK. */
  answer({ request }: Pick<NetlinkEffect, "request">): Done {
    const type = u16At(request, 4);
    const body = request.subarray(header, u32At(request, 0));
    switch (type) {
      case RTM_GETLINK:
        if ((u16At(request, 6) & NLM_F_DUMP) !== NLM_F_DUMP) return this.#single(request);
        return dump(RTM_NEWLINK, [...this.links].map(linkMessage));
      case RTM_GETROUTE:
        return dump(
          RTM_NEWROUTE,
          this.#routes.filter((route) => route[0] === body[0]),
        );
      case RTM_DELROUTE:
        return this.#change(`delete ${this.#textOf(body)}`, () => {
          this.#routes = this.#routes.filter((route) => this.#textOf(route) !== this.#textOf(body));
        });
      case RTM_NEWROUTE:
        return this.#change(`add ${this.#textOf(body)}`, () => void this.#routes.push(body.slice()));
      default:
        return acknowledged(0);
    }
  }

  /** Answers requests for one link each. */
  #single(requests: Uint8Array): Done {
    const answers: Uint8Array[] = [];
    let number = 0;
    for (let at = 0; at < requests.length; at += aligned(u32At(requests, at))) {
      const body = requests.subarray(at + header, at + u32At(requests, at));
      const name = new Attributes(body, IFINFOMSG).text(IFLA_IFNAME);
      const found = [...this.links].find((link) => (name === "" ? link[0] === u32At(body, 4) : link[1] === name));
      number++;
      if (found !== undefined) answers.push(message(RTM_NEWLINK, linkMessage(found), number));
      answers.push(message(NLMSG_ERROR, concat([u32(found === undefined ? -ENODEV : 0), new Uint8Array(header)]), number));
    }
    return done(0, concat(answers));
  }

  #change(line: RouteText, make: () => void): Done {
    this.changes.push(line);
    const errno = this.refuse(line);
    if (errno === 0) make();
    return acknowledged(errno);
  }

  #textOf(body: Uint8Array): RouteText {
    const route: Route | undefined = routeIn({ type: RTM_NEWROUTE, body });
    if (route === undefined) throw new Error("the message is not a route");
    const { dst, gateway, oif, metric, onlink } = route;
    const link = oif === undefined ? "" : ` dev ${this.links.get(oif)}`;
    return `${dst}${gateway === undefined ? "" : ` via ${gateway}`}${link} metric ${metric}${onlink ? " onlink" : ""}`;
  }
}

/** The body of a route that is not unicast: `unreachable`, for example. */
export function routeOfType(route: DefaultRoute, type: number): Uint8Array {
  const body = defaultRouteAddition(route).body.slice();
  body[7] = type;
  return body;
}

function linkMessage([index, name]: readonly [number, string]): Uint8Array {
  return concat([ifinfomsg(index), attribute(IFLA_IFNAME, cString(name))]);
}

/** The messages of a dump and its end. Every request of the engine has the sequence number 1. */
function dump(type: number, bodies: readonly Uint8Array[]): Done {
  const messages = bodies.map((body) => encodeRequests([{ type, flags: 0, body }]));
  return done(0, concat([...messages, message(NLMSG_DONE, u32(0))]));
}

function acknowledged(errno: number): Done {
  const request = new Uint8Array(header);
  return done(0, message(NLMSG_ERROR, concat([u32(-errno >>> 0), request])));
}

function message(type: number, body: Uint8Array, number = 1): Uint8Array {
  const whole = new Uint8Array(aligned(header + body.length));
  putU32(whole, 0, header + body.length);
  putU16(whole, 4, type);
  putU32(whole, 8, number);
  whole.set(body, header);
  return whole;
}
