// Turns the stderr of plugins into lines of the call's log, because stderr is for logs (CNI section 4). A plugin may be hostile:
// each line is bounded and inert, and names the plugin that printed it.

import { inertLine } from "../../../src/text/inert-text.ts";
import type { Redact } from "../../../src/text/secret-values.ts";

/** The stderr of one plugin. */
export interface PluginOutput {
  readonly type: string;
  /** CNI_IFNAME; empty for GC and STATUS. */
  readonly ifname: string;
  readonly stderr: Uint8Array;
  /** Whether `stderr` is only the beginning of the plugin's output. */
  readonly truncated: boolean;
  /** Removes the secrets of the plugin's configuration. */
  readonly redact: Redact;
}

/** Maximum characters of a line. */
const maxLineChars = 2048;
/** Maximum characters of all plugins' lines of one call. Warnings and delegates' lines must fit into the reply, too. */
const maxCallChars = 64 * 1024;

/** Makes the lines of one call's plugins, within one budget of characters. */
export class PluginLines {
  #left = maxCallChars;

  /** Whole lines, such as `bridge eth0: text`, without empty ones. A final line says if output was cut. */
  of({ type, ifname, stderr, truncated, redact }: PluginOutput): readonly string[] {
    if (stderr.length === 0 || this.#left < 0) return [];
    const front = ifname === "" ? type : `${type} ${ifname}`;
    const lines: string[] = [];
    // Before the text is divided: a secret may have several lines.
    for (const text of redact(new TextDecoder().decode(stderr), truncated).split(/\r?\n/)) {
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
