// The IPAM part of the configuration, read as the reference plugin's daemon does.

import { OptionValue } from "plexus/abi/dhcp";
import { Arg, Fault, Network } from "plexus/abi/types";
import { Config } from "plexus/config";
import { cniArg } from "plexus/conventions";
import { folded, foldedMember } from "plexus/folded";
import { quote } from "plexus/json";

const topKeys: StaticArray<string> = ["ipam"];
const ipamKeys: StaticArray<string> = ["daemonSocketPath", "request", "provide", "priority"];
const requestKeys: StaticArray<string> = ["skipDefault", "option"];
const provideKeys: StaticArray<string> = ["option", "value", "fromArg"];

const optionNames: StaticArray<string> = [
  "dhcp-client-identifier",
  "subnet-mask",
  "routers",
  "host-name",
  "user-class",
  "vendor-class-identifier",
];
/** In the order of `optionNames`. */
const optionNumbers: StaticArray<u8> = [61, 1, 3, 12, 77, 60];
/** Options that the client sets itself: requested address, overload, message type, server, list of requests, maximum size. */
const ownOptions: StaticArray<u8> = [50, 52, 53, 54, 55, 57];
const maxValueBytes: i32 = 255;

/** All settings. With a fault, the other fields must not be used. */
@final
export class Settings {
  fault: Fault | null = null;
  /** Options to request, by number. */
  requested: Array<u8> = new Array<u8>();
  provided: Array<OptionValue> = new Array<OptionValue>();
  /** The metric of the routes; 0: the kernel's. */
  priority: u32 = 0;
  hasSocket: bool = false;

  static read(network: Network, args: Array<Arg>): Settings {
    const settings = new Settings();
    const top = Config.of(network);
    const root = folded(top, top.json, "", topKeys) as Config;
    const ipam = foldedMember(root, "ipam", ipamKeys);
    if (ipam !== null) {
      settings.hasSocket = ipam.has("daemonSocketPath");
      settings.readRequested(ipam);
      settings.readProvided(ipam, args);
      const priority = ipam.integer("priority");
      if (priority !== null && (priority.value < 0 || priority.value > <i64>u32.MAX_VALUE))
        ipam.refuse("priority", "must be from 0 to 4294967295");
      else if (priority !== null) settings.priority = <u32>priority.value;
    }
    settings.fault = root.fault;
    return settings;
  }

  /** One entry with `skipDefault` leaves out the subnet mask and the routers, as for the reference. */
  private readRequested(ipam: Config): void {
    let skipsDefault = false;
    const list = ipam.list("request");
    for (let i = 0; list !== null && i < list.length; i++) {
      const entry = folded(ipam, list.at(i), `request[${i}]`, requestKeys);
      if (entry === null) continue;
      if (entry.bool("skipDefault", false)) skipsDefault = true;
      const option = entry.string("option");
      if (option === null || option == "") continue;
      const number = optionNumber(entry, option);
      if (number != 0) this.request(number);
    }
    if (skipsDefault) return;
    this.request(3);
    this.request(1);
  }

  private request(number: u8): void {
    if (!this.requested.includes(number)) this.requested.push(number);
  }

  /** The last value of an option counts; that of CNI_ARGS comes after `value`. */
  private readProvided(ipam: Config, args: Array<Arg>): void {
    const list = ipam.list("provide");
    for (let i = 0; list !== null && i < list.length; i++) {
      const entry = folded(ipam, list.at(i), `provide[${i}]`, provideKeys);
      if (entry === null) continue;
      const option = entry.string("option");
      const number = optionNumber(entry, option === null ? "" : option);
      const value = entry.string("value");
      if (value !== null && value != "") this.provide(entry, "value", number, value);
      const from = entry.string("fromArg");
      const arg: string | null = from === null ? null : cniArg(args, from);
      if (arg !== null) this.provide(entry, "fromArg", number, arg);
    }
  }

  private provide(entry: Config, key: string, number: u8, text: string): void {
    const bytes = Uint8Array.wrap(String.UTF8.encode(text));
    if (ownOptions.includes(number)) entry.refuse("option", `${number} is set by the client itself`);
    if (bytes.length > maxValueBytes) entry.refuse(key, `has ${bytes.length} bytes; an option has at most ${maxValueBytes}`);
    const value = new OptionValue(number);
    for (let i = 0; i < bytes.length; i++) value.value.push(bytes[i]);
    for (let i = 0; i < this.provided.length; i++) {
      if (this.provided[i].number != number) continue;
      this.provided[i] = value;
      return;
    }
    this.provided.push(value);
  }
}

/** The number of an option by its name or as text; 0 with a mistake. */
function optionNumber(entry: Config, option: string): u8 {
  for (let i = 0; i < optionNames.length; i++) if (optionNames[i] == option) return optionNumbers[i];
  let number: u32 = 0;
  let isNumber = option.length > 0 && option.length <= 3;
  for (let i = 0; i < option.length; i++) {
    const digit = option.charCodeAt(i) - 0x30;
    if (digit < 0 || digit > 9) isNumber = false;
    number = number * 10 + <u32>digit;
  }
  if (isNumber && number >= 1 && number <= 254) return <u8>number;
  entry.refuse("option", `${quote(option)} is no option: use a number from 1 to 254, or one of ${optionNames.join(", ")}`);
  return 0;
}
