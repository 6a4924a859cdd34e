// Converts a vector's question to the ABI's records, and the records of an answer to CNI's JSON, like the host does.

import { printResult } from "../../../src/cni/convert-result.ts";
import { parseCniArgs } from "../../../src/cni/environment.ts";
import { readResult } from "../../../src/cni/read-result.ts";
import type { ResultDns, ResultInterface, ResultIp, ResultRoute } from "../../../src/cni/result.ts";
import { toVersion, type CniVersion } from "../../../src/cni/versions.ts";
import type { Result } from "../../../src/fault/result.ts";
import { editMembers, memberText, memberValue, parseDocument, type JsonObjectDocument } from "../../../src/json/document.ts";
import { podIdentity } from "../../../src/kube/pod-identity.ts";
import { allCapabilities } from "./all-capabilities.ts";
import type { AttachmentIdRecord, CallRecord, DelegateCall, NetworkRecord, SuccessRecord } from "./records.ts";
import type { ScriptedAnswers } from "./scripted-delegation.ts";
import type { Vector } from "./vector.ts";

function valueOf<T>(result: Result<T>): T {
  if (!result.ok) throw new Error(result.fault.msg);
  return result.value;
}

/** The plugins' answers in a vector, with results as records. */
export function plugins(vector: Vector): Record<string, ScriptedAnswers> {
  const version = versionOf(vector);
  const answers = Object.entries(vector.plugins ?? {}).map(([type, verbs]) => {
    const answersByVerb = Object.entries(verbs).map(([verb, answered]) => [
      verb,
      [answered]
        .flat()
        .map(({ result, error }) =>
          bare({ error, result: result === undefined ? undefined : recordOf(JSON.stringify(result), version) }),
        ),
    ]);
    return [type, Object.fromEntries(answersByVerb)];
  });
  return Object.fromEntries(answers);
}

/** The CNI version of a vector's configuration. */
export function versionOf(vector: Vector): CniVersion {
  const named = vector.stdin["cniVersion"];
  return valueOf(toVersion(typeof named === "string" ? named : "0.1.0"));
}

/** The host's call for a vector. Throws an Error if the host would not call the delegate at all. */
export function callOf(vector: Vector): DelegateCall {
  const document = valueOf(parseDocument(vector.stdinText, { what: vector.name }));
  const network: NetworkRecord = {
    cniVersion: versionOf(vector),
    name: String(memberValue(document, "name") ?? ""),
    config: editMembers(document, new Map([["prevResult", undefined]])),
  };
  const call: CallRecord = { remainingMs: vector.remainingMs, granted: vector.granted ?? allCapabilities };
  switch (vector.verb) {
    case "STATUS":
      return { verb: "status", request: { call, network } };
    case "GC":
      return { verb: "gc", request: { call, network, valid: validOf(document) } };
    default: {
      const netns = vector.env["CNI_NETNS"] ?? "";
      const previous = memberText(document, "prevResult");
      return {
        verb: ({ ADD: "add", DEL: "del", CHECK: "check" } as const)[vector.verb],
        request: {
          call,
          network,
          attachment: {
            containerId: vector.env["CNI_CONTAINERID"] ?? "",
            netns: netns === "" ? undefined : netns,
            ifname: vector.env["CNI_IFNAME"] ?? "",
            args: valueOf(parseCniArgs(vector.env["CNI_ARGS"] ?? "")).map(([key, value]) => ({ key, value })),
            pod: valueOf(podIdentity(vector.env["CNI_ARGS"] ?? "")),
          },
          prevResult: previous === undefined ? undefined : recordOf(previous, versionOf(vector)),
        },
      };
    }
  }
}

function validOf(document: JsonObjectDocument): AttachmentIdRecord[] {
  const list = memberValue(document, "cni.dev/valid-attachments");
  if (!Array.isArray(list)) throw new Error("GC needs cni.dev/valid-attachments");
  return list.map((entry: { containerID: string; ifname: string }) => ({ containerId: entry.containerID, ifname: entry.ifname }));
}

function recordOf(text: string, version: CniVersion): SuccessRecord {
  const { result } = valueOf(readResult(text, version, "prevResult"));
  return { ...result, interfaces: result.interfaces.map(({ pciID, ...rest }) => ({ ...rest, pciId: pciID })) };
}

/** A success as CNI JSON. */
export function printedResult(success: SuccessRecord, version: CniVersion): Record<string, unknown> {
  const { interfaces, ips, routes, dns } = success;
  const printed = valueOf(
    printResult(
      {
        cniVersion: version,
        interfaces: interfaces.map(({ pciId, ...rest }) => bare<ResultInterface>({ ...rest, pciID: pciId })),
        ips: ips.map((ip) => bare<ResultIp>(ip)),
        routes: routes.map((route) => bare<ResultRoute>(route)),
        ...(dns === undefined ? {} : { dns: bare<ResultDns>(dns) }),
      },
      version,
    ),
  );
  return JSON.parse(printed);
}

type Optional<T> = { readonly [K in keyof T]: undefined extends T[K] ? T[K] | undefined : T[K] };

/** Without the members that are undefined. */
function bare<T extends object>(record: Optional<T>): T;
function bare(record: object): object {
  return Object.fromEntries(Object.entries(record).filter(([, value]) => value !== undefined));
}
