// The configuration, read and checked like native host-local does.

import { Arg, Fault, Network, Route } from "plexus/abi/types";
import { Pool } from "plexus/abi/leases";
import { Level, write } from "plexus/abi/log";
import { Config } from "plexus/config";
import { invalidConfig } from "plexus/faults";
import { foldedMember, folded } from "plexus/folded";
import { Range } from "./range";
import { RangeSet } from "./range-set";
import { readArgs, Requested } from "./requested";
import { readRoutes } from "plexus/routes";

const topKeys: StaticArray<string> = ["ipam", "runtimeConfig", "args"];
const ipamKeys: StaticArray<string> = [
  "subnet",
  "rangeStart",
  "rangeEnd",
  "gateway",
  "type",
  "routes",
  "dataDir",
  "resolvConf",
  "ranges",
];
const runtimeKeys: StaticArray<string> = ["ipRanges", "ips"];
const argsKeys: StaticArray<string> = ["cni"];
const cniKeys: StaticArray<string> = ["ips"];

/** The location of the leases: DEL and GC need nothing else, so that mistakes in other keys cannot stop them. */
@final
export class LeaseLocation {
  private constructor(
    private readonly dataDir: string | null,
    readonly fault: Fault | null,
  ) {}

  static read(network: Network): LeaseLocation {
    const top = Config.of(network);
    const root = folded(top, top.json, "", topKeys) as Config;
    const ipam = foldedMember(root, "ipam", ipamKeys);
    const dataDir = ipam !== null ? ipam.string("dataDir") : null;
    return new LeaseLocation(dataDir, root.fault);
  }

  pool(set: u32): Pool {
    return poolIn(this.dataDir, set);
  }
}

/** All settings of a network. With a fault, the other fields must not be used. */
@final
export class Settings {
  fault: Fault | null = null;
  readonly sets: Array<RangeSet> = new Array<RangeSet>();
  routes: Array<Route> = new Array<Route>();
  dataDir: string | null = null;
  /** The resolv.conf whose settings the result gets; "" for none. */
  resolvConf: string = "";
  readonly requested: Requested = new Requested();

  /** Reads the configuration and the requests of CNI_ARGS. */
  static read(network: Network, args: Array<Arg>): Settings {
    const settings = new Settings();
    const top = Config.of(network);
    const root = folded(top, top.json, "", topKeys) as Config;
    settings.fault = readArgs(args, settings.requested);
    settings.readConfig(root);
    if (settings.fault === null) settings.fault = root.fault;
    if (settings.fault === null) settings.fault = settings.checkSets(network.cniVersion);
    return settings;
  }

  pool(set: u32): Pool {
    return poolIn(this.dataDir, set);
  }

  private readConfig(root: Config): void {
    const ipam = foldedMember(root, "ipam", ipamKeys);
    if (ipam === null) {
      root.refuse("ipam", "is missing: it defines the ranges of the addresses");
      return;
    }
    this.readRequested(root);
    this.readRuntimeRanges(root);
    this.readLegacyRange(ipam);
    const ranges = ipam.list("ranges");
    for (let i = 0; ranges !== null && i < ranges.length; i++) this.sets.push(RangeSet.read(ipam, ranges.at(i), `ranges[${i}]`));
    if (this.sets.length == 0) ipam.refuse("ranges", "has no ranges: set ranges or subnet");
    this.routes = readRoutes(ipam);
    ipam.string("type");
    this.dataDir = ipam.string("dataDir");
    const resolvConf = ipam.string("resolvConf");
    if (resolvConf !== null) this.resolvConf = resolvConf;
  }

  private readRequested(root: Config): void {
    const args = foldedMember(root, "args", argsKeys);
    const cni = args !== null ? foldedMember(args, "cni", cniKeys) : null;
    if (cni !== null) this.requested.addList(cni, "ips");
    const runtime = foldedMember(root, "runtimeConfig", runtimeKeys);
    if (runtime !== null) this.requested.addList(runtime, "ips");
  }

  /** `runtimeConfig.ipRanges` (capability `ipRanges`) precede the configuration's own. */
  private readRuntimeRanges(root: Config): void {
    const runtime = foldedMember(root, "runtimeConfig", runtimeKeys);
    const ranges = runtime !== null ? runtime.list("ipRanges") : null;
    if (runtime === null || ranges === null) return;
    for (let i = 0; i < ranges.length; i++) this.sets.push(RangeSet.read(runtime, ranges.at(i), `ipRanges[${i}]`));
  }

  /** `subnet` beside `ranges` is the old form of a single range; it precedes `ranges`. */
  private readLegacyRange(ipam: Config): void {
    if (!ipam.has("subnet")) {
      if (ipam.json.get("subnet") !== null) ipam.refuse("subnet", "must be a string, is null");
      const keysWithoutEffect: StaticArray<string> = ["rangeStart", "rangeEnd", "gateway"];
      for (let i = 0; i < keysWithoutEffect.length; i++) {
        if (ipam.has(keysWithoutEffect[i]))
          write(
            Level.Warn,
            `${ipam.where(keysWithoutEffect[i])} has no effect: it belongs to a range of ipam.ranges, or to ipam.subnet`,
          );
      }
      return;
    }
    const range = Range.read(ipam);
    if (range === null) return;
    const set = new RangeSet(ipam.where("subnet"));
    set.ranges.push(range);
    this.sets.push(set);
  }

  private checkSets(cniVersion: string): Fault | null {
    let v4 = 0;
    for (let i = 0; i < this.sets.length; i++) {
      const set = this.sets[i];
      if (set.family == 4) v4++;
      for (let j = 0; j < i; j++) {
        const other = this.sets[j];
        if (set.overlaps(other)) return invalidConfig(set.place, `overlaps with ${other.toString()}`);
      }
    }
    const maxOfFamily = v4 > this.sets.length - v4 ? v4 : this.sets.length - v4;
    if (maxOfFamily > 1 && allowsOneAddressPerFamily(cniVersion)) {
      return invalidConfig(
        "cniVersion",
        `${cniVersion} allows one address of each family, but the range sets assign ${maxOfFamily}: use 0.3.0 or later`,
      );
    }
    return null;
  }
}

/** Results older than 0.3.0 have `ip4` and `ip6` instead of a list. */
function allowsOneAddressPerFamily(cniVersion: string): bool {
  return cniVersion == "" || cniVersion == "0.1.0" || cniVersion == "0.2.0";
}

function poolIn(dataDir: string | null, set: u32): Pool {
  const pool = new Pool(set);
  if (dataDir !== null && dataDir != "") pool.directory = dataDir;
  return pool;
}
