// Kubeconfigs for tests.

import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { type Authority, base64File } from "./certificates.ts";

export interface KubeconfigInit {
  /** Keys that override the cluster's entry. `undefined` removes a key. */
  readonly cluster?: Readonly<Record<string, unknown>>;
  /** The user's entry, instead of a client certificate. */
  readonly user?: Readonly<Record<string, unknown>>;
}

let written = 0;

/**
 * Writes a kubeconfig in JSON, as the guide to a cluster does, and answers its path.
 * The user has a client certificate, unless `init.user` has another entry.
 */
export function writeKubeconfig(
  directory: string,
  server: { readonly url: string; readonly authority: Authority },
  user: string,
  groups: readonly string[],
  init: KubeconfigInit,
): string {
  written += 1;
  const file = `${user.replaceAll(/[^a-z0-9]/g, "-")}-${written}`;
  const path = join(directory, `${file}.kubeconfig`);
  const { authority, url } = server;
  const authorityData = base64File(authority.certificate);
  const cluster = { server: url, "certificate-authority-data": authorityData, ...init.cluster };
  const entries = {
    apiVersion: "v1",
    kind: "Config",
    clusters: [{ name: "test", cluster: Object.fromEntries(Object.entries(cluster).filter(([, value]) => value !== undefined)) }],
    users: [{ name: user, user: init.user ?? certificateOf(authority, file, user, groups) }],
    contexts: [{ name: "test", context: { cluster: "test", user } }],
    "current-context": "test",
  };
  writeFileSync(path, JSON.stringify(entries, null, 2), { mode: 0o600 });
  return path;
}

function certificateOf(authority: Authority, file: string, user: string, groups: readonly string[]): object {
  const issued = authority.issue(file, { commonName: user, groups });
  return {
    "client-certificate-data": base64File(issued.certificate),
    "client-key-data": base64File(issued.key),
  };
}
