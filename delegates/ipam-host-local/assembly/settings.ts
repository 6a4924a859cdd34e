// The configuration, read and checked as native host-local does it.

import { Arg, Fault, Network, Route } from "plexus/abi/types";
import { Pool } from "plexus/abi/leases";
import { Level, write } from "plexus/abi/log";
import { Config } from "plexus/config";
import { invalidConfig } from "plexus/faults";
import { foldedMember, folded } from "plexus/folded";
import { Range } from "./range";
import { RangeSet } from "./range-set";
import { readArgs, Requested } from "./requested";
import { readRoutes } from "./routes";

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

/** Where leases are: all that DEL and GC need, so that nothing else of a configuration can keep them from it. */
@final
export class Place {
  private constructor(
    private readonly dataDir: string | null,
    readonly fault: Fault | null,
  ) {}

  static read(network: Network): Place {
    const top = Config.of(network);
    const root = folded(top, top.json, "", topKeys) as Config;
    const ipam = foldedMember(root, "ipam", ipamKeys);
    const dataDir = ipam !== null ? ipam.string("dataDir") : null;
    return new Place(dataDir, root.fault);
  }

  pool(set: u32): Pool {
    return poolIn(this.dataDir, set);
  }
}

/** All settings of a network. If there is a fault, nothing else counts. */
@final
export class Settings {
  fault: Fault | null = null;
  readonly sets: Array<RangeSet> = new Array<RangeSet>();
  routes: Array<Route> = new Array<Route>();
  dataDir: string | null = null;
  /** The resolv.conf whose settings the result gets; "" for none. */
  resolvConf: string = "";
  readonly requested: Requested = new Requested();

  /** Reads the configuration and what CNI_ARGS asks for. */
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
      root.refuse("ipam", "is missing: it says out of which ranges addresses are given");
      return;
    }
    this.readRequested(root);
    this.readRuntimeRanges(root);
    this.readLegacyRange(ipam);
    const ranges = ipam.list("ranges");
    for (let i = 0; ranges !== null && i < ranges.length; i++) this.sets.push(RangeSet.read(ipam, ranges.at(i), `ranges[${i}]`));
    if (this.sets.length == 0) ipam.refuse("ranges", "has no ranges to give addresses from: set ranges, or subnet");
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

  /** `runtimeConfig.ipRanges` (capability `ipRanges`) come before the configuration's own. */
  private readRuntimeRanges(root: Config): void {
    const runtime = foldedMember(root, "runtimeConfig", runtimeKeys);
    const ranges = runtime !== null ? runtime.list("ipRanges") : null;
    if (runtime === null || ranges === null) return;
    for (let i = 0; i < ranges.length; i++) this.sets.push(RangeSet.read(runtime, ranges.at(i), `ipRanges[${i}]`));
  }

  /** `subnet` beside `ranges` is the old way of a single range; it comes before `ranges`. */
  private readLegacyRange(ipam: Config): void {
    if (!ipam.has("subnet")) {
      if (ipam.json.get("subnet") !== null) ipam.refuse("subnet", "must be a string, is null");
      const idle: StaticArray<string> = ["rangeStart", "rangeEnd", "gateway"];
      for (let i = 0; i < idle.length; i++) {
        if (ipam.has(idle[i]))
          write(Level.Warn, `${ipam.where(idle[i])} has no effect: it belongs to a range of ipam.ranges, or to ipam.subnet`);
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
    const most = v4 > this.sets.length - v4 ? v4 : this.sets.length - v4;
    if (most > 1 && oneAddressEach(cniVersion)) {
      return invalidConfig(
        "cniVersion",
        `${cniVersion} has room for one address of each family, the ranges give ${most}: use 0.3.0 or later`,
      );
    }
    return null;
  }
}

/** Results before 0.3.0 have `ip4` and `ip6`. */
function oneAddressEach(cniVersion: string): bool {
  return cniVersion == "" || cniVersion == "0.1.0" || cniVersion == "0.2.0";
}

function poolIn(dataDir: string | null, set: u32): Pool {
  const pool = new Pool(set);
  if (dataDir !== null && dataDir != "") pool.directory = dataDir;
  return pool;
}
