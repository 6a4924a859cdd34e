// Settings of virtual functions (SR-IOV). The kernel keeps them at the link of the physical function (linux/if_link.h).

import { attribute, Attributes, nested, u32Attribute, type NetlinkRequest } from "./message.ts";
import { macBytes, macText, concat, putU32, u32At } from "./bytes.ts";
import {
  IFINFOMSG,
  IFLA_EXT_MASK,
  ifinfomsg,
  RTEXT_FILTER_SKIP_STATS,
  RTM_GETLINK,
  RTM_NEWLINK,
  RTM_SETLINK,
} from "./link-attributes.ts";

const RTEXT_FILTER_VF = 1;
const IFLA_VFINFO_LIST = 22;
const IFLA_VF_INFO = 1;
const IFLA_VF_MAC = 1;
const IFLA_VF_VLAN = 2;
const IFLA_VF_SPOOFCHK = 4;
const IFLA_VF_LINK_STATE = 5;
const IFLA_VF_RATE = 6;
const IFLA_VF_TRUST = 9;
const IFLA_VF_VLAN_LIST = 12;
const IFLA_VF_VLAN_INFO = 1;
/** The bytes of a link-layer address in `struct ifla_vf_mac`. */
const macFieldBytes = 32;
const macLength = 6;
const ETH_P_8021AD = 0x88a8;

/** The kernel's IFLA_VF_LINK_STATE_* in the order of their numbers. */
export const vfLinkStates = ["auto", "enable", "disable"] as const;

/** Settings of a virtual function. An absent member is unknown, or stays unchanged. */
export interface VfSettings {
  readonly mac?: string | undefined;
  readonly vlan?: { readonly id: number; readonly qos: number; readonly serviceTag: boolean } | undefined;
  /** In Mbit/s; 0: no bound. */
  readonly rate?: { readonly min: number; readonly max: number } | undefined;
  readonly spoofCheck?: boolean | undefined;
  readonly trust?: boolean | undefined;
  readonly linkState?: (typeof vfLinkStates)[number] | undefined;
}

/** One setting as a message, with its name for faults. */
export interface VfMessage {
  readonly action: string;
  readonly request: NetlinkRequest;
}

/** Requests a link with its virtual functions. */
export function virtualFunctionsRequest(physicalIndex: number): NetlinkRequest {
  const mask = u32Attribute(IFLA_EXT_MASK, RTEXT_FILTER_VF | RTEXT_FILTER_SKIP_STATS);
  return { type: RTM_GETLINK, flags: 0, body: concat([ifinfomsg(physicalIndex), mask]) };
}

/** The settings of one virtual function in a link's message; undefined where the link has no such function. */
export function vfSettingsIn(
  { type, body }: { readonly type: number; readonly body: Uint8Array },
  number: number,
): VfSettings | undefined {
  if (type !== RTM_NEWLINK || body.length < IFINFOMSG) return undefined;
  for (const [kind, value] of new Attributes(body, IFINFOMSG).within(IFLA_VFINFO_LIST).list()) {
    if (kind !== IFLA_VF_INFO) continue;
    const info = new Attributes(value);
    const mac = info.get(IFLA_VF_MAC);
    if (mac !== undefined && mac.length >= 4 + macLength && u32At(mac, 0) === number) return settingsIn(info, mac);
  }
  return undefined;
}

function settingsIn(info: Attributes, mac: Uint8Array): VfSettings {
  const [vlan] = info.within(IFLA_VF_VLAN_LIST).list();
  const [, protocol] = vlan ?? [];
  const plain = info.get(IFLA_VF_VLAN);
  const rate = info.get(IFLA_VF_RATE);
  return {
    mac: macText(mac.subarray(4, 4 + macLength)),
    vlan:
      plain === undefined || plain.length < 12
        ? undefined
        : { id: u32At(plain, 4), qos: u32At(plain, 8), serviceTag: protocolIn(protocol) === ETH_P_8021AD },
    rate: rate === undefined || rate.length < 12 ? undefined : { min: u32At(rate, 4), max: u32At(rate, 8) },
    spoofCheck: flagIn(info.get(IFLA_VF_SPOOFCHK)),
    trust: flagIn(info.get(IFLA_VF_TRUST)),
    linkState: vfLinkStates[numberIn(info.get(IFLA_VF_LINK_STATE)) ?? 0],
  };
}

/** In network byte order, after three numbers of four bytes. */
function protocolIn(vlan: Uint8Array | undefined): number | undefined {
  const [high, low] = vlan?.subarray(12) ?? [];
  return high === undefined || low === undefined ? undefined : (high << 8) | low;
}

function numberIn(value: Uint8Array | undefined): number | undefined {
  return value === undefined || value.length < 8 ? undefined : u32At(value, 4);
}

/** A driver that does not know the flag leaves it at -1. */
function flagIn(value: Uint8Array | undefined): boolean | undefined {
  const number = numberIn(value);
  return number === undefined || number === 0xffff_ffff ? undefined : number !== 0;
}

/** A message for each present setting: the kernel makes the settings of one message in turn, and undoes none if a later one fails. */
export function vfMessages(physicalIndex: number, number: number, settings: VfSettings): readonly VfMessage[] {
  const { mac, vlan, rate, spoofCheck, trust, linkState } = settings;
  const bytes = mac === undefined ? undefined : macBytes(mac);
  const message = (name: string, ...attributes: readonly Uint8Array[]): VfMessage => ({
    action: `setting ${name} of virtual function ${number}`,
    request: {
      type: RTM_SETLINK,
      flags: 0,
      body: concat([ifinfomsg(physicalIndex), nested(IFLA_VFINFO_LIST, [nested(IFLA_VF_INFO, attributes)])]),
    },
  });
  const flag = (type: number, value: number): Uint8Array => attribute(type, numbers(number, value));
  return [
    ...(vlan === undefined ? [] : [message(`VLAN ${vlan.id}`, vlanAttribute(number, vlan))]),
    ...(spoofCheck === undefined
      ? []
      : [message(`the spoof check ${onOff(spoofCheck)}`, flag(IFLA_VF_SPOOFCHK, Number(spoofCheck)))]),
    ...(bytes === undefined ? [] : [message(`the MAC ${mac}`, attribute(IFLA_VF_MAC, macValue(number, bytes)))]),
    ...(trust === undefined ? [] : [message(`the trust ${onOff(trust)}`, flag(IFLA_VF_TRUST, Number(trust)))]),
    ...(rate === undefined
      ? []
      : [message(`the rate ${rate.min} to ${rate.max} Mbit/s`, attribute(IFLA_VF_RATE, numbers(number, rate.min, rate.max)))]),
    ...(linkState === undefined
      ? []
      : [message(`the link state ${linkState}`, flag(IFLA_VF_LINK_STATE, vfLinkStates.indexOf(linkState)))]),
  ];
}

/** A function without a service tag gets the older attribute, which all drivers know. */
function vlanAttribute(number: number, { id, qos, serviceTag }: NonNullable<VfSettings["vlan"]>): Uint8Array {
  if (!serviceTag) return attribute(IFLA_VF_VLAN, numbers(number, id, qos));
  const value = concat([numbers(number, id, qos), Uint8Array.of(ETH_P_8021AD >> 8, ETH_P_8021AD & 0xff, 0, 0)]);
  return nested(IFLA_VF_VLAN_LIST, [attribute(IFLA_VF_VLAN_INFO, value)]);
}

function macValue(number: number, mac: Uint8Array): Uint8Array {
  const value = new Uint8Array(4 + macFieldBytes);
  putU32(value, 0, number);
  value.set(mac, 4);
  return value;
}

function numbers(...values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(4 * values.length);
  for (const [index, value] of values.entries()) putU32(bytes, 4 * index, value);
  return bytes;
}

function onOff(value: boolean): string {
  return value ? "on" : "off";
}
