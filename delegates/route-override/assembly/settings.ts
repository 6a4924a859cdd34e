// The configuration, read like route-override-cni does. Members of `args.cni` replace those of the configuration.

import { Fault, Network, Route } from "plexus/abi/types";
import { Config } from "plexus/config";
import { folded, foldedMember } from "plexus/folded";
import { readRoutes } from "plexus/routes";

const topKeys: StaticArray<string> = ["flushroutes", "flushgateway", "delroutes", "addroutes", "skipcheck", "args"];
const cniKeys: StaticArray<string> = ["cni"];

/** All settings. With a fault, the other fields must not be used. */
@final
export class Settings {
  fault: Fault | null = null;
  flushRoutes: bool = false;
  flushGateway: bool = false;
  delRoutes: Array<Route> = new Array<Route>();
  addRoutes: Array<Route> = new Array<Route>();
  skipCheck: bool = false;

  static read(network: Network): Settings {
    const settings = new Settings();
    const top = Config.of(network);
    const root = folded(top, top.json, "", topKeys) as Config;
    settings.readFrom(root);
    const args = foldedMember(root, "args", cniKeys);
    const cni: Config | null = args === null ? null : foldedMember(args, "cni", topKeys);
    if (cni !== null) settings.readFrom(cni);
    settings.fault = root.fault;
    return settings;
  }

  private readFrom(config: Config): void {
    this.flushRoutes = config.bool("flushroutes", this.flushRoutes);
    this.flushGateway = config.bool("flushgateway", this.flushGateway);
    this.skipCheck = config.bool("skipcheck", this.skipCheck);
    if (config.has("delroutes")) this.delRoutes = readRoutes(config, "delroutes");
    if (config.has("addroutes")) this.addRoutes = readRoutes(config, "addroutes");
  }
}
