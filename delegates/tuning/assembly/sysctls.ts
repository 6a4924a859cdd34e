// The configured sysctls: keys with dots or slashes, `IFNAME` for the interface, all below `net`.

import { Setting } from "plexus/abi/sysctl";
import { Config } from "plexus/config";
import { quote } from "plexus/json";

/** In the order in which they are written. */
@final
export class Sysctls {
  readonly settings: Array<Setting> = new Array<Setting>();

  constructor(private readonly ifname: string) {}

  /**
   * Adds the object `key` of a configuration. `replaces`: its values replace existing ones; otherwise another value for the same key
   * is a fault. A duplicate name in one object cannot occur, because the host refuses such JSON.
   */
  add(config: Config, key: string, replaces: bool): void {
    const sysctls = config.object(key);
    if (sysctls === null) return;
    const members = sysctls.json;
    for (let i = 0; i < members.length; i++) {
      const name = members.keyAt(i);
      const value = members.at(i).asStringOrNull();
      const path = pathOf(name, this.ifname);
      if (value === null) config.refuse(`${key}[${quote(name)}]`, `must be a string, is ${members.at(i).kindName}`);
      else if (path === null) config.refuse(`${key}[${quote(name)}]`, "is not a sysctl key below net");
      else this.put(config, `${key}[${quote(name)}]`, path, value, replaces);
    }
  }

  private put(config: Config, where: string, path: string, value: string, replaces: bool): void {
    for (let i = 0; i < this.settings.length; i++) {
      const before = this.settings[i];
      if (before.key != path) continue;
      if (!replaces && before.value != value)
        config.refuse(where, `names ${path}, which another key sets to ${quote(before.value)}`);
      before.value = value;
      return;
    }
    this.settings.push(new Setting(path, value));
  }
}

function partsOf(key: string): Array<string> {
  const slash = key.indexOf("/");
  const dot = key.indexOf(".");
  if (slash >= 0 && (dot < 0 || slash < dot)) return key.split("/");
  const parts = key.split(".");
  for (let i = 0; i < parts.length; i++) parts[i] = parts[i].replaceAll("/", ".");
  return parts;
}

/**
 * The path below /proc/sys of a key; null if the key is not below `net`. The first separator decides, as for sysctl(8): after a slash, dots are
 * part of names such as `net1.100`; after a dot, slashes stand for dots in names. The interface's name, which may contain dots, is inserted last.
 */
function pathOf(key: string, ifname: string): string | null {
  const parts = partsOf(key);
  for (let i = 0; i < parts.length; i++) parts[i] = parts[i].replace("IFNAME", ifname);
  const path: Array<string> = [];
  for (let i = 0; i < parts.length; i++) if (parts[i] != "") path.push(parts[i]);
  return path.length < 2 || path[0] != "net" ? null : path.join("/");
}
