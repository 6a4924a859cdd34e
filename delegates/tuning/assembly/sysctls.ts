// The sysctls that are asked for: keys with dots or slashes, `IFNAME` for the interface, all below `net`.

import { Setting } from "plexus/abi/sysctl";
import { Config } from "plexus/config";
import { quote } from "plexus/json";

/** In the order in which they are written. */
@final
export class Sysctls {
  readonly settings: Array<Setting> = new Array<Setting>();

  constructor(private readonly ifname: string) {}

  /** Adds the object `key` of a configuration. `over`: its values win over those that are there; if not, another value for the same key is a fault
   * (the same name twice is none that JSON may have: the host has refused it). */
  add(config: Config, key: string, over: bool): void {
    const given = config.object(key);
    if (given === null) return;
    const members = given.json;
    for (let i = 0; i < members.length; i++) {
      const name = members.keyAt(i);
      const value = members.at(i).asStringOrNull();
      const path = pathOf(name, this.ifname);
      if (value === null) config.refuse(`${key}[${quote(name)}]`, `must be a string, is ${members.at(i).kindName}`);
      else if (path === null) config.refuse(`${key}[${quote(name)}]`, "invalid net sysctl key: it must be one below net");
      else this.put(config, `${key}[${quote(name)}]`, path, value, over);
    }
  }

  private put(config: Config, where: string, path: string, value: string, over: bool): void {
    for (let i = 0; i < this.settings.length; i++) {
      const before = this.settings[i];
      if (before.key != path) continue;
      if (!over && before.value != value) config.refuse(where, `is ${path}, which another key sets to ${quote(before.value)}`);
      before.value = value;
      return;
    }
    this.settings.push(new Setting(path, value));
  }
}

/**
 * The path below /proc/sys that a key names; null where it is none of `net`. Dots become slashes before the interface's name is put in, which
 * may have dots of its own.
 */
function pathOf(key: string, ifname: string): string | null {
  const parts = key.replaceAll(".", "/").replace("IFNAME", ifname).split("/");
  const path: Array<string> = [];
  for (let i = 0; i < parts.length; i++) if (parts[i] != "") path.push(parts[i]);
  return path.length < 2 || path[0] != "net" ? null : path.join("/");
}
