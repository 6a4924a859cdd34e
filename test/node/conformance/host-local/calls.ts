// A call of an IPAM plugin and its answer, in a form in which native host-local and the delegate can be compared.

import { readResult } from "../../../../src/cni/read-result.ts";
import type { ResultDns, ResultIp, ResultRoute } from "../../../../src/cni/result.ts";

export interface IpamCall {
  readonly verb: "ADD" | "DEL" | "CHECK" | "GC" | "STATUS";
  readonly containerId: string;
  readonly ifname: string;
  /** CNI_ARGS. */
  readonly args: string;
  /** The whole configuration of the plugin whose `ipam` is called. */
  readonly stdin: string;
}

/** A result's content, independent of its version. */
export interface IpamResult {
  readonly ips: readonly ResultIp[];
  readonly routes: readonly ResultRoute[];
  readonly dns: ResultDns | undefined;
}

export type Answer =
  | { readonly ok: true; readonly result: IpamResult | undefined }
  | { readonly ok: false; readonly code: number; readonly msg: string };

/** Native host-local or the delegate. */
export interface Ipam {
  readonly name: string;
  call(call: IpamCall): Promise<Answer>;
}

/** The answer of a plugin's process. Throws if a successful ADD printed an invalid result. */
export function answerOf(verb: IpamCall["verb"], ended: { readonly status: number; readonly stdout: string }): Answer {
  const { status, stdout } = ended;
  if (status === 0) return { ok: true, result: verb === "ADD" ? resultOf(stdout) : undefined };
  // A panic prints no JSON and counts as an error.
  const error: { code?: number; msg?: string } = stdout.startsWith("{") ? JSON.parse(stdout) : {};
  return { ok: false, code: error.code ?? 999, msg: error.msg ?? "no error object" };
}

function resultOf(stdout: string): IpamResult {
  const read = readResult(stdout, "1.0.0");
  if (!read.ok) throw new Error(`${read.fault.msg}: ${stdout}`);
  const { ips, routes, dns } = read.value.result;
  return { ips, routes, dns };
}
