// Values of the resident programs' options. Each function throws an Error whose message names the option, the value and the accepted form.

import { isAbsolute } from "node:path";
import { readUidOption, uidOptionForm } from "../../../src/configuration/uid-option.ts";
import type { SandboxUids } from "../../../src/configuration/keys/sandbox-uids.ts";
import { type DaemonIsolation, daemonIsolations } from "../../../src/configuration/wasm-configuration.ts";

/** The values of a command line's options, as `parseArgs` gives them. */
export type OptionValues = Readonly<Record<string, string | boolean | (string | boolean)[] | undefined>>;

/** Maximum length of a unix socket's path, in bytes (unix(7)). */
export const maxSocketPath = 107;

/** A whole number from `min` to `max`. */
export function countOf(name: string, text: string, min: number, max: number): number {
  const value = Number(text);
  if (Number.isInteger(value) && value >= min && value <= max && text.trim() !== "") return value;
  throw new Error(`--${name} ${text}: must be a whole number from ${min} to ${max}`);
}

/** An absolute path of at most `maxBytes` bytes. */
export function pathOf(name: string, path: string, maxBytes: number): string {
  if (isAbsolute(path) && Buffer.byteLength(path) <= maxBytes && !path.includes("\0")) return path;
  throw new Error(`--${name} ${path}: must be an absolute path of at most ${maxBytes} bytes`);
}

/** The name of a file with one of these endings, without a directory. */
export function fileNameOf(name: string, text: string, endings: readonly string[]): string {
  const isName = /^[^/\0]{1,200}$/.test(text) && endings.some((ending) => text.endsWith(ending) && text.length > ending.length);
  if (isName) return text;
  throw new Error(`--${name} ${text}: must be the name of a file that ends with ${endings.join(", ")}, without a directory`);
}

/** The https URL of an API server, without slashes at its end. */
export function serverOf(text: string): string {
  const url = URL.parse(text);
  const isPlain = url !== null && url.protocol === "https:" && url.username === "" && url.search === "" && url.hash === "";
  if (isPlain) return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
  throw new Error(`--api-server ${text}: must be a URL that begins with https:// (https://10.0.0.1:6443)`);
}

/** The address and TCP port of `--metrics-listen`; without an address 127.0.0.1. */
export function addressOf(text: string): { readonly host: string; readonly port: number } {
  const {
    v6,
    host = v6 ?? "127.0.0.1",
    port = "",
  } = /^(?:(?:\[(?<v6>[\da-fA-F:.]+)\]|(?<host>[\w.-]+)):)?(?<port>\d{1,5})$/.exec(text)?.groups ?? {};
  if (port !== "" && Number(port) <= 65_535) return { host, port: Number(port) };
  throw new Error(`--metrics-listen ${text}: must be a port, or an address and a port (127.0.0.1:9464, [::1]:9464)`);
}

/** How a daemon's sandbox processes start. */
export type SandboxStart = "copy" | "new";

/** The value of `--sandbox-start`. */
export function sandboxStartOf(text: string): SandboxStart {
  if (text === "copy" || text === "new") return text;
  throw new Error(`--sandbox-start ${text}: must be copy or new`);
}

/** The URL for traces of the OTLP collector. */
export function collectorOf(text: string): URL {
  const url = URL.parse(text);
  if (url === null || !["http:", "https:"].includes(url.protocol)) {
    throw new Error(`--otlp ${text}: must be a URL of http or https (http://127.0.0.1:4318)`);
  }
  // Like OTEL_EXPORTER_OTLP_ENDPOINT, the URL is the base for all signals.
  if (!url.pathname.endsWith("/v1/traces")) url.pathname = `${url.pathname.replace(/\/$/, "")}/v1/traces`;
  return url;
}

/** The level of isolation of sandbox processes. */
export function isolationOf(text: string): DaemonIsolation {
  const isolation = daemonIsolations.find((each) => each === text);
  if (isolation !== undefined) return isolation;
  throw new Error(`--isolation ${text}: must be ${daemonIsolations.join(" or ")}`);
}

/** The uids of sandbox processes. */
export function uidsOf(text: string): SandboxUids {
  const uids = readUidOption(text);
  if (uids !== undefined) return uids;
  throw new Error(`--sandbox-uids ${text}: must be ${uidOptionForm}`);
}
