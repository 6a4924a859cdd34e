// A delegate that runs the actions in its configuration: `do` has a list of actions for each verb.
//   {"call": "ADD", "type": "host-local", "config": {…}, "anyway": true}   calls a plugin; `anyway` logs a failure and continues
//   {"end": "trap" | "spin" | "fail", "msg": "…", "details": "…"}          ends with a trap, an endless loop or a fault
//   {"log": "…"}                                                           logs a warning
//   {"end": "interface"}                                                   adds the attachment's interface to the result
// The result of an ADD is that of the last plugin.

import { AttachmentRequest, Fault, GcRequest, StatusRequest, Success, SuccessOrFault } from "plexus/abi/plugin";
import { Network, NetworkInterface } from "plexus/abi/types";
import * as delegation from "plexus/abi/delegation";
import * as log from "plexus/abi/log";
import { Config } from "plexus/config";
import { ownFault } from "plexus/faults";

export function add(request: AttachmentRequest): SuccessOrFault {
  return act("ADD", request.network, request.attachment.ifname);
}

export function del(request: AttachmentRequest): Fault | null {
  return faultOf(act("DEL", request.network, ""));
}

export function check(request: AttachmentRequest): Fault | null {
  return faultOf(act("CHECK", request.network, ""));
}

export function gc(request: GcRequest): Fault | null {
  return faultOf(act("GC", request.network, ""));
}

export function status(request: StatusRequest): Fault | null {
  return faultOf(act("STATUS", request.network, ""));
}

function faultOf(answer: SuccessOrFault): Fault | null {
  return answer.isOk ? null : answer.error;
}

function act(verb: string, network: Network, ifname: string): SuccessOrFault {
  const config = Config.of(network);
  const program = config.object("do");
  let result = new Success();
  if (program === null) return SuccessOrFault.ok(result);
  const actions = program.objects(verb);
  for (let i = 0; i < actions.length; i++) {
    const action = actions[i];
    const end = action.string("end");
    if (end !== null) {
      if (end == "trap") unreachable();
      if (end == "fail") return SuccessOrFault.err(requestedFault(action));
      if (end == "interface") result.interfaces.push(new NetworkInterface(ifname));
      while (end == "spin") {}
      continue;
    }
    const line = action.string("log");
    if (line !== null) {
      log.write(log.Level.Warn, line);
      continue;
    }
    const called = call(action);
    if (called.isOk) result = called.value;
    else if (!action.bool("anyway", false)) return called;
    else log.write(log.Level.Warn, `${called.error.code} ${called.error.msg}`);
  }
  const fault = config.fault;
  return fault === null ? SuccessOrFault.ok(result) : SuccessOrFault.err(fault);
}

function requestedFault(action: Config): Fault {
  const msg = action.string("msg");
  const fault = ownFault(133, msg === null ? "the configuration requests a failure" : msg);
  fault.details = action.string("details");
  return fault;
}

function call(action: Config): SuccessOrFault {
  const verb = textOf(action.string("call"));
  const type = textOf(action.string("type"));
  const member = action.member("config");
  const config: string | null = member === null ? null : member.isString ? member.asStringOrNull() : member.toString();
  if (verb == "ADD") return delegation.add(type, config);
  let fault: Fault | null = null;
  if (verb == "DEL") fault = delegation.del(type, config);
  if (verb == "CHECK") fault = delegation.check(type, config);
  if (verb == "GC") fault = delegation.gc(type, config);
  if (verb == "STATUS") fault = delegation.status(type, config);
  return fault === null ? SuccessOrFault.ok(new Success()) : SuccessOrFault.err(fault);
}

function textOf(text: string | null): string {
  return text === null ? "" : text;
}
