// `node test/lab/surroundings/coredns/get.ts` builds CoreDNS. It prints one line if that fails, and never fails itself.

import { buildOrSay } from "../module-programs.ts";
import { coreDns } from "./programs.ts";

buildOrSay("CoreDNS", coreDns.build);
