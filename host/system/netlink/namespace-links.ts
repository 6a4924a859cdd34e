// The links of a pod's network namespace with the namespace's cookie, and the changes by which Plexus undoes an attachment itself.

import { fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import { EBUSY, EINTR, EINVAL, ENODEV, ENOENT, ENOTDIR } from "../errno.ts";
import { systemError } from "../system-error.ts";
import { deadlineMs, maxDumps, type NetlinkSender } from "./exchange.ts";
import { linksRequest } from "./link.ts";
import { linkChange, linkRemoval, linkRename, linkRequest, nameRemoval } from "./link-change.ts";
import { type LinkState, linkStatesIn } from "./link-state.ts";
import { decodeAnswers, encodeRequests, interruptedText, type NetlinkAnswer, type NetlinkRequest } from "./message.ts";
import { u16At, u32At } from "./bytes.ts";

/** A network namespace as one look shows it. */
export interface NamespaceLinks {
  readonly links: readonly LinkState[];
  /** Undefined where the kernel or the shim gives none. */
  readonly cookie: string | undefined;
}

/**
 * Lists the links of the namespace at this path; `gone`: there is no namespace. Fault NETLINK_FAILED: the shim may not enter the namespace, the kernel
 * refused, or concurrent changes interrupted each list, so that none was whole.
 */
export async function lookIntoNamespace(shim: NetlinkSender, path: string): Promise<Result<NamespaceLinks | "gone">> {
  for (let tries = 1; ; tries++) {
    const { errno, sent, answer, cookie } = await ask(shim, path, linksRequest);
    if (!sent && (errno === ENOENT || errno === ENOTDIR || errno === EINVAL)) return ok("gone");
    if (answer === undefined || answer.errno !== 0)
      return failed(failure(`listing the links of ${path}`, answer?.errno ?? errno, answer));
    if (!answer.interrupted) return ok({ links: linkStatesIn(answer), cookie });
    // A list that is not whole must not make a link count as gone.
    if (tries === maxDumps)
      return failed(failure(`listing the links of ${placeOf(path)}: ${interruptedText(maxDumps)}`, EINTR, answer));
  }
}

/** The index of `lo`, which each network namespace has. */
const LOOPBACK = 1;

/** Whether another network namespace has the path of the one with this cookie. False: it is the same, or this cannot be told. */
export async function isAnotherNamespace(shim: NetlinkSender, path: string, cookie: string | undefined): Promise<boolean> {
  if (cookie === undefined) return false;
  const shown = (await ask(shim, path, linkRequest(LOOPBACK))).cookie;
  return shown !== undefined && shown !== cookie;
}

/** Whether there is no network namespace at this path any more. False: there is one, or this cannot be told. */
export async function isGone(shim: NetlinkSender, path: string): Promise<boolean> {
  const seen = await findInNamespace(shim, path, { indexes: [LOOPBACK], names: [] });
  return seen.ok && seen.value === "gone";
}

/** The links that a look asks for. */
export interface WantedLinks {
  readonly indexes: readonly number[];
  readonly names: readonly string[];
}

/** Maximum number of links in one send: their messages have 64 KiB and more, and must fit into the socket's receive buffer. */
const maxTogether = 6;

/**
 * Looks for some links of the namespace at this path; `gone`: there is no namespace. A pod can make a list of all its links as long as it likes, or change
 * them until no list is whole; neither concerns this look. Fault NETLINK_FAILED.
 */
export async function findInNamespace(
  shim: NetlinkSender,
  path: string,
  { indexes, names }: WantedLinks,
): Promise<Result<NamespaceLinks | "gone">> {
  const found = new Map<number, LinkState>();
  const wanted = [...new Set<string | number>([...indexes, ...names])];
  let cookie: string | undefined;
  for (let at = 0; at < wanted.length; at += maxTogether) {
    const some = wanted.slice(at, at + maxTogether);
    const request = encodeRequests(some.map(linkRequest));
    const { errno, sent, reply } = await shim.netlink({ path, request, deadlineMs });
    if (!sent && (errno === ENOENT || errno === ENOTDIR || errno === EINVAL)) return ok("gone");
    cookie = namespaceCookieIn(reply);
    for (const [index, answer] of decodeAnswers(reply, some.length).entries()) {
      if (answer === undefined || (answer.errno !== 0 && answer.errno !== ENODEV))
        return failed(failure(`looking for link ${some[index]} of ${placeOf(path)}`, answer?.errno ?? errno, answer));
      for (const link of linkStatesIn(answer)) found.set(link.index, link);
    }
  }
  return ok({ links: [...found.values()], cookie });
}

/** Takes an alternative name from a link. Fault NETLINK_FAILED. */
export async function takeName(
  shim: NetlinkSender,
  path: string,
  { index, name }: LinkName,
  taken: string,
): Promise<Result<void>> {
  const { errno, answer } = await ask(shim, path, nameRemoval(index, taken));
  if (answer?.errno === 0) return ok(undefined);
  return failed(failure(`taking the name ${taken} from link ${name} of ${placeOf(path)}`, answer?.errno ?? errno, answer));
}

/** Removes a link by its index. A link or a namespace that does not exist is no fault. Fault NETLINK_FAILED. */
export async function removeLink(shim: NetlinkSender, path: string, { index, name }: LinkName): Promise<Result<void>> {
  const { errno, sent, answer } = await ask(shim, path, linkRemoval(index));
  if (!sent && (errno === ENOENT || errno === ENOTDIR || errno === EINVAL)) return ok(undefined);
  if (answer?.errno === 0 || answer?.errno === ENODEV) return ok(undefined);
  return failed(failure(`removing link ${name} of ${placeOf(path)}`, answer?.errno ?? errno, answer));
}

/** Renames a link. Fault NETLINK_FAILED. */
export async function renameLink(
  shim: NetlinkSender,
  path: string,
  { index, name }: LinkName,
  newName: string,
): Promise<Result<void>> {
  let { errno, answer } = await ask(shim, path, linkRename(index, newName));
  if (answer?.errno === EBUSY) {
    await ask(shim, path, linkChange(index, { up: false }));
    ({ errno, answer } = await ask(shim, path, linkRename(index, newName)));
  }
  if (answer?.errno === 0) return ok(undefined);
  return failed(failure(`renaming link ${name} of ${placeOf(path)} to ${newName}`, answer?.errno ?? errno, answer));
}

type LinkName = Pick<LinkState, "index" | "name">;

interface Asked {
  readonly errno: number;
  readonly sent: boolean;
  readonly answer: NetlinkAnswer | undefined;
  readonly cookie: string | undefined;
}

async function ask(shim: NetlinkSender, path: string, request: NetlinkRequest): Promise<Asked> {
  const { errno, sent, reply } = await shim.netlink({ path, request: encodeRequests([request]), deadlineMs });
  return { errno, sent, answer: decodeAnswers(reply, 1)[0], cookie: namespaceCookieIn(reply) };
}

function placeOf(path: string): string {
  return path === "" ? "the node" : path;
}

function failure(action: string, errno: number, answer: NetlinkAnswer | undefined): ReturnType<typeof fault> {
  const text = answer === undefined || answer.errorText === "" ? "" : `: ${answer.errorText}`;
  return fault("NETLINK_FAILED", `${action}: ${systemError(errno)}${text}`);
}

/** The message with the cookie, which the shim appends to the kernel's answers (host/shim/PROTOCOL.md): its size, type and sender. */
const cookieMessage = { size: 24, type: 1, sender: 0x78656c70 } as const;

/**
 * The cookie of the namespace that the answers come from, in decimal; undefined where the kernel or the shim gives none. Unique in a boot: the
 * kernel never gives it to another namespace.
 */
export function namespaceCookieIn(reply: Uint8Array): string | undefined {
  const { size, type, sender } = cookieMessage;
  const at = reply.length - size;
  const isCookie =
    at >= 0 &&
    u32At(reply, at) === size &&
    u16At(reply, at + 4) === type &&
    u32At(reply, at + 8) === 0 &&
    u32At(reply, at + 12) === sender;
  if (!isCookie) return undefined;
  return (BigInt(u32At(reply, at + 16)) + (BigInt(u32At(reply, at + 20)) << 32n)).toString();
}
