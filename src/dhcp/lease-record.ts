// The record of a DHCP lease on the node's disk: written as JSON, and read with every field checked. Pure.

import { isJsonObject } from "../json/document.ts";
import type { DhcpOption } from "./message.ts";
import type { LeaseRoute, LeaseTerms } from "./lease-terms.ts";

/** The attachment that holds a lease. */
export interface LeaseHolder {
  readonly network: string;
  readonly containerId: string;
  readonly ifname: string;
}

/** One lease. */
export interface LeaseRecord extends LeaseHolder {
  /** Path of the pod's network namespace. */
  readonly netns: string;
  /** The interface's index in that namespace; absent in a record of an earlier release. */
  readonly index?: number;
  readonly mac: Uint8Array;
  /** The link-layer address that the last acknowledgement came from. */
  readonly serverMac: Uint8Array;
  readonly clientId: Uint8Array;
  readonly requested: readonly number[];
  readonly provided: readonly DhcpOption[];
  readonly terms: LeaseTerms;
  /** The requested options that the server answered. */
  readonly options: readonly DhcpOption[];
  /** The time of day of the last acknowledgement, in milliseconds since 1970. */
  readonly acknowledgedMs: number;
  /** The lease ended, and its interface was brought down. */
  readonly hasEnded: boolean;
}

/** Options with their values as lists of numbers, for JSON. */
function shown(list: readonly DhcpOption[]): object {
  return list.map(({ number, value }) => ({ number, value: [...value] }));
}

/** The record as JSON text. */
export function leaseRecordText({ mac, serverMac, clientId, provided, options, ...rest }: LeaseRecord): string {
  return `${JSON.stringify({
    ...rest,
    mac: [...mac],
    serverMac: [...serverMac],
    clientId: [...clientId],
    provided: shown(provided),
    options: shown(options),
  })}\n`;
}

/** Reads a record; undefined if a field is missing or malformed. */
export function readLeaseRecord(text: string): LeaseRecord | undefined {
  try {
    return new Fields(JSON.parse(text)).record();
  } catch {
    return undefined;
  }
}

/** Reads fields of one object. Throws an Error at the first malformed one. */
class Fields {
  readonly #object: Readonly<Record<string, unknown>>;

  constructor(value: unknown) {
    if (!isJsonObject(value)) throw new Error("no object");
    this.#object = value;
  }

  record(): LeaseRecord {
    return {
      network: this.text("network"),
      containerId: this.text("containerId"),
      ifname: this.text("ifname"),
      netns: this.text("netns"),
      ...(this.#object["index"] === undefined ? {} : { index: this.number("index") }),
      mac: this.bytes("mac"),
      serverMac: this.bytes("serverMac"),
      clientId: this.bytes("clientId"),
      requested: [...this.bytes("requested")],
      provided: this.options("provided"),
      terms: new Fields(this.#object["terms"]).terms(),
      options: this.options("options"),
      acknowledgedMs: this.number("acknowledgedMs"),
      hasEnded: this.#object["hasEnded"] === true,
    };
  }

  terms(): LeaseTerms {
    const isAbsent = (name: string): boolean => this.#object[name] === undefined;
    return {
      address: this.text("address"),
      prefix: this.number("prefix"),
      server: this.text("server"),
      gateway: isAbsent("gateway") ? undefined : this.text("gateway"),
      routes: this.list("routes").map((each): LeaseRoute => {
        const route = new Fields(each);
        return { dst: route.text("dst"), gateway: route.text("gateway") };
      }),
      nameservers: this.list("nameservers").map(String),
      domain: isAbsent("domain") ? undefined : this.text("domain"),
      mtu: isAbsent("mtu") ? undefined : this.number("mtu"),
      renewSeconds: this.number("renewSeconds"),
      rebindSeconds: this.number("rebindSeconds"),
      leaseSeconds: this.number("leaseSeconds"),
    };
  }

  text(name: string): string {
    const value = this.#object[name];
    if (typeof value !== "string") throw new Error(`${name} is no text`);
    return value;
  }

  number(name: string): number {
    const value = this.#object[name];
    if (typeof value !== "number") throw new Error(`${name} is no number`);
    return value;
  }

  list(name: string): readonly unknown[] {
    const value = this.#object[name];
    if (!Array.isArray(value)) throw new Error(`${name} is no list`);
    return value;
  }

  bytes(name: string): Uint8Array {
    return Uint8Array.from(this.list(name).map(Number));
  }

  options(name: string): readonly DhcpOption[] {
    return this.list(name).map((each) => {
      const option = new Fields(each);
      return { number: option.number("number"), value: option.bytes("value") };
    });
  }
}
