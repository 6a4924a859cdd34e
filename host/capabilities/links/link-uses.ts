// Which links an operation uses, and what for: what the scope is checked by. No I/O.

import type { LinksOperation, LinksPlace } from "../sandbox/abi/generated/delegate-0.1.0.ts";
import type { GrantKey, Role } from "./link-scope.ts";

export type Use =
  /** It is made unless it is there. */
  | "ensure"
  /** Something becomes its port. */
  | "master"
  /** Something comes to lie on it. */
  | "parent"
  /** It is made, and must not be there. */
  | "make"
  | "remove"
  /** It becomes the port of a bridge, or a VRF's, and nothing else about it changes. */
  | "join"
  | "change"
  | "port"
  | "vlans"
  /** Its addresses, routes and neighbours. */
  | "layer3"
  | "setting"
  | "settle"
  | "read";

export interface Demand {
  readonly place: LinksPlace;
  readonly name: string;
  readonly use: Use;
}

/** As what a link of the node may be put to a use, and the key of the grant that would allow it. */
export const usesOnNode: { readonly [U in Use]: { readonly roles: readonly Role[]; readonly key: GrantKey } } = {
  ensure: { roles: ["bridge", "gateway"], key: "bridges" },
  master: { roles: ["bridge"], key: "bridges" },
  parent: { roles: ["parent"], key: "parents" },
  make: { roles: [], key: "bridges" },
  remove: { roles: ["own"], key: "bridges" },
  join: { roles: ["own", "uplink"], key: "uplinks" },
  change: { roles: ["own", "bridge", "gateway"], key: "bridges" },
  port: { roles: ["own"], key: "bridges" },
  vlans: { roles: ["own", "bridge", "uplink"], key: "bridges" },
  layer3: { roles: ["bridge", "gateway"], key: "bridges" },
  setting: { roles: ["own", "bridge", "gateway"], key: "bridges" },
  settle: { roles: ["own", "bridge", "gateway"], key: "bridges" },
  read: { roles: ["own", "bridge", "gateway", "uplink", "parent"], key: "bridges" },
};

export function gatewayName({ bridge, id }: { readonly bridge: string; readonly id: number }): string {
  return `${bridge}.${id}`;
}

function on(place: LinksPlace, name: string, use: Use): Demand {
  return { place, name, use };
}

/** In the order in which the links are answered: what is made or changed, then what it is made or changed with. */
export function demandsOf(operation: LinksOperation): readonly Demand[] {
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
      return [on("pod", operation.val.name, "make")];
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
      return [];
    default:
      return operation satisfies never;
  }
}
