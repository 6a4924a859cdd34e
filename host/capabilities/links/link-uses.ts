// The links that an operation uses, and their use. The scope is checked by them. No I/O.

import type { LinksOperation, LinksPlace } from "../../sandbox/abi/generated/delegate-1.1.0.ts";
import type { GrantKey, Role } from "./link-scope.ts";

/** The use that an operation makes of a link. */
export type Use =
  /** The operation makes the link unless it exists. */
  | "ensure"
  /** Another link becomes its port. */
  | "master"
  /** The link becomes the lower link of a new link. */
  | "parent"
  /** The operation makes the link, which must not exist. */
  | "make"
  | "remove"
  /** The link becomes the port of a bridge or a VRF; nothing else about the link changes. */
  | "join"
  | "change"
  | "port"
  | "vlans"
  /** Changes of the link's addresses, routes and neighbours. */
  | "layer3"
  | "setting"
  | "settle"
  | "read";

/** The use of one link by an operation. */
export interface LinkUse {
  readonly place: LinksPlace;
  readonly name: string;
  readonly use: Use;
}

/** For each use of a link of the node: the roles that allow it, and the key of the grant that a refusal names. */
export const nodeUseRules: { readonly [U in Use]: { readonly roles: readonly Role[]; readonly key: GrantKey } } = {
  ensure: { roles: ["bridge", "gateway"], key: "bridges" },
  master: { roles: ["bridge"], key: "bridges" },
  parent: { roles: ["parent"], key: "parents" },
  make: { roles: [], key: "bridges" },
  remove: { roles: ["attachment"], key: "bridges" },
  join: { roles: ["attachment", "uplink"], key: "uplinks" },
  change: { roles: ["attachment", "bridge", "gateway"], key: "bridges" },
  port: { roles: ["attachment"], key: "bridges" },
  vlans: { roles: ["attachment", "bridge", "uplink"], key: "bridges" },
  layer3: { roles: ["attachment", "bridge", "gateway"], key: "bridges" },
  setting: { roles: ["attachment", "bridge", "gateway"], key: "bridges" },
  settle: { roles: ["attachment", "bridge", "gateway"], key: "bridges" },
  read: { roles: ["attachment", "bridge", "gateway", "uplink", "parent"], key: "bridges" },
};

/** The name of the gateway of a bridge's VLAN. */
export function gatewayName({ bridge, id }: { readonly bridge: string; readonly id: number }): string {
  return `${bridge}.${id}`;
}

function on(place: LinksPlace, name: string, use: Use): LinkUse {
  return { place, name, use };
}

/** In the order of the apply's answer: the link that the operation makes or changes, then the other links that it names. */
export function linkUsesOf(operation: LinksOperation): readonly LinkUse[] {
  switch (operation.tag) {
    case "ensure-bridge":
      return [on("host", operation.val.name, "ensure")];
    case "ensure-vlan-gateway":
      return [on("host", gatewayName(operation.val), "ensure"), on("host", operation.val.bridge, "master")];
    case "add-veth": {
      const { name, hostName, master } = operation.val;
      return [
        on("pod", name, "make"),
        ...(hostName === undefined ? [] : [on("host", hostName, "make")]),
        ...(master === undefined ? [] : [on("host", master, "master")]),
      ];
    }
    case "add-macvlan":
    case "add-ipvlan":
    case "add-vlan":
      return [on("pod", operation.val.name, "make"), on(operation.val.parent.place, operation.val.parent.name, "parent")];
    case "add-dummy":
    case "add-vrf":
    case "add-tap":
    case "add-bond":
    case "take-device":
      return [on("pod", operation.val.name, "make")];
    case "give-back":
      return [on("pod", operation.val, "remove")];
    case "delete-link":
      return [on(operation.val.place, operation.val.name, "remove")];
    case "change-link": {
      const { link, master, alternativeNames, ...rest } = operation.val;
      const joinsOnly =
        master !== undefined && alternativeNames.length === 0 && Object.values(rest).every((member) => member === undefined);
      return [
        on(link.place, link.name, joinsOnly ? "join" : "change"),
        ...(master === undefined || master === "" ? [] : [on(link.place, master, "master")]),
      ];
    }
    case "change-port":
      return [on("host", operation.val.link, "port")];
    case "add-port-vlan":
    case "delete-port-vlan":
      return [on("host", operation.val.link, "vlans")];
    case "add-address":
    case "ensure-address":
    case "delete-address":
    case "add-neighbour":
    case "delete-neighbour":
      return [on(operation.val.link.place, operation.val.link.name, "layer3")];
    case "add-route":
    case "delete-route":
      return operation.val.link === undefined ? [] : [on(operation.val.link.place, operation.val.link.name, "layer3")];
    case "set-interface":
      return [on(operation.val.link.place, operation.val.link.name, "setting")];
    case "settle":
      return [on(operation.val.link.place, operation.val.link.name, "settle")];
    case "enable-forwarding":
    case "set-vf":
      return [];
    default:
      return operation satisfies never;
  }
}
