// Links that are made in the pod's namespace: those that lie on another one, and those that stand alone.

import { fault } from "../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../src/fault/result.ts";
import { linkChange, linkRemoval, linkRequest } from "../netlink/link-change.ts";
import { newDummy, newIpvlan, newMacvlan, newVlan, newVrf, type NewUpper } from "../netlink/link-creation.ts";
import { linkStateIn } from "../netlink/link-state.ts";
import type { NetlinkRequest } from "../netlink/message.ts";
import { systemError } from "../netlink/system-error.ts";
import type {
  LinksDummy,
  LinksIpvlan,
  LinksLinkName,
  LinksMacvlan,
  LinksTap,
  LinksVlan,
  LinksVrf,
} from "../sandbox/abi/generated/delegate-0.1.0.ts";
import { type Acting, randomMac } from "./acting.ts";
import { linkText } from "./link-scope.ts";
import { refusalText } from "./namespaces.ts";

export function addMacvlan(acting: Acting, { parent, ...link }: LinksMacvlan): Promise<Result<void>> {
  // In passthru mode the parent's address is the link's, and one that is given becomes the parent's.
  const mac = link.mac ?? (link.mode === "passthru" ? undefined : randomMac());
  return addUpper(acting, parent, { ...link, mac }, (on) =>
    newMacvlan({ ...on, mode: link.mode, broadcastQueue: link.broadcastQueue }),
  );
}

export function addIpvlan(acting: Acting, { parent, ...link }: LinksIpvlan): Promise<Result<void>> {
  return addUpper(acting, parent, link, (on) => newIpvlan({ ...on, mode: link.mode }));
}

export function addVlan(acting: Acting, { parent, ...link }: LinksVlan): Promise<Result<void>> {
  return addUpper(acting, parent, link, (on) => newVlan({ ...on, id: link.id }));
}

async function addUpper(
  acting: Acting,
  parent: LinksLinkName,
  link: { readonly name: string; readonly mac?: string | undefined; readonly mtu?: number | undefined },
  message: (on: NewUpper) => NetlinkRequest,
): Promise<Result<void>> {
  const on = acting.link(parent);
  if (!on.ok) return on;
  const { name, mac, mtu } = link;
  const request = message({ name, mac, mtu, parent: on.value.index, away: parent.place === "host" });
  return learn(acting, name, await acting.make(parent.place, name, request, { in: "pod", mac }));
}

export async function addDummy(acting: Acting, { name, mtu, mac = randomMac() }: LinksDummy): Promise<Result<void>> {
  return learn(acting, name, await acting.make("pod", name, newDummy({ name, mac, mtu }), { mac }));
}

export async function addVrf(acting: Acting, { name, table }: LinksVrf): Promise<Result<void>> {
  const mac = randomMac();
  return learn(acting, name, await acting.make("pod", name, newVrf({ name, mac, table }), { mac }));
}

function learn(acting: Acting, name: string, made: Awaited<ReturnType<Acting["make"]>>): Result<void> {
  if (!made.ok) return made;
  const state = made.value;
  if (state !== undefined) acting.links.learn({ place: "pod", name, index: state.index, state, made: true });
  return ok(undefined);
}

/** A tap is made through a file of its own; the rest is messages. */
export async function addTap(acting: Acting, tap: LinksTap): Promise<Result<void>> {
  const { name, mac, mtu, multiQueue, owner, group } = tap;
  if (!(await acting.transaction.flush())) return acting.failed();
  const errno = await acting.namespaces.makeTap({
    name,
    multiQueue,
    ...(owner === undefined ? {} : { owner }),
    ...(group === undefined ? {} : { group }),
  });
  const what = `making ${linkText("pod", name)}`;
  if (errno !== 0) return failed(fault("NETLINK_FAILED", `links: ${acting.by}: ${what}: ${systemError(errno)}`));
  const removing = `removing ${linkText("pod", name)}`;
  acting.transaction.run(async () => ({
    undo: {
      what: removing,
      run: async () => {
        const [removed] = (await acting.namespaces.exchange("pod", [linkRemoval(name)])).answers;
        return removed === undefined || removed.errno === 0 ? undefined : refusalText(removed);
      },
    },
  }));
  const read = await acting.ask("pod", linkRequest(name), `reading ${linkText("pod", name)}`);
  if (!read.ok) return read;
  const [state] = read.value.messages.flatMap((message) => linkStateIn(message) ?? []);
  if (state === undefined) return failed(fault("NETLINK_FAILED", `links: ${acting.by}: ${what}: it is gone`));
  acting.links.learn({ place: "pod", name, index: state.index, state, made: true });
  if (mac !== undefined || mtu !== undefined)
    acting.transaction.send("pod", { request: linkChange(state.index, { mac, mtu }), what: `changing ${linkText("pod", name)}` });
  return ok(undefined);
}
