// The kit's IPAM plugin for a native plugin under test: a shell script that assigns one address after the other and records its calls.

import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { kitIpam } from "../lab.ts";
import { exactJson } from "../reply.ts";
import type { IpamCall } from "../subject.ts";

// mkdir is atomic, so calls at once get different numbers.
const script = (directory: string): string => `#!/bin/sh
PATH=/usr/bin:/bin
input=$(cat)
n=1
while ! mkdir "${directory}/call-$n" 2>/dev/null; do n=$((n + 1)); done
printf %s "$input" >"${directory}/call-$n/stdin"
printf '%s\\n' "$CNI_COMMAND" "$CNI_CONTAINERID" "$CNI_NETNS" "$CNI_IFNAME" >"${directory}/call-$n/parameters"
version=$(printf %s "$input" | sed -n 's/.*"cniVersion" *: *"\\([^"]*\\)".*/\\1/p' | head -n 1)
if [ "$CNI_COMMAND" = VERSION ]; then
  echo '{"cniVersion":"1.1.0","supportedVersions":["0.1.0","0.2.0","0.3.0","0.3.1","0.4.0","1.0.0","1.1.0"]}'
  exit
fi
if [ -e "${directory}/fail-$CNI_COMMAND" ]; then
  printf '{"cniVersion":"%s","code":11,"msg":"${kitIpam} fails on request"}' "$version"
  exit 1
fi
if [ "$CNI_COMMAND" != ADD ]; then exit 0; fi
address=10.200.$((n / 250)).$((n % 250 + 2))/16
case $version in
  0.1.0 | 0.2.0 | "") printf '{"cniVersion":"%s","ip4":{"ip":"%s","gateway":"10.200.0.1","routes":[{"dst":"0.0.0.0/0"}]}}' "$version" "$address" ;;
  0.*) printf '{"cniVersion":"%s","ips":[{"version":"4","address":"%s","gateway":"10.200.0.1"}],"routes":[{"dst":"0.0.0.0/0"}]}' "$version" "$address" ;;
  *) printf '{"cniVersion":"%s","ips":[{"address":"%s","gateway":"10.200.0.1"}],"routes":[{"dst":"0.0.0.0/0"}]}' "$version" "$address" ;;
esac
`;

/** The plugin in a directory of its own. */
export class KitIpam {
  /** The directory for CNI_PATH. */
  readonly pluginDirectory: string;
  readonly #records: string;

  constructor(directory: string) {
    this.pluginDirectory = join(directory, "kit-plugins");
    this.#records = join(directory, "kit-calls");
    for (const each of [this.pluginDirectory, this.#records]) mkdirSync(each);
    writeFileSync(join(this.pluginDirectory, kitIpam), script(this.#records), { mode: 0o755 });
  }

  /** The calls so far, in order. */
  calls(): readonly IpamCall[] {
    const numbers = readdirSync(this.#records).flatMap((name) => (name.startsWith("call-") ? [Number(name.slice(5))] : []));
    return numbers
      .toSorted((a, b) => a - b)
      .map((number) => {
        const directory = join(this.#records, `call-${number}`);
        const [verb = "", container = "", netns = "", ifname = ""] = readFileSync(join(directory, "parameters"), "utf8").split(
          "\n",
        );
        const env = { CNI_CONTAINERID: container, CNI_NETNS: netns, CNI_IFNAME: ifname };
        return { verb, env, config: exactJson(readFileSync(join(directory, "stdin"), "utf8")) };
      });
  }

  /** Makes a verb fail from now on. */
  fail(verb: string): void {
    writeFileSync(join(this.#records, `fail-${verb}`), "");
  }
}
