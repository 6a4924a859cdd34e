// One call of an IPAM plugin, and what came of it, in terms in which native and WASM can be compared.

import { readResult } from "../../../src/cni/read-result.ts";
import type { ResultDns, ResultIp, ResultRoute } from "../../../src/cni/result.ts";

export interface IpamCall {
  readonly verb: "ADD" | "DEL" | "CHECK" | "GC" | "STATUS";
  readonly containerId: string;
  readonly ifname: string;
  /** CNI_ARGS. */
  readonly args: string;
  /** stdin: the configuration of the plugin that calls its `ipam`, as a whole. */
  readonly stdin: string;
}

/** What an answer says, whatever version it was printed in. */
export interface Said {
  readonly ips: readonly ResultIp[];
  readonly routes: readonly ResultRoute[];
  readonly dns: ResultDns | undefined;
}

export type Answer =
  | { readonly ok: true; readonly said: Said | undefined }
  | { readonly ok: false; readonly code: number; readonly msg: string };

/** Something that answers calls: native host-local, or the delegate. */
export interface Ipam {
  readonly name: string;
  call(call: IpamCall): Promise<Answer>;
}

/** What a plugin's process says: exit status and stdout. Throws where an ADD's success is no result: that is never right. */
export function answerOf(verb: IpamCall["verb"], ended: { readonly status: number; readonly stdout: string }): Answer {
  const { status, stdout } = ended;
  if (status === 0) return { ok: true, said: verb === "ADD" ? said(stdout) : undefined };
  // A panic prints no JSON: it counts as an error like any other.
  const error: { code?: number; msg?: string } = stdout.startsWith("{") ? JSON.parse(stdout) : {};
  return { ok: false, code: error.code ?? 999, msg: error.msg ?? "no error object" };
}

function said(stdout: string): Said {
  const read = readResult(stdout, "1.0.0");
  if (!read.ok) throw new Error(`${read.fault.msg}: ${stdout}`);
  const { ips, routes, dns } = read.value.result;
  return { ips, routes, dns };
}
