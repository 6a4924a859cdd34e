// `node test/lab/surroundings/cilium/get.ts` builds Cilium's agent and plugin, and unpacks Debian's clang 19 and ipset. It prints one line if that fails, and never
// fails itself.

import { buildOrSay } from "../module-programs.ts";
import { unpackIpset } from "../ipset.ts";
import { ciliumPrograms, unpackClang } from "./programs.ts";

buildOrSay("Cilium", ciliumPrograms.build, unpackClang, unpackIpset);
