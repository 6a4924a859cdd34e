// Sends traffic control's messages in the node's network namespace. A refusal becomes a fault that names the action and modules that the kernel may lack.

import { fault, type Fault } from "../../../src/fault/fault.ts";
import { failed, ok, type Result } from "../../../src/fault/result.ts";
import type { NetlinkEffects, TapEffects } from "../../protocol/shim.ts";
import { EINTR, ENOENT, EOPNOTSUPP } from "../../system/errno.ts";
import { deadlineMs, maxDumps } from "../../system/netlink/exchange.ts";
import { decodeAnswers, encodeRequests, type NetlinkAnswer, type NetlinkRequest } from "../../system/netlink/message.ts";
import { type Listed, listedIn, qdiscsRequest } from "../../system/netlink/traffic-control.ts";
import { systemError } from "../../system/system-error.ts";

/** The effect of the shim that `shaping` needs. */
export interface ShapingShim extends NetlinkEffects, TapEffects {}

/** One message, and the action for its fault: `adding the token bucket of veth1`. */
export interface Message {
  readonly request: NetlinkRequest;
  readonly action: string;
}

/** Sends messages in order. The kernel carries on after a refusal; the first one is the fault. */
export async function send(shim: ShapingShim, messages: readonly Message[]): Promise<Result<readonly NetlinkAnswer[]>> {
  if (messages.length === 0) return ok([]);
  const { errno, reply } = await shim.netlink({
    path: "",
    request: encodeRequests(messages.map(({ request }) => request)),
    deadlineMs,
  });
  const [first] = messages;
  if (errno !== 0) return failed(failure(first?.action ?? "", systemError(errno)));
  const answers: NetlinkAnswer[] = [];
  for (const [index, answer] of decodeAnswers(reply, messages.length).entries()) {
    const { action = "" } = messages[index] ?? {};
    if (answer === undefined) return failed(failure(action, "the kernel's answer is incomplete"));
    if (answer.errno !== 0) return failed(failure(action, refusalText(answer)));
    answers.push(answer);
  }
  return ok(answers);
}

/** Requests a list. */
export async function list(shim: ShapingShim, message: Message): Promise<Result<NetlinkAnswer["messages"]>> {
  for (let tries = 1; ; tries++) {
    const answers = await send(shim, [message]);
    if (!answers.ok) return answers;
    const [answer] = answers.value;
    if (answer === undefined || !answer.interrupted || tries === maxDumps) {
      return answer?.interrupted === true
        ? failed(failure(message.action, `${systemError(EINTR)}: concurrent changes interrupted the list ${maxDumps} times`))
        : ok(answer?.messages ?? []);
    }
  }
}

/** Requests qdiscs, classes or filters. */
export async function listTraffic(shim: ShapingShim, message: Message): Promise<Result<readonly Listed[]>> {
  const messages = await list(shim, message);
  return messages.ok ? ok(messages.value.flatMap((each) => listedIn(each) ?? [])) : messages;
}

/** All qdiscs of the node; none on a kernel without traffic control, so that a DEL succeeds there. */
export async function listQdiscs(shim: ShapingShim): Promise<Result<readonly Listed[]>> {
  const message: Message = { request: qdiscsRequest, action: "listing the qdiscs" };
  const listed = await listTraffic(shim, message);
  if (listed.ok) return listed;
  const { errno, reply } = await shim.netlink({ path: "", request: encodeRequests([qdiscsRequest]), deadlineMs });
  const isAbsent = errno === 0 && decodeAnswers(reply, 1)[0]?.errno === EOPNOTSUPP;
  return isAbsent ? ok([]) : listed;
}

function refusalText({ errno, errorText }: NetlinkAnswer): string {
  const reason = `${systemError(errno)}${errorText === "" ? "" : `: ${errorText}`}`;
  const lacks = errno === ENOENT || errno === EOPNOTSUPP;
  return lacks ? `${reason}; the kernel may lack a module (sch_tbf, sch_htb, sch_ingress, cls_u32, act_mirred, ifb)` : reason;
}

/** Fault: NETLINK_FAILED. */
export function failure(action: string, reason: string): Fault {
  return fault("NETLINK_FAILED", `shaping: ${action}: ${reason}`);
}
