// Turns the stderr of plugins into lines of the call's log, because stderr is for logs (CNI section 4). A plugin may be hostile:
// each line is bounded and inert, and names the plugin that printed it.

import { inertLine } from "../../../src/text/inert-text.ts";

/** The stderr of one plugin. */
export interface PluginOutput {
  readonly type: string;
  /** CNI_IFNAME; empty for GC and STATUS. */
  readonly ifname: string;
  readonly stderr: Uint8Array;
  /** Whether `stderr` is only the beginning of the plugin's output. */
  readonly truncated: boolean;
}

/** Maximum characters of a line. */
const maxLineChars = 2048;
/** Maximum characters of all plugins' lines of one call. Warnings and delegates' lines must fit into the reply, too. */
const maxCallChars = 64 * 1024;

/** Makes the lines of one call's plugins, within one budget of characters. */
export class PluginLines {
  #left = maxCallChars;

  /** Whole lines, such as `bridge eth0: text`, without empty ones. A final line says if output was cut. */
  of({ type, ifname, stderr, truncated }: PluginOutput): readonly string[] {
    if (stderr.length === 0 || this.#left < 0) return [];
    const front = ifname === "" ? type : `${type} ${ifname}`;
    const lines: string[] = [];
    for (const text of new TextDecoder().decode(stderr).split(/\r?\n/)) {
      if (text === "") continue;
      const line = `${inertLine(`${front}: ${text}`, maxLineChars)}\n`;
      this.#left -= line.length;
      if (this.#left < 0)
        return [...lines, `plexus: the rest of this call's plugin output is cut (at most ${maxCallChars} characters)\n`];
      lines.push(line);
    }
    return truncated ? [...lines, inertLine(`${front}: … (cut after ${stderr.length} bytes)`, maxLineChars).concat("\n")] : lines;
  }
}
